// Real jobs, end to end on the built program.

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { ROOT } from "../dist/paths.ts";
import { Bench, onlyRun } from "./support/binary.ts";
import { cleanUpAfterEach } from "./support/processes.ts";

cleanUpAfterEach();

const SIX = ["--artifacts", "out/*.txt", "--count", "6"];

/** A loop of six units that looks before it works, with a temp file and a rename. */
const CAREFUL = `
mkdir -p out
for i in 1 2 3 4 5 6; do
  [ -e out/$i.txt ] && continue
  echo "unit $i" >out/.$i.tmp; sleep 0.03; echo "end" >>out/.$i.tmp
  mv out/.$i.tmp out/$i.txt
done
`;

Deno.test("rehearse passes the good sample runner", async () => {
  await using bench = await Bench.make("good");
  const project = `${ROOT}/rehearsal/runners/good`;
  const { code, set, stderr } = await bench.runJson(["rehearse", "--project", project]);
  const { record, grade } = onlyRun(set);
  assertEquals([grade.verdict, grade.reason.slice(0, 9), code], ["pass", "Recovered", 0], stderr);
  assert(record.fault.delivered);
  assert(record.kill !== null && record.kill.processes.length >= 2);
  assertEquals(record.kill.survivors, []);
  assertEquals(record.artifacts.length, 6);
  assert((record.recoveryMs ?? 0) > 0);
});

Deno.test("rehearse fails the sloppy sample runner, for a torn output", async () => {
  await using bench = await Bench.make("sloppy");
  const project = `${ROOT}/rehearsal/runners/sloppy`;
  const { code, set } = await bench.runJson(["rehearse", "--project", project]);
  assertEquals([onlyRun(set).grade.verdict, code], ["fail", 1]);
  assertEquals(onlyRun(set).grade.reasonId, "artifacts-whole");
});

Deno.test("rehearse handles a Makefile whose target builds six files", async () => {
  await using bench = await Bench.make("make");
  await bench.write(
    "Makefile",
    "all: $(foreach i,1 2 3 4 5 6,out/$(i).txt)\nout/%.txt:\n\t@mkdir -p out\n\techo $* >$@\n",
  );
  const { code, set, stderr } = await bench.runJson(
    ["rehearse", "--start", "make -s", "--resume", "make -s", ...SIX],
  );
  assertEquals([onlyRun(set).grade.verdict, code], ["pass", 0], onlyRun(set).grade.reason + stderr);
});

Deno.test("rehearse handles a Python worker", async () => {
  await using bench = await Bench.make("python");
  await bench.write(
    "work.py",
    `import os, time
os.makedirs("out", exist_ok=True)
for i in range(6):
    path = f"out/{i}.txt"
    if os.path.exists(path):
        continue
    with open(path + ".part", "w") as file:
        file.write(f"unit {i}\\n")
        time.sleep(0.02)
        file.write("end\\n")
    os.replace(path + ".part", path)
`,
  );
  const python = await programInPath("python3");
  const command = `${python} work.py`;
  const { code, set, stderr } = await bench.runJson(
    ["rehearse", "--start", command, "--resume", command, ...SIX, "--ends-with", "end"],
  );
  assertEquals([onlyRun(set).grade.verdict, code], ["pass", 0], onlyRun(set).grade.reason + stderr);
});

Deno.test("rehearse handles a find and xargs batch, and sees that it tears an output", async () => {
  await using bench = await Bench.make("xargs");
  for (const i of [1, 2, 3, 4, 5, 6]) await bench.write(`in/${i}.src`, `source ${i}\n`);
  await bench.write(
    "one.sh",
    'name=out/$(basename "$1" .src).txt\n[ -e "$name" ] && exit 0\n' +
      'echo head >"$name"; sleep 0.05; cat "$1" >>"$name"; echo end >>"$name"\n',
  );
  const command = "mkdir -p out; find in -name '*.src' | sort | xargs -n 1 sh one.sh";
  const { code, set } = await bench.runJson(
    ["rehearse", "--start", command, "--resume", command, ...SIX, "--ends-with", "end"],
  );
  assertEquals([onlyRun(set).grade.verdict, code], ["fail", 1]);
  assertEquals(onlyRun(set).grade.reasonId, "artifacts-whole");
});

Deno.test("rehearse passes a job that writes with rename", async () => {
  await using bench = await Bench.make("rename");
  await bench.write("run.sh", CAREFUL);
  const { code, set, stderr } = await bench.runJson(
    ["rehearse", "--start", "sh run.sh", "--resume", "sh run.sh", ...SIX],
  );
  assertEquals([onlyRun(set).grade.verdict, code], ["pass", 0], onlyRun(set).grade.reason + stderr);
});

Deno.test("rehearse keeps the output of a job that prints 50 MB within bounds", async () => {
  await using bench = await Bench.make("loud");
  await bench.write("run.sh", `head -c 50000000 /dev/zero | tr '\\0' x\n${CAREFUL}`);
  const { code, set, stdout } = await bench.runJson(
    ["rehearse", "--start", "sh run.sh", "--resume", "sh run.sh", ...SIX],
  );
  const { grade, record } = onlyRun(set);
  assertEquals([grade.verdict, code], ["pass", 0], grade.reason);
  assertEquals(record.control?.phase.stdoutBytes, 50_000_000);
  assert(stdout.length < 1_000_000, `the report has ${stdout.length} bytes`);
});

Deno.test("rehearse ends a job that ignores TERM", async () => {
  await using bench = await Bench.make("stubborn");
  await bench.write("run.sh", `trap '' TERM\n${CAREFUL.replaceAll("sleep 0.03", "sleep 0.2")}`);
  const { code, set } = await bench.runJson([
    "rehearse",
    "--start",
    "sh run.sh",
    "--resume",
    "sh run.sh",
    ...SIX,
    "--grace-seconds",
    "300ms",
  ]);
  const { grade, record } = onlyRun(set);
  assertEquals([grade.verdict, code], ["pass", 0], grade.reason);
  assertEquals(record.kill?.signals.map((each) => each.signal).includes("KILL"), true);
});

Deno.test("a job that removes a file of its project removes the copy's, and that is said", async () => {
  await using bench = await Bench.make("rm");
  await bench.write("important.txt", "do not lose this\n");
  await bench.write("run.sh", `rm -f important.txt\n${CAREFUL}`);
  const { code, stdout } = await bench.run(
    ["rehearse", "--start", "sh run.sh", "--resume", "sh run.sh", ...SIX],
  );
  assertEquals(code, 0, stdout);
  assertEquals(await Deno.readTextFile(`${bench.project}/important.txt`), "do not lose this\n");
  assertStringIncludes(stdout, "nothing changed");
});

Deno.test("rehearse says unproven without a declared number of outputs, and why", async () => {
  await using bench = await Bench.make("nocount");
  await bench.write("run.sh", CAREFUL);
  const { code, set } = await bench.runJson(
    ["rehearse", "--start", "sh run.sh", "--resume", "sh run.sh", "--artifacts", "out/*.txt"],
  );
  const { grade } = onlyRun(set);
  assertEquals([grade.verdict, grade.reasonId, code], ["unproven", "artifacts-declared", 3]);
  assertStringIncludes(grade.reason, '"count"');
});

Deno.test("rehearse says unproven when the job is not whole already without a failure", async () => {
  await using bench = await Bench.make("broken");
  await bench.write("run.sh", "mkdir -p out; echo 1 >out/1.txt; exit 0\n");
  const { code, set } = await bench.runJson(
    ["rehearse", "--start", "sh run.sh", "--resume", "sh run.sh", ...SIX],
  );
  assertEquals([onlyRun(set).grade.reasonId, code], ["control-whole", 3]);
});

Deno.test("a write to a watched place fails the run with exit 5, path by path", async () => {
  await using bench = await Bench.make("escape");
  await bench.write("run.sh", `echo changed >"$WATCHED"\n${CAREFUL}`);
  const watched = `${bench.path}/watched.txt`;
  await Deno.writeTextFile(watched, "before\n");
  const { code, set } = await bench.runJson(
    ["rehearse", "--start", "sh run.sh", "--resume", "sh run.sh", ...SIX, "--watch", watched],
    { env: { WATCHED: watched } },
  );
  const { grade, record } = onlyRun(set);
  assertEquals([grade.verdict, grade.reasonId, code], ["fail", "containment-clean", 5]);
  assertEquals(record.containment?.changes.map((change) => change.path), [watched]);
});

Deno.test("a write beside the copy is seen", async () => {
  await using bench = await Bench.make("beside");
  await bench.write("run.sh", `echo lost >../escaped.txt\n${CAREFUL}`);
  const { code, set } = await bench.runJson(
    ["rehearse", "--start", "sh run.sh", "--resume", "sh run.sh", ...SIX],
  );
  const { record } = onlyRun(set);
  assertEquals(code, 5);
  assert(record.containment?.changes.some((change) => change.path.endsWith("/escaped.txt")));
});

/** Absolute path of a program of the test's own PATH. */
async function programInPath(name: string): Promise<string> {
  const output = await new Deno.Command("sh", { args: ["-c", `command -v ${name}`] }).output();
  const path = new TextDecoder().decode(output.stdout).trim();
  assert(path !== "", `this test needs ${name}: install it and try again`);
  return path;
}

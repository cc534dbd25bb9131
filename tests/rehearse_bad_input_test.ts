// Bad input: a clear message, the right exit code, nothing lost, nothing left. On the built program.

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { Bench } from "./support/binary.ts";
import { cleanUpAfterEach } from "./support/processes.ts";

cleanUpAfterEach();

const JOB = ["--start", "sh run.sh", "--resume", "sh run.sh", "--artifacts", "out/*"];
const RUN = "mkdir -p out; for i in 1 2 3 4; do sleep 0.03; echo $i >out/$i; done\n";

/** Flags or files that are wrong, and what must be said. */
const USAGE: { name: string; args: string[]; config?: string; says: RegExp[] }[] = [
  {
    name: "a missing project",
    args: ["--project", "nowhere", ...JOB, "--count", "4"],
    says: [/Cannot find the project ".*nowhere"/, /--project DIR/],
  },
  {
    name: "a command that is not found",
    args: ["--config", "own.json"],
    config: `{"start": ["no-such-command"], "resume": ["true"], "artifacts": {"paths": ["out/*"]}}`,
    says: [/"no-such-command" was not found/, /PATH is \/usr\/bin:\/bin/],
  },
  {
    name: "a program of the project that is not there",
    args: ["--config", "own.json"],
    config: `{"start": ["./run"], "resume": ["true"], "artifacts": {"paths": ["out/*"]}}`,
    says: [/"\.\/run" was not found/, /relative to/],
  },
  {
    name: "a count of 0",
    args: [...JOB, "--count", "0"],
    says: [/count/, /at least 1/, /it is 0/],
  },
  {
    name: "a glob that leads out of the project",
    args: ["--start", "true", "--resume", "true", "--artifacts", "../out/*", "--count", "4"],
    says: [/artifacts\.paths\.0/, /inside the project/, /"\.\.\/out\/\*"/],
  },
  {
    name: "a mistake in the file's syntax",
    args: ["--config", "own.json"],
    config: `{\n  "start": "true",\n  "resume" "true"\n}\n`,
    says: [/line 3, column 12/],
  },
  {
    name: "an unknown key",
    args: ["--config", "own.json"],
    config: `{"start": "true", "resum": "true", "artifacts": {"paths": ["out/*"], "cont": 4}}`,
    says: [/unknown key "resum"; did you mean "resume"/, /"cont"; did you mean "count"/],
  },
  {
    name: "no contract at all",
    args: [],
    says: [/Cannot find a contract/, /failure-lab init/],
  },
  {
    name: "a kill point behind the last output",
    args: [...JOB, "--count", "4", "--kill-after", "4"],
    says: [/killAfterArtifacts/, /less than/, /it is 4/],
  },
  {
    name: "an unknown flag",
    args: [...JOB, "--cuont", "4"],
    says: [/--cuont/, /--count/],
  },
  {
    name: "a flag given twice",
    args: [...JOB, "--count", "4", "--count", "5"],
    says: [/--count/, /twice|once/],
  },
];

for (const { name, args, config, says } of USAGE) {
  Deno.test(`rehearse refuses ${name} with exit 2, before anything runs`, async () => {
    await using bench = await Bench.make("bad");
    await bench.write("run.sh", RUN);
    if (config !== undefined) await bench.write("own.json", config);
    const { code, stdout, stderr } = await bench.run(["rehearse", ...args]);
    assertEquals([code, stdout], [2, ""], stderr);
    for (const rule of says) assertMatch(stderr, rule);
    assertEquals(stderr.includes("    at "), false, `a stack trace: ${stderr}`);
    assertEquals(await exists(`${bench.project}/out`), false);
  });
}

Deno.test("rehearse refuses a command that names the real project", async () => {
  await using bench = await Bench.make("real");
  await bench.write("run.sh", `touch ran; ${RUN}`);
  const { code, stderr } = await bench.run([
    "rehearse",
    "--start",
    `sh ${bench.project}/run.sh`,
    "--resume",
    "sh run.sh",
    "--artifacts",
    "out/*",
    "--count",
    "4",
  ]);
  assertEquals(code, 2, stderr);
  assertStringIncludes(stderr, "real project");
  assertEquals(await exists(`${bench.project}/ran`), false);
});

Deno.test("a report folder that cannot be written is found before the run", async () => {
  await using bench = await Bench.make("report");
  await bench.write("run.sh", `echo ran >"$PROOF"\n${RUN}`);
  const proof = `${bench.path}/proof`;
  await Deno.writeTextFile(`${bench.path}/file`, "");
  const { code, stderr } = await bench.run(
    ["rehearse", ...JOB, "--count", "4", "--report", `${bench.path}/file/report`],
    { env: { PROOF: proof } },
  );
  assertEquals(code, 4, stderr);
  assertStringIncludes(stderr, "--report");
  assertEquals(await exists(proof), false, "the job was run");
});

Deno.test("a full disk while reporting is said, and the verdict is not lost", async () => {
  await using bench = await Bench.make("full");
  await bench.write("run.sh", RUN);
  // Files of the program may have 4 KiB at most, as on a full disk; the job's are smaller.
  const child = new Deno.Command("sh", {
    args: [
      "-c",
      `trap '' XFSZ; ulimit -f 8; exec "$@"`,
      "sh",
      Deno.env.get("FAILURE_LAB_BINARY") ?? "",
      "rehearse",
      ...JOB,
      "--count",
      "4",
      "--report",
      `${bench.path}/report`,
    ],
    cwd: bench.project,
    env: bench.env(),
    clearEnv: true,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  });
  const { code, stdout, stderr } = await child.output();
  const said = new TextDecoder().decode(stderr);
  assertEquals(code, 4, said);
  assertMatch(said, /report\.(json|html)/);
  assertMatch(new TextDecoder().decode(stdout), /FAIL|PASS/);
  assert(!namesIn(`${bench.path}/report`).some((name) => name.includes("tmp")));
});

function namesIn(dir: string): string[] {
  return [...Deno.readDirSync(dir)].map(({ name }) => name);
}

async function exists(path: string): Promise<boolean> {
  try {
    await Deno.lstat(path);
    return true;
  } catch {
    return false;
  }
}

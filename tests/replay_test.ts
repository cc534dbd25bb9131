// Replays and sweeps, end to end on the built program.

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { ROOT } from "../dist/paths.ts";
import { waitUntil } from "../lab/clock.ts";
import { Bench, finished, onlyRun } from "./support/binary.ts";
import { cleanUpAfterEach } from "./support/processes.ts";

cleanUpAfterEach();

const GOOD = `${ROOT}/rehearsal/runners/good`;
const SLOPPY = `${ROOT}/rehearsal/runners/sloppy`;

/** Four units, looked for before they are made. */
const CAREFUL = `
mkdir -p out
for i in 1 2 3 4; do
  [ -e out/$i.txt ] && continue
  { echo "unit $i"; sleep 0.08; echo end; } >out/.$i.tmp
  mv out/.$i.tmp out/$i.txt
done
`;
const FOUR = ["--artifacts", "out/*.txt", "--count", "4", "--start", "sh run.sh"];

Deno.test("replay does all eleven failures to the good runner, and every one passes", async () => {
  await using bench = await Bench.make("replay-all");
  const { code, set, stderr } = await bench.runJson(["replay", "--project", GOOD, "--seed", "5"], {
    limitMs: 180_000,
  });
  assertEquals([set.verdict, code], ["pass", 0], stderr);
  assertEquals(set.runs.length, 11);
  for (const { record, grade } of set.runs) {
    assertEquals(grade.verdict, "pass", `${record.id}: ${grade.reason}`);
    assert(record.fault.delivered && record.fault.evidence.length > 0, record.id);
    assertEquals(record.attempts.at(-1)?.purpose, "resume-again", record.id);
    assertEquals(record.containment?.sentinelIntact, true);
    assertEquals(record.seed, 5);
  }
  const report = await Array.fromAsync(Deno.readDir(`${bench.path}/state/failure-lab/runs/latest`));
  const journals = report.filter((entry) => entry.name.startsWith("journal-"));
  assertEquals(journals.length, 12);
});

Deno.test("replay prints a row for each failure, and fails when one fails", async () => {
  await using bench = await Bench.make("replay-text");
  const { code, stdout } = await bench.run([
    "replay",
    "04-lying-checkpoint",
    "hollow-success",
    "--variant=nothing",
    "--project",
    SLOPPY,
  ]);
  // The variant belongs to one of the two only.
  assertEquals([code, stdout], [2, ""]);
  const both = await bench.run(["replay", "4", "6", "--project", SLOPPY, "--seed", "1"]);
  assertEquals(both.code, 1, both.stderr);
  assertStringIncludes(both.stdout, "lying-checkpoint, ");
  assertStringIncludes(both.stdout, "claimed by the checkpoint");
  assertStringIncludes(both.stdout, "hollow-success, ");
  assertStringIncludes(both.stdout, "FAIL  2 runs: 1 fail, 1 pass. (exit 1)");
});

Deno.test("replay refuses a failure that it does not know, with the nearest name", async () => {
  await using bench = await Bench.make("replay-unknown");
  const { code, stdout, stderr } = await bench.run(["replay", "torn-chekpoint", "--project", GOOD]);
  assertEquals([code, stdout], [2, ""]);
  assertStringIncludes(stderr, "Did you mean torn-checkpoint?");
  const both = await bench.run(["replay", "3", "--variant=empty", "--all-variants"]);
  assertEquals(both.code, 2);
  assertStringIncludes(both.stderr, "--variant and --all-variants cannot both be given");
});

Deno.test("replay with the failure switched off proves nothing", async () => {
  await using bench = await Bench.make("replay-disarmed");
  const { code, set } = await bench.runJson([
    "replay",
    "1",
    "3",
    "--disarmed",
    "--project",
    GOOD,
  ]);
  assertEquals([set.verdict, code], ["unproven", 3]);
  for (const { grade } of set.runs) assertEquals(grade.reasonId, "fault-delivered");
});

Deno.test("replay says what a contract lacks, and does not count that as a pass", async () => {
  await using bench = await Bench.make("replay-lacks");
  await bench.write("run.sh", CAREFUL);
  const { code, set } = await bench.runJson(
    ["replay", "torn-checkpoint", "stale-lock", ...FOUR, "--resume", "sh run.sh"],
  );
  assertEquals([set.verdict, code], ["unproven", 3]);
  assertEquals(set.runs.map((run) => run.grade.verdict), ["not-applicable", "not-applicable"]);
  assertStringIncludes(set.runs[0]?.grade.reason ?? "", '"checkpoint": {"path": "state.json"}');
});

Deno.test("a resume that writes outside its copy ends with exit 5, path by path", async () => {
  await using bench = await Bench.make("replay-escape");
  await bench.write("run.sh", CAREFUL);
  await Deno.writeTextFile(`${bench.path}/precious`, "mine\n");
  const escape =
    `echo x >>${bench.path}/precious; for f in ../*; do [ ! -f "$f" ] || echo x >>"$f"; done`;
  const args = ["replay", "hung-process", ...FOUR, "--watch", `${bench.path}/precious`];
  const { code, set } = await bench.runJson([...args, "--resume", `${escape}; sh run.sh`]);
  const { record, grade } = onlyRun(set);
  assertEquals([code, grade.containmentBroken], [5, true], grade.reason);
  assertEquals(record.containment?.sentinelIntact, false);
  const changed = record.containment?.changes.map((change) => change.path) ?? [];
  assert(changed.includes(`${bench.path}/precious`), changed.join());
});

Deno.test("sweep kills at every point, names the worst, and leaves nothing of its lanes", async () => {
  await using bench = await Bench.make("sweep");
  await bench.write("run.sh", CAREFUL);
  const good = await bench.runJson(["sweep", ...FOUR, "--resume", "sh run.sh"]);
  assertEquals([good.set.verdict, good.code], ["pass", 0], good.stderr);
  assertEquals(good.set.runs.map(({ record }) => record.id), [
    "rehearsal-temp-file-0",
    "rehearsal-kill-1",
    "rehearsal-temp-file-1",
    "rehearsal-kill-2",
    "rehearsal-temp-file-2",
    "rehearsal-kill-3",
    "rehearsal-temp-file-3",
  ]);
  // Breaks only when two outputs are there.
  const picky = 'set -- out/*.txt; [ $# -ne 2 ] || { rm "$1"; exit 1; }; sh run.sh';
  const bad = await bench.run(["sweep", ...FOUR, "--resume", picky]);
  assertEquals(bad.code, 1, bad.stderr);
  assertStringIncludes(bad.stdout.replaceAll(/\s+/g, " "), "The worst point: killed ");
  assertStringIncludes(bad.stdout, "after 2 outputs");
});

Deno.test("sweep --points bounds it, and needs to know the number of outputs", async () => {
  await using bench = await Bench.make("sweep-points");
  await bench.write("run.sh", CAREFUL);
  const { code, set } = await bench.runJson(
    ["sweep", "--points", "2", ...FOUR, "--resume", "sh run.sh"],
  );
  assertEquals([set.runs.length, code], [2, 0]);
  const open = await bench.run([
    "sweep",
    "--start",
    "true",
    "--resume",
    "true",
    "--artifacts",
    "x",
  ]);
  assertEquals(open.code, 2);
  assertStringIncludes(open.stderr, '"artifacts": {"count": N}');
});

Deno.test("replay that is interrupted ends everything and says so", async () => {
  await using bench = await Bench.make("replay-int");
  const child = bench.start(["replay", "--project", GOOD]);
  const ended = finished(child);
  await waitUntil(async () => (await bench.processes()).length > 2, { limitMs: 20_000 });
  Deno.kill(child.pid, "SIGINT");
  const { code, stdout } = await ended;
  assertEquals(code, 130);
  assertStringIncludes(stdout, "Not complete: ended by SIGINT");
});

// A job whose checkpoint claims more than the disk holds.

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { evidence, finding, inShort, SessionBench } from "../../tests/support/session.ts";
import { cleanUpAfterEach } from "../../tests/support/processes.ts";
import { contractOf } from "./_test_jobs.ts";
import { lyingCheckpoint } from "./lying_checkpoint.ts";

cleanUpAfterEach();

/** A list of names, a number, or a JSON object; the job looks at the disk (or not). */
function job(note: string, isDone: string): string {
  return `
mkdir -p out
for i in 1 2 3 4; do
  ${isDone} && continue
  { echo "unit $i"; sleep 0.08; echo end; } >out/.$i.tmp; mv out/.$i.tmp out/$i.txt
  ${note}
done
`;
}

const ON_DISK = '[ "$(tail -n 1 out/$i.txt 2>/dev/null)" = end ]';
const NOTE_LIST = "ls out/*.txt >.state; mv .state state";
const NOTE_COUNT = "ls out/*.txt | wc -l >.state; mv .state state";
const WITH_STATE = contractOf({ checkpoint: { path: "state" } });
const ALL = lyingCheckpoint.variants.map((variant) => ({ subject: "lying-checkpoint", variant }));

Deno.test("lying-checkpoint passes a job that looks at the disk, in every shape", async () => {
  for (const note of [NOTE_LIST, NOTE_COUNT]) {
    await using bench = await SessionBench.make("lying");
    await bench.write("run.sh", job(note, ON_DISK));
    const all = await bench.run(WITH_STATE, ALL);
    assertEquals(all.map(inShort), ["pass", "pass", "pass"], all[0]?.grade.reason);
    const [absent, ahead, short] = all.map((each) => String(Object.values(evidence(each))[0]));
    assertEquals(absent, "out/1.txt");
    assertMatch(ahead ?? "", /^out\/[123]\.txt$/);
    assertEquals(short, "out/1.txt: 5 of 11 bytes");
    for (const { record } of all) {
      assert((record.checkpointAtFault?.claims ?? 0) >= 1);
      // What the lab itself took away is not held against the recovery that made it again.
      assert(!record.finishedAtFault.includes("out/1.txt") || record.fault.variant === "ahead");
    }
  }
});

Deno.test("lying-checkpoint fails a job that believes its checkpoint", async () => {
  await using bench = await SessionBench.make("lying-bad");
  const isNoted = "grep -qx out/$i.txt state 2>/dev/null";
  await bench.write("run.sh", job("echo out/$i.txt >>state", isNoted));
  const all = await bench.run(WITH_STATE, ALL);
  assertEquals(all.map(inShort), [
    "fail artifacts-complete",
    "fail artifacts-complete",
    "fail cut-output-mended",
  ]);
  // No content check is on; the lab knows all the same what it has cut.
  const short = { subject: "lying-checkpoint", variant: "short" };
  const artifacts = { paths: ["out/*.txt"], count: 4 };
  const blind = await bench.one({ ...WITH_STATE, artifacts }, short);
  assertEquals(inShort(blind), "fail cut-output-mended", blind.grade.reason);
});

Deno.test("lying-checkpoint needs claims: none of them yet, or none that can be read", async () => {
  await using bench = await SessionBench.make("lying-none");
  await bench.write("run.sh", job(': >state; printf \'{"a":[1],"b":[2]}\' >state.json', ON_DISK));
  const read = await bench.one(contractOf({ checkpoint: { path: "state.json" } }), {
    subject: "lying-checkpoint",
  });
  assertEquals(inShort(read), "not-applicable not-applicable", read.grade.reason);
  assertStringIncludes(read.grade.reason, '"doneAt": "/done"');
  await bench.write("run.sh", job("[ $i -lt 4 ] && n=0 || n=4; echo $n >state", ON_DISK));
  const none = await bench.one(WITH_STATE, { subject: "lying-checkpoint" });
  assertEquals(inShort(none), "unproven fault-delivered", none.grade.reason);
  assertStringIncludes(finding(none, "checkpoint-there") ?? "", "claims none of the outputs yet");
});

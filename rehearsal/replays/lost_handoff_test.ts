// A job whose checkpoint does not know of work that is finished.

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import {
  badChecks,
  evidence,
  finding,
  inShort,
  SessionBench,
} from "../../tests/support/session.ts";
import { cleanUpAfterEach } from "../../tests/support/processes.ts";
import { contractOf } from "./_test_jobs.ts";

cleanUpAfterEach();

/** Sends when the output is there, then notes it. */
function job(isDone: string, isSent: string): string {
  return `
mkdir -p out
for i in 1 2 3 4; do
  ${isDone} && continue
  [ -e out/$i.txt ] || { { echo "unit $i"; sleep 0.08; echo end; } >out/.$i.tmp; mv out/.$i.tmp out/$i.txt; }
  ${isSent} || echo unit-$i >>sent.log
  echo out/$i.txt >>state
done
`;
}

const CONTRACT = contractOf({ checkpoint: { path: "state" }, effects: { path: "sent.log" } });
const NOTED = "grep -qx out/$i.txt state 2>/dev/null";
const replay = { subject: "lost-handoff" };

Deno.test("lost-handoff passes a job that asks the receiver before it sends again", async () => {
  await using bench = await SessionBench.make("handoff");
  await bench.write("run.sh", job(NOTED, "grep -qx unit-$i sent.log 2>/dev/null"));
  const graded = await bench.one(CONTRACT, replay);
  assertEquals(inShort(graded), "pass", graded.grade.reason);
  const unknown = evidence(graded)["finished work that the record does not know of"];
  assert(Array.isArray(unknown) && unknown.length >= 1, String(unknown));
  assertEquals(graded.record.checkpointAtFault?.unclaimedPresent, unknown);
  // At least one effect was sent of which the record knows nothing.
  assert(
    (graded.record.effectsAtFault?.keys ?? 0) > (graded.record.checkpointAtFault?.claims ?? 9),
  );
});

Deno.test("lost-handoff fails a job that sends again what the record does not know of", async () => {
  await using bench = await SessionBench.make("handoff-bad");
  await bench.write("run.sh", job(NOTED, "false"));
  const graded = await bench.one(CONTRACT, replay);
  assertEquals(graded.grade.verdict, "fail");
  assert(badChecks(graded).includes("effects-once"), badChecks(graded).join());
});

Deno.test("lost-handoff needs an older version of the checkpoint, and more than one output", async () => {
  await using bench = await SessionBench.make("handoff-none");
  await bench.write("state", "fixed\n");
  await bench.write(
    "run.sh",
    job("[ -e out/$i.txt ]", "true").replace("echo out/$i.txt >>state", ":"),
  );
  const graded = await bench.one(CONTRACT, replay);
  assertEquals(inShort(graded), "unproven fault-delivered", graded.grade.reason);
  assertStringIncludes(finding(graded, "checkpoint-there") ?? "", "no older version");
  const one = await bench.one(
    contractOf({ checkpoint: { path: "state" }, artifacts: { paths: ["out/1.txt"], count: 1 } }),
    replay,
  );
  assertEquals(inShort(one), "not-applicable not-applicable");
});

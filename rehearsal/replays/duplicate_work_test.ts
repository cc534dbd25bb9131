// Two runs of one job at the same time.

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { badChecks, evidence, inShort, SessionBench } from "../../tests/support/session.ts";
import { cleanUpAfterEach } from "../../tests/support/processes.ts";
import { CAREFUL, contractOf } from "./_test_jobs.ts";

cleanUpAfterEach();

const SENDS = CAREFUL.replace("mv out/", "echo unit-$i >>sent.log; mv out/");
const EFFECTS = { effects: { path: "sent.log" } };
const replay = { subject: "duplicate-work" };

/** A lock by an atomic mkdir with the owner's number; a dead owner's is taken over. */
function locked(whenAlive: string): string {
  return `
until mkdir lock 2>/dev/null; do
  if kill -0 "$(cat lock/pid 2>/dev/null)" 2>/dev/null; then ${whenAlive}; else rm -rf lock; fi
done
echo $$ >lock/pid
${SENDS}
rm -rf lock
`;
}

Deno.test("duplicate-work shows both runs alive at once, and fails a job that sends twice", async () => {
  await using bench = await SessionBench.make("twice");
  await bench.write("run.sh", SENDS);
  const graded = await bench.one(contractOf(EFFECTS), replay);
  assertEquals(graded.grade.verdict, "fail");
  assert(badChecks(graded).includes("effects-once"), badChecks(graded).join());
  const [[what, value] = ["", ""]] = Object.entries(evidence(graded));
  assertEquals(what, "alive at once: the first run, and the recovery");
  assert(Array.isArray(value) && value.length >= 2, String(value));
});

Deno.test("duplicate-work passes a job that stands down, with any exit code", async () => {
  for (const code of [75, 0]) {
    await using bench = await SessionBench.make("down");
    await bench.write("run.sh", locked(`exit ${code}`));
    const graded = await bench.one(contractOf(EFFECTS), replay);
    assertEquals(inShort(graded), "pass", `exit ${code}: ${graded.grade.reason}`);
    assertEquals(graded.record.attempts.map((each) => each.purpose), [
      code === 0 ? "resume" : "beside",
      "resume",
      "resume-again",
    ]);
    // The first run was let go on to its end.
    assertEquals([graded.record.start?.exitCode, graded.record.start?.endedByLab], [0, false]);
    assertEquals(graded.record.effects?.doubled, []);
  }
});

Deno.test("duplicate-work passes a job that waits for the first run", async () => {
  await using bench = await SessionBench.make("waits");
  await bench.write("run.sh", locked("sleep 0.05"));
  const graded = await bench.one(contractOf(EFFECTS), replay);
  assertEquals(inShort(graded), "pass", graded.grade.reason);
  assert((graded.record.recoveryMs ?? 0) > 0);
});

Deno.test("duplicate-work passes a recovery that ends the first run and takes over", async () => {
  await using bench = await SessionBench.make("takes-over");
  const takeOver = 'kill "$(cat lock/pid)"; while kill -0 "$(cat lock/pid)" 2>/dev/null; do ' +
    "sleep 0.02; done";
  // Nothing of a unit is sent before its output is in place, so that ending it loses nothing.
  await bench.write("run.sh", locked(takeOver).replaceAll("echo unit-$i >>sent.log; ", ""));
  const graded = await bench.one(contractOf({}), replay);
  assertEquals(inShort(graded), "pass", graded.grade.reason);
  assertEquals(graded.record.start?.signal, "SIGTERM");
});

Deno.test("duplicate-work fails a recovery that hangs beside the first run", async () => {
  await using bench = await SessionBench.make("deadlock");
  await bench.write("run.sh", locked("sleep 60"));
  const limits = { runSeconds: 2, idleSeconds: 1, graceSeconds: 0 };
  const graded = await bench.one(contractOf({ ...EFFECTS, limits }), replay);
  assertEquals(inShort(graded), "fail resume-exit", graded.grade.reason);
  assertStringIncludes(graded.grade.reason, "limit");
});

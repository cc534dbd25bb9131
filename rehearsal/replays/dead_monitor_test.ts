// A job whose monitor dies before the job hangs.

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { evidence, finding, inShort, SessionBench } from "../../tests/support/session.ts";
import { cleanUpAfterEach } from "../../tests/support/processes.ts";
import { CAREFUL, contractOf, IN_PLACE } from "./_test_jobs.ts";

cleanUpAfterEach();

const replay = { subject: "dead-monitor" };
const BEATS = "while :; do echo beat >heartbeat; sleep 0.1; done";

function monitored(start: string): Record<string, unknown> {
  return contractOf({ monitor: { start, sign: "heartbeat", intervalSeconds: 0.2 } });
}

Deno.test("dead-monitor kills the declared monitor first, and notices by the age of its sign", async () => {
  await using bench = await SessionBench.make("monitor");
  await bench.write("run.sh", CAREFUL);
  const graded = await bench.one(monitored(BEATS), replay);
  assertEquals(inShort(graded), "pass", graded.grade.reason);
  const proof = evidence(graded);
  assertEquals(proof["the job's monitor ended by"], "SIGKILL");
  assert(Number(proof["age of its last sign, in ms"]) >= 300, JSON.stringify(proof));
  assertStringIncludes(String(proof["processes of the job, stopped after that"]), "sh (pid");
  assertStringIncludes(finding(graded, "monitor-silence-noticed") ?? "", "was noticed by the age");
});

Deno.test("dead-monitor stops what a monitor leaves behind, so that its sign ends with it", async () => {
  await using bench = await SessionBench.make("monitor-lies");
  await bench.write("run.sh", CAREFUL);
  const graded = await bench.one(monitored(`setsid sh -c '${BEATS}' & ${BEATS}`), replay);
  assertEquals(inShort(graded), "pass", graded.grade.reason);
});

Deno.test("dead-monitor has a general form, and judges the recovery in it", async () => {
  await using bench = await SessionBench.make("monitor-none");
  await bench.write("run.sh", IN_PLACE);
  const graded = await bench.one(contractOf({}), replay);
  assertEquals(inShort(graded), "fail artifacts-whole", graded.grade.reason);
  assertStringIncludes(Object.keys(evidence(graded))[0] ?? "", "the lab's own watcher");
});

Deno.test("dead-monitor needs a sign, and one that comes", async () => {
  await using bench = await SessionBench.make("monitor-mute");
  await bench.write("run.sh", CAREFUL);
  const undeclared = await bench.one(contractOf({ monitor: { start: BEATS } }), replay);
  assertEquals(inShort(undeclared), "not-applicable not-applicable");
  assertStringIncludes(undeclared.grade.reason, '"monitor": {"sign": "heartbeat"}');
  for (const mutes of ["true", "exec sleep 30"]) {
    const mute = await bench.one(monitored(mutes), replay);
    assertEquals(inShort(mute), "unproven fault-delivered", mute.grade.reason);
    assertStringIncludes(finding(mute, "monitor-alive") ?? "", "it gave no sign");
  }
});

// A job whose lock outlives its owner, or whose owner lives.

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import {
  badChecks,
  evidence,
  finding,
  inShort,
  SessionBench,
} from "../../tests/support/session.ts";
import { cleanUpAfterEach } from "../../tests/support/processes.ts";
import { CAREFUL, contractOf } from "./_test_jobs.ts";

cleanUpAfterEach();

const LOCK = { lock: { path: "run.lock" } };

/** A lock file with the owner's number; `check` decides whether it is respected. */
function locked(check: string): string {
  return `
if [ -e run.lock ]; then ${check}; fi
echo $$ >run.lock
${CAREFUL}
rm -f run.lock
`;
}

/** By the number alone, as most do. */
const BY_PID = 'kill -0 "$(cat run.lock)" 2>/dev/null && exit 75';
/** By the number and the program that has it: enough here, because the stranger is another one. */
const BY_PROGRAM = 'ps -o args= -p "$(cat run.lock)" 2>/dev/null | grep -q run.sh && exit 75';

function replay(variant: string) {
  return { subject: "stale-lock", variant };
}

Deno.test("stale-lock passes a job that looks at who the owner is, in every shape", async () => {
  await using bench = await SessionBench.make("lock-good");
  await bench.write("run.sh", locked(BY_PROGRAM));
  const all = await bench.run(contractOf(LOCK), [
    replay("dead-owner"),
    replay("live-stranger"),
    replay("live-owner"),
  ]);
  assertEquals(
    all.map(inShort),
    ["pass", "pass", "pass"],
    all.map((each) => each.grade.reason).join(),
  );
  const [dead, stranger, owner] = all;
  if (dead === undefined || stranger === undefined || owner === undefined) throw new Error();
  assertEquals(evidence(dead)["its owner in the process table"], "none");
  const number = String(evidence(stranger)["the lock names a living stranger"]);
  assertStringIncludes(
    String(evidence(stranger)["the stranger in the process table"]),
    `sh (pid ${number})`,
  );
  assertStringIncludes(finding(stranger, "stranger-untouched") ?? "", "was left alone");
  assertEquals(owner.record.attempts.map((each) => [each.purpose, each.phase.exitCode]), [
    ["stand-down", 75],
    ["resume", 0],
    ["resume-again", 0],
  ]);
  // The owner was ended only after that, and nobody else with it.
  assertEquals(owner.record.kill?.signals.map((each) => each.signal), ["KILL"]);
  assertEquals(owner.record.start?.signal, "SIGKILL");
});

Deno.test("stale-lock fails a job that takes a stranger's number for its owner", async () => {
  await using bench = await SessionBench.make("lock-pid");
  await bench.write("run.sh", locked(BY_PID));
  const [dead, stranger] = await bench.run(contractOf(LOCK), [
    replay("dead-owner"),
    replay("live-stranger"),
  ]);
  if (dead === undefined || stranger === undefined) throw new Error();
  assertEquals(inShort(dead), "pass", dead.grade.reason);
  assertEquals(inShort(stranger), "fail resume-exit", stranger.grade.reason);
});

Deno.test("stale-lock fails a job that refuses every lock, and one that ends a stranger", async () => {
  await using bench = await SessionBench.make("lock-bad");
  await bench.write("run.sh", locked("echo locked >&2; exit 1"));
  const refused = await bench.one(contractOf(LOCK), replay("dead-owner"));
  assertEquals(inShort(refused), "fail resume-exit");
  assertStringIncludes(refused.grade.reason, "it said: locked");
  await bench.write("run.sh", locked('kill -9 "$(cat run.lock)"'));
  const ended = await bench.one(contractOf(LOCK), replay("live-stranger"));
  assertEquals(inShort(ended), "fail stranger-untouched", ended.grade.reason);
});

Deno.test("live-owner fails a job that ignores the lock, or removes it", async () => {
  await using bench = await SessionBench.make("lock-ignored");
  await bench.write("run.sh", locked("rm run.lock"));
  const graded = await bench.one(contractOf(LOCK), replay("live-owner"));
  assertEquals(graded.grade.verdict, "fail");
  const bad = badChecks(graded);
  assert(bad.includes("live-lock-respected") && bad.includes("live-owner-respected"), bad.join());
});

Deno.test("live-owner passes a job that waits for its owner, and fails one that works meanwhile", async () => {
  await using bench = await SessionBench.make("lock-waits");
  const wait = 'while kill -0 "$(cat run.lock 2>/dev/null)" 2>/dev/null; do sleep 0.05; done';
  await bench.write("run.sh", locked(wait));
  const waits = await bench.one(contractOf(LOCK), replay("live-owner"));
  assertEquals(inShort(waits), "pass", waits.grade.reason);
  assertStringIncludes(finding(waits, "waits-for-owner") ?? "", "leaves lock and outputs alone");
  assertEquals(waits.record.attempts.map((each) => each.purpose), ["resume", "resume-again"]);
  await bench.write("run.sh", locked(`mkdir -p out; echo x >out/4.txt; ${wait}`));
  const works = await bench.one(contractOf(LOCK), replay("live-owner"));
  assertEquals(inShort(works), "fail waits-for-owner", works.grade.reason);
});

Deno.test("stale-lock says what is missing: the declaration, or a lock that is left", async () => {
  await using bench = await SessionBench.make("lock-none");
  await bench.write("run.sh", CAREFUL);
  const undeclared = await bench.one(contractOf({}), replay("dead-owner"));
  assertEquals(inShort(undeclared), "not-applicable not-applicable");
  assertStringIncludes(undeclared.grade.reason, '"lock": {"path": "run.lock"}');
  const [dead, owner] = await bench.run(contractOf(LOCK), [
    replay("dead-owner"),
    replay("live-owner"),
  ]);
  if (dead === undefined || owner === undefined) throw new Error();
  assertEquals([inShort(dead), inShort(owner)], [
    "not-applicable not-applicable",
    "not-applicable not-applicable",
  ]);
  assertStringIncludes(dead.grade.reason, '"content": "{pid}\\n"');
  const planted = await bench.one(
    contractOf({ lock: { path: "run.lock", content: "{pid}\n" } }),
    replay("dead-owner"),
  );
  assertEquals(inShort(planted), "pass", planted.grade.reason);
  assert(/^\d+$/.test(String(evidence(planted)["lock that the dead run left"])));
});

Deno.test("live-stranger needs a number in the lock", async () => {
  await using bench = await SessionBench.make("lock-mute");
  await bench.write("run.sh", locked(":").replace("echo $$ >run.lock", ": >run.lock"));
  const graded = await bench.one(contractOf(LOCK), replay("live-stranger"));
  assertEquals(inShort(graded), "not-applicable not-applicable");
  assertStringIncludes(graded.grade.reason, "an empty file");
});

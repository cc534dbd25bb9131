// Killing the recovery itself half-way.

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { finding, inShort, SessionBench } from "../tests/support/session.ts";
import { cleanUpAfterEach } from "../tests/support/processes.ts";
import { CAREFUL, contractOf } from "./replays/_test_jobs.ts";

cleanUpAfterEach();

const KILLED = { killResume: true };

Deno.test("a resume that is killed half-way must be recovered from as well", async () => {
  await using bench = await SessionBench.make("kill-resume");
  await bench.write("run.sh", CAREFUL);
  const graded = await bench.one(contractOf({}), { subject: "rehearsal", ...KILLED });
  assertEquals(inShort(graded), "pass", graded.grade.reason);
  const [killed, resume, again] = graded.record.attempts;
  assertEquals([killed?.purpose, resume?.purpose, again?.purpose], [
    "resume-killed",
    "resume",
    "resume-again",
  ]);
  assert(killed?.phase.endedByLab && killed.kill.survivors.length === 0);
  // What the killed recovery had finished may not be touched by the next one, either.
  assertEquals(graded.record.finishedAtFault.length, killed?.artifactsAfter.length);
});

Deno.test("a resume that cannot go on from its own kill fails", async () => {
  await using bench = await SessionBench.make("kill-resume-bad");
  await bench.write("run.sh", CAREFUL);
  await bench.write("resume.sh", `mkdir once || exit 9\n${CAREFUL}`);
  const contract = contractOf({ resume: ["sh", "resume.sh"] });
  const plain = await bench.one(contract, { subject: "rehearsal", resumeTwice: false });
  const killed = await bench.one(contract, { subject: "rehearsal", resumeTwice: false, ...KILLED });
  assertEquals([inShort(plain), inShort(killed)], ["pass", "fail resume-exit"]);
});

Deno.test("a resume that makes again what the killed one had finished fails", async () => {
  await using bench = await SessionBench.make("kill-resume-again");
  await bench.write("run.sh", CAREFUL);
  await bench.write("resume.sh", `rm -f out/3.txt\n${CAREFUL}`);
  const graded = await bench.one(contractOf({ resume: ["sh", "resume.sh"] }), {
    subject: "rehearsal",
    resumeTwice: false,
    ...KILLED,
  });
  assertEquals(inShort(graded), "fail finished-rewritten", graded.grade.reason);
});

Deno.test("a resume that has nothing to do has no half-way, and that is said", async () => {
  await using bench = await SessionBench.make("kill-resume-idle");
  await bench.write("run.sh", CAREFUL);
  // The first run is let go on to its end beside a recovery that stands down.
  await bench.write(
    "run.sh",
    `if [ -e pid ] && kill -0 "$(cat pid)" 2>/dev/null; then exit 75; fi\necho $$ >pid\n${CAREFUL}`,
  );
  const graded = await bench.one(contractOf({}), { subject: "duplicate-work", ...KILLED });
  assertEquals(inShort(graded), "pass", graded.grade.reason);
  assertStringIncludes(finding(graded, "resume-killed-half-way") ?? "", "Nothing was missing");
});

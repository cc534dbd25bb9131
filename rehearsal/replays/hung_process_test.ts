// A job that hangs, done from outside.

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { evidence, finding, inShort, SessionBench } from "../../tests/support/session.ts";
import { cleanUpAfterEach } from "../../tests/support/processes.ts";
import { CAREFUL, contractOf, IN_PLACE } from "./_test_jobs.ts";

cleanUpAfterEach();

Deno.test("hung-process stops every process, also one that left the group, and a careful job passes", async () => {
  await using bench = await SessionBench.make("hung");
  await bench.write("run.sh", CAREFUL);
  // The worker has left the group, and would go on when only the group were stopped.
  await bench.write("start.sh", "setsid sh run.sh & wait $!\n");
  const contract = contractOf({ start: ["sh", "start.sh"] });
  const [killed, term] = await bench.run(contract, [
    { subject: "hung-process", variant: "killed" },
    { subject: "hung-process", variant: "term-first" },
  ]);
  assert(killed !== undefined && term !== undefined);
  assertEquals([inShort(killed), inShort(term)], ["pass", "pass"], killed.grade.reason);
  const proof = Object.values(evidence(killed))[0];
  assert(Array.isArray(proof) && proof.length >= 2, JSON.stringify(proof));
  assertEquals(killed.record.kill?.signals.map((each) => each.signal), ["KILL"]);
  assertEquals(term.record.kill?.signals.map((each) => each.signal).slice(0, 2), ["TERM", "CONT"]);
});

Deno.test("hung-process fails a job that takes half an output for a whole one", async () => {
  await using bench = await SessionBench.make("hung-bad");
  await bench.write("run.sh", IN_PLACE);
  const graded = await bench.one(contractOf({}), { subject: "hung-process" });
  assertEquals(inShort(graded), "fail artifacts-whole", graded.grade.reason);
});

Deno.test("hung-process delivers nothing when the job is over before it can be struck", async () => {
  await using bench = await SessionBench.make("hung-over");
  await bench.write("run.sh", "mkdir -p out; for i in 1 2 3 4; do echo unit >out/$i.txt; done\n");
  const contract = contractOf({
    artifacts: { paths: ["out/*.txt"], count: 4 },
    killAfterArtifacts: 3,
  });
  // Another start than in the control run, so that it is seen to be slow but is not.
  const graded = await bench.one({ ...contract, control: false }, { subject: "hung-process" });
  assertEquals(inShort(graded), "unproven fault-delivered", graded.grade.reason);
  assertStringIncludes(finding(graded, "job-struck") ?? "", "could not be struck half-way");
  assertEquals(graded.record.options.tries, 3);
});

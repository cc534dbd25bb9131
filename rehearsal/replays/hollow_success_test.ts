// A start that says that all is well, and leaves nothing.

import { assertEquals, assertStringIncludes } from "@std/assert";
import { evidence, finding, inShort, SessionBench } from "../../tests/support/session.ts";
import { cleanUpAfterEach } from "../../tests/support/processes.ts";
import { CAREFUL, contractOf } from "./_test_jobs.ts";

cleanUpAfterEach();

const NOTHING = { subject: "hollow-success", variant: "nothing" };
const EMPTY = { subject: "hollow-success", variant: "empty" };
/** Looks at the size, too. */
const BY_SIZE = CAREFUL.replace("[ -e out", "[ -s out");

Deno.test("hollow-success passes a job that looks at the content, and fails one that looks at names", async () => {
  await using bench = await SessionBench.make("hollow");
  await bench.write("run.sh", BY_SIZE);
  const good = await bench.run(contractOf({}), [NOTHING, EMPTY]);
  assertEquals(good.map(inShort), ["pass", "pass"], good[1]?.grade.reason);
  assertEquals(good.map((each) => Object.values(evidence(each))), [[0, 0], [0, 4]]);
  await bench.write("run.sh", CAREFUL);
  const bad = await bench.run(contractOf({}), [NOTHING, EMPTY]);
  assertEquals(bad.map(inShort), ["pass", "fail artifacts-whole"]);
  assertStringIncludes(bad[1]?.grade.reason ?? "", "it is empty");
});

Deno.test("hollow-success fails a recovery that does nothing either", async () => {
  await using bench = await SessionBench.make("hollow-bad");
  await bench.write("run.sh", CAREFUL);
  const graded = await bench.one(contractOf({ resume: ["sh", "-c", "echo SUCCESS"] }), NOTHING);
  assertEquals(inShort(graded), "fail artifacts-complete", graded.grade.reason);
});

Deno.test("hollow-success proves nothing when the project brings its outputs along", async () => {
  await using bench = await SessionBench.make("hollow-full");
  await bench.write("run.sh", CAREFUL);
  await bench.write("out/1.txt", "unit 1\nend\n");
  const graded = await bench.one(contractOf({}), NOTHING);
  assertEquals(inShort(graded), "unproven fault-delivered", graded.grade.reason);
  assertStringIncludes(finding(graded, "start-hollow") ?? "", "leaveBehind");
});

Deno.test("empty outputs prove nothing where an empty one can be whole", async () => {
  await using bench = await SessionBench.make("hollow-empty");
  await bench.write("run.sh", CAREFUL);
  const artifacts = { paths: ["out/*.txt"], count: 4, emptyAllowed: true };
  assertEquals(
    inShort(await bench.one(contractOf({ artifacts }), EMPTY)),
    "not-applicable not-applicable",
  );
  const blind = await bench.one(contractOf({ control: false }), EMPTY);
  assertEquals(inShort(blind), "not-applicable not-applicable");
});

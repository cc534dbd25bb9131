// A job whose checkpoint is cut.

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { evidence, finding, inShort, SessionBench } from "../../tests/support/session.ts";
import { cleanUpAfterEach } from "../../tests/support/processes.ts";
import { CAREFUL, contractOf } from "./_test_jobs.ts";
import { TEARS } from "./_tear.ts";
import { tornCheckpoint, tornEvidence } from "./torn_checkpoint.ts";

cleanUpAfterEach();

/** Believes the disk, and makes its checkpoint out of it. */
const FROM_DISK = CAREFUL.replace("done\n", "  ls out/*.txt >.state; mv .state state.txt\ndone\n") +
  "ls out/*.txt >.state; cmp -s .state state.txt && rm .state || mv .state state.txt\n";

/** Believes its checkpoint only. */
const BELIEVES = `
mkdir -p out
for i in 1 2 3 4; do
  grep -qx out/$i.txt state.txt 2>/dev/null && continue
  { echo "unit $i"; sleep 0.08; echo end; } >out/.$i.tmp; mv out/.$i.tmp out/$i.txt
  echo out/$i.txt >>state.txt
done
`;

const WITH_STATE = { checkpoint: { path: "state.txt" } };

Deno.test("torn-checkpoint passes a job that believes the disk, in every shape, with bytes as proof", async () => {
  await using bench = await SessionBench.make("torn");
  await bench.write("run.sh", FROM_DISK);
  const all = await bench.run(
    contractOf(WITH_STATE),
    TEARS.map((variant) => ({ subject: "torn-checkpoint", variant })),
  );
  assertEquals(
    all.map(inShort),
    TEARS.map(() => "pass"),
    all.map((each) => each.grade.reason).join(),
  );
  for (const graded of all) {
    const sizes = evidence(graded)["bytes of the checkpoint before and after the cut"];
    assert(Array.isArray(sizes) && Number(sizes[0]) > 0, JSON.stringify(sizes));
    assert(typeof evidence(graded)["what is left of it reads as"] === "string");
    assert(graded.record.checkpointAtFault?.sha256 !== null);
  }
});

Deno.test("torn-checkpoint fails a job that makes finished work again", async () => {
  await using bench = await SessionBench.make("torn-bad");
  await bench.write("run.sh", BELIEVES);
  const graded = await bench.one(contractOf(WITH_STATE), {
    subject: "torn-checkpoint",
    variant: "empty",
  });
  assertEquals(inShort(graded), "fail finished-rewritten", graded.grade.reason);
});

Deno.test("torn-checkpoint says what the contract lacks, and when there is no checkpoint yet", async () => {
  const needs = tornCheckpoint.needs;
  await using bench = await SessionBench.make("torn-none");
  await bench.write("run.sh", `${CAREFUL}echo all >state.txt\n`);
  const [missing, none] = [
    await bench.one(contractOf({}), { subject: "torn-checkpoint" }),
    await bench.one(contractOf(WITH_STATE), { subject: "torn-checkpoint" }),
  ];
  assertEquals(inShort(missing), "not-applicable not-applicable");
  assertStringIncludes(missing.grade.reason, '"checkpoint": {"path": "state.json"}');
  assertEquals(inShort(none), "unproven fault-delivered");
  assertStringIncludes(finding(none, "checkpoint-there") ?? "", 'there is no "state.txt" after 2');
  assert(typeof needs === "function");
});

Deno.test("tornEvidence() proves nothing when the bytes are what they were", () => {
  const bytes = new TextEncoder().encode("3\n");
  assertEquals(tornEvidence(bytes, bytes, { path: "state.txt" }), []);
});

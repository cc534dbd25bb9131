// Outputs that grow line by line, and an end mark that stands at the end of every line.

import { assertEquals, assertStringIncludes } from "@std/assert";
import { inShort, SessionBench } from "../tests/support/session.ts";
import { cleanUpAfterEach } from "../tests/support/processes.ts";

cleanUpAfterEach();

/** Four shards of four lines; every line has its time in it, so that no two runs are alike. */
const SHARDS = `
mkdir -p out
for i in 1 2 3 4; do
  BEFORE
  n=$(cat out/$i.jsonl 2>/dev/null | wc -l)
  while [ $n -lt 4 ]; do
    n=$((n + 1)); sleep 0.06
    printf '{"shard":%s,"line":%s,"pid":"%05d"}\\n' $i $n $$ >>out/$i.jsonl
  done
done
`;

const CONTRACT = {
  start: ["sh", "run.sh"],
  resume: ["sh", "run.sh"],
  artifacts: { paths: ["out/*.jsonl"], count: 4, endsWith: "}" },
  limits: { runSeconds: 30, idleSeconds: 5, graceSeconds: 1 },
};

Deno.test("a recovery that leaves a shard half done is not passed for a mark that every line has", async () => {
  await using bench = await SessionBench.make("shards");
  await bench.write("run.sh", SHARDS.replace("BEFORE", "[ -e out/$i.jsonl ] && continue"));
  const graded = await bench.one(CONTRACT, { subject: "rehearsal" });
  assertEquals(inShort(graded), "unproven artifacts-not-torn", graded.grade.reason);
  assertStringIncludes(graded.grade.reason, "stands in the middle of outputs as well");
});

Deno.test("a recovery that goes on where a growing shard ended did not touch finished work", async () => {
  await using bench = await SessionBench.make("shards");
  await bench.write("run.sh", SHARDS.replace("BEFORE", ":"));
  const graded = await bench.one(CONTRACT, { subject: "rehearsal" });
  assertEquals(inShort(graded), "pass", graded.grade.reason);
  // The shards before the one that was being written are finished all the same.
  assertEquals(graded.record.finishedAtFault.length, graded.record.artifactsAtFault.length - 1);
});

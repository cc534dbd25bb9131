// Which kill points a sweep tries, and how they are dealt out.

import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { evidence, inShort, SessionBench } from "../tests/support/session.ts";
import { cleanUpAfterEach } from "../tests/support/processes.ts";
import { ContractError, parseContract } from "./contract.ts";
import { CAREFUL, contractOf, IN_PLACE } from "./replays/_test_jobs.ts";
import { dealLanes, planSweep } from "./sweep.ts";

cleanUpAfterEach();

const contract = parseContract(contractOf({}), "the test");
const names = (points: number | null) =>
  planSweep(contract, points).map((item) => `${item.variant} ${item.killAfterArtifacts}`);

Deno.test("planSweep() kills after every output but the last, and inside every temporary file", () => {
  assertEquals(names(null), [
    "temp-file 0",
    "kill 1",
    "temp-file 1",
    "kill 2",
    "temp-file 2",
    "kill 3",
    "temp-file 3",
  ]);
  assertEquals(names(3), ["temp-file 0", "kill 2", "temp-file 3"]);
  assertEquals(names(1), ["kill 2"]);
  assertEquals(names(100).length, 7);
});

Deno.test("planSweep() needs to know how many outputs there are", () => {
  const open = parseContract(contractOf({ artifacts: { paths: ["out/*"] } }), "the test");
  const error = assertThrows(() => planSweep(open, null), ContractError);
  assertStringIncludes(error.message, '"artifacts": {"count": N}');
});

Deno.test("dealLanes() gives every point to one lane, and makes no empty lanes", () => {
  assertEquals(dealLanes([1, 2, 3, 4, 5], 2), [[1, 3, 5], [2, 4]]);
  assertEquals(dealLanes([1], 4), [[1]]);
  assertEquals(dealLanes([1, 2], 0), [[1, 2]]);
});

Deno.test("a temporary file is caught before its rename, and a job without one has no such point", async () => {
  await using bench = await SessionBench.make("sweep");
  await bench.write("run.sh", CAREFUL);
  const [first, kill, last] = await bench.run(
    contractOf({}),
    planSweep(contract, null).filter((_, i) => [0, 3, 6].includes(i)),
  );
  if (first === undefined || kill === undefined || last === undefined) throw new Error();
  assertEquals([first, kill, last].map(inShort), ["pass", "pass", "pass"], first.grade.reason);
  const caught = String(evidence(first)["killed while this was not renamed yet"]);
  assertStringIncludes(caught, "out/.1.tmp");
  assertEquals(first.record.artifactsAtFault, []);
  assertEquals(kill.record.options.point, "after 2 outputs");
  await bench.write("run.sh", IN_PLACE);
  const none = await bench.one(contractOf({}), {
    subject: "rehearsal",
    variant: "temp-file",
    killAfterArtifacts: 1,
  });
  assertEquals(inShort(none), "not-applicable not-applicable");
});

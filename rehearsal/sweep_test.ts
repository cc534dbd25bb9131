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

Deno.test("planSweep() kills between each effect and its output where effects are declared", () => {
  const sending = parseContract(contractOf({ effects: { path: "sent.log" } }), "the test");
  const points = planSweep(sending, null).map((item) =>
    `${item.variant} ${item.killAfterArtifacts}`
  );
  assertEquals(points.slice(0, 5), [
    "effect 0",
    "temp-file 0",
    "kill 1",
    "effect 1",
    "temp-file 1",
  ]);
  assertEquals(points.length, 11);
});

/** Sends, and then writes the receipt. */
const SENDS = `
mkdir -p out
for i in 1 2 3 4; do
  [ -e out/$i.txt ] && continue
  LOOK echo "order-$i" >>sent.log; sleep 0.1
  echo "receipt $i end" >out/.new; mv out/.new out/$i.txt; sleep 0.05
done
`;

Deno.test("a kill between an effect and its output shows who sends again", async () => {
  const sending = contractOf({ effects: { path: "sent.log" } });
  const item = { subject: "rehearsal", variant: "effect", killAfterArtifacts: 2 };
  await using bench = await SessionBench.make("sweep-effect");
  await bench.write("run.sh", SENDS.replace("LOOK", ""));
  const again = await bench.one(sending, item);
  assertEquals(inShort(again), "fail effects-once", again.grade.reason);
  assertEquals(again.grade.reason, 'The effect "order-3" happened 2 times');
  assertEquals(
    evidence(again)["effects that had happened, one of them before its output"],
    3,
  );
  await bench.write(
    "run.sh",
    SENDS.replace("LOOK", 'grep -qx "order-$i" sent.log 2>/dev/null ||'),
  );
  assertEquals(inShort(await bench.one(sending, item)), "pass");
  // Receipt first: there is no such moment.
  await bench.write("run.sh", `${CAREFUL}\n[ -e sent.log ] || ls out >sent.log\n`);
  const none = await bench.one(sending, item);
  assertEquals(inShort(none), "not-applicable not-applicable", none.grade.reason);
  assertStringIncludes(none.grade.reason, "No effect could be caught before its output");
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

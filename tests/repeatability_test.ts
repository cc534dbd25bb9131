// The same drill gives the same verdict, for the same reason, every time. On the built program.

import { assert, assertEquals } from "@std/assert";
import type { RunSet } from "../lab/record.ts";
import { loadDrills } from "../drills/mod.ts";
import { Bench } from "./support/binary.ts";
import { drills, unmet } from "./support/drills.ts";
import { cleanUpAfterEach } from "./support/processes.ts";

cleanUpAfterEach();

/** How often: twice, and twenty times for a release. */
const REPEATS = Number(Deno.env.get("FAILURE_LAB_REPEATS") ?? 2);

function verdictsOf(set: RunSet): Map<string, Set<string>> {
  const verdicts = new Map<string, Set<string>>();
  for (const { record, grade } of set.runs) {
    const key = `${record.subject} ${record.fault.variant} ${record.half}`;
    const found = verdicts.get(key) ?? new Set();
    verdicts.set(key, found.add(`${grade.verdict} ${grade.reasonId}`));
  }
  return verdicts;
}

Deno.test(`${REPEATS} repeats of every drill give the same verdicts for the same reasons`, async () => {
  await using bench = await Bench.make("drills-repeat");
  const { code, set } = await drills(bench, [`--repeat=${REPEATS}`, "--seed=7"]);
  assertEquals(unmet(set), []);
  assertEquals([code, set.runs.length], [0, loadDrills().length * 2 * REPEATS]);
  for (const [key, verdicts] of verdictsOf(set)) {
    assert(verdicts.size === 1, `${key}: ${[...verdicts].join(", ")}`);
  }
});

Deno.test("the same seed draws the same shapes, and another seed others", async () => {
  await using bench = await Bench.make("drills-seed");
  const shapesOf = async (seed: number) => {
    const { set } = await drills(bench, ["03", "08", "--half=broken", `--seed=${seed}`]);
    return set.runs.map((run) => run.record.fault.variant);
  };
  const first = await shapesOf(11);
  assertEquals(await shapesOf(11), first);
  const others = [await shapesOf(12), await shapesOf(13), await shapesOf(14)];
  assert(others.some((shapes) => shapes.join() !== first.join()), `${first}`);
});

// The sample runners against their answer key: the good one passes every failure in every variant,
// the sloppy one fails those that it should, each for the right reason.

import { assert, assertEquals } from "@std/assert";
import { badChecks, type Graded, inShort, SessionBench } from "../../tests/support/session.ts";
import { cleanUpAfterEach } from "../../tests/support/processes.ts";
import { REPLAYS } from "../mod.ts";

cleanUpAfterEach();

interface Expected {
  runner: "good" | "sloppy";
  replay: string;
  variant: string;
  verdict: string;
  /** At least one of these checks must speak against the run. */
  because?: string[];
  env?: Record<string, string>;
  why?: string;
}

const HERE = new URL(".", import.meta.url).pathname;
const KEY: Expected[] = JSON.parse(await Deno.readTextFile(`${HERE}answer-key.json`)).runs;
/** Long enough that a kill lands in the middle of a unit also on a busy machine. */
const UNIT_SECONDS: Record<Expected["runner"], string> = { good: "0.05", sloppy: "0.12" };

Deno.test("the answer key holds every variant of every replay once for each runner", () => {
  const all = REPLAYS.flatMap(({ id, variants }) => variants.map((variant) => `${id} ${variant}`));
  for (const runner of ["good", "sloppy"]) {
    const held = KEY.filter((each) => each.runner === runner);
    assertEquals(held.map(({ replay, variant }) => `${replay} ${variant}`).sort(), all.sort());
  }
  for (const { verdict, because } of KEY) assertEquals(verdict === "fail", because !== undefined);
});

for (const runner of ["good", "sloppy"] as const) {
  // One session for all that need the same environment, in the first test that wants a record of it.
  let records: Promise<Map<Expected, Graded>> | null = null;
  for (const { id } of REPLAYS) {
    Deno.test(`the ${runner} runner in ${id} does what the answer key says`, async () => {
      records ??= runAll(runner);
      const graded = await records;
      for (const expected of KEY.filter((each) => each.runner === runner && each.replay === id)) {
        const got = graded.get(expected);
        if (got === undefined) throw new Error(`No record of ${expected.variant}`);
        const said = `${expected.variant}: ${inShort(got)}: ${got.grade.reason}`;
        assertEquals(got.grade.verdict, expected.verdict, said);
        const bad = badChecks(got);
        const { because } = expected;
        assert(because === undefined || because.some((check) => bad.includes(check)), said);
      }
    });
  }
}

async function runAll(runner: Expected["runner"]): Promise<Map<Expected, Graded>> {
  const all = new Map<Expected, Graded>();
  await using bench = await SessionBench.make(`key-${runner}`);
  await bench.copyFrom(`${HERE}${runner}`);
  const contract = JSON.parse(await Deno.readTextFile(`${HERE}${runner}/failure-lab.json`));
  const entries = KEY.filter((each) => each.runner === runner);
  for (const group of Object.values(Object.groupBy(entries, envOf))) {
    const env = { UNIT_SECONDS: UNIT_SECONDS[runner], ...group?.[0]?.env };
    const graded = await bench.run(
      { ...contract, env },
      (group ?? []).map(({ replay, variant }) => ({ subject: replay, variant })),
    );
    for (const [i, expected] of (group ?? []).entries()) {
      const got = graded[i];
      if (got !== undefined) all.set(expected, got);
    }
  }
  return all;
}

function envOf({ env }: Expected): string {
  return JSON.stringify(env ?? {});
}

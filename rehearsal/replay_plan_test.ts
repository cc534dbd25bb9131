// Which replays are done, and in which variant.

import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { parseContract } from "./contract.ts";
import { findReplays, planReplays, replayNumber, UnknownReplayError } from "./replay_plan.ts";
import { REPLAYS } from "./replays/mod.ts";

const IDS = [
  "hung-process",
  "orphaned-children",
  "torn-checkpoint",
  "lying-checkpoint",
  "stale-lock",
  "hollow-success",
  "dead-monitor",
  "scope-escape",
  "duplicate-work",
  "lost-handoff",
  "provider-outage",
];

const BARE = parseContract(
  { start: "true", resume: "true", artifacts: { paths: ["out/*"], count: 2 } },
  "the test",
);
const OPTIONS = { seed: 1, variant: null, allVariants: false, killResume: false, armed: true };

Deno.test("the replays are the eleven failures, in the order of the drills", () => {
  assertEquals(REPLAYS.map((replay) => replay.id), IDS);
  assertEquals(REPLAYS.map(replayNumber).at(-1), "11");
  for (const replay of REPLAYS) {
    assert(replay.variants.length > 0, replay.id);
    assertEquals(new Set(replay.variants).size, replay.variants.length);
  }
});

Deno.test("findReplays() takes ids, numbers and both, each once", () => {
  const ids = (...names: string[]) => findReplays(names).map((replay) => replay.id);
  assertEquals(ids(), IDS);
  assertEquals(ids("02-orphaned-children", "02", "2", "orphaned-children"), ["orphaned-children"]);
  assertEquals(ids("11", "Hung-Process"), ["provider-outage", "hung-process"]);
});

Deno.test("an unknown failure or variant is refused with the nearest name", () => {
  const unknown = assertThrows(() => findReplays(["02-orphaned-childen"]), UnknownReplayError);
  assertStringIncludes(unknown.message, "Did you mean orphaned-children?");
  assertEquals(unknown.exitCode, 2);
  for (const name of ["", "0", "12", "rehearsal"]) {
    assertThrows(() => findReplays([name]), UnknownReplayError);
  }
  const variant = assertThrows(
    () => planReplays(BARE, ["02"], { ...OPTIONS, variant: "overlapp" }),
    UnknownReplayError,
  );
  assertStringIncludes(variant.message, "Did you mean overlap?");
  assertStringIncludes(variant.message, "reaped, overlap");
});

Deno.test("the seed draws the same variant of a failure whichever were named", () => {
  const all = new Map(planReplays(BARE, [], OPTIONS).map((item) => [item.subject, item.variant]));
  for (const id of IDS) {
    assertEquals(planReplays(BARE, [id], OPTIONS)[0]?.variant, all.get(id));
  }
  const drawn = new Set(
    Array.from(
      { length: 50 },
      (_, seed) => planReplays(BARE, ["02"], { ...OPTIONS, seed })[0]?.variant,
    ),
  );
  assertEquals([...drawn].sort(), ["overlap", "reaped"]);
});

Deno.test("the seed draws no variant that the contract does not allow, where another one is", () => {
  const blind = parseContract({ ...BARE, control: false }, "the test");
  for (let seed = 0; seed < 30; seed++) {
    assertEquals(planReplays(blind, ["06"], { ...OPTIONS, seed })[0]?.variant, "nothing");
  }
});

Deno.test("a plan carries what was asked for", () => {
  const every = planReplays(BARE, ["03"], { ...OPTIONS, allVariants: true });
  assertEquals(every.length, 5);
  const [item] = planReplays(BARE, ["03"], { ...OPTIONS, killResume: true, armed: false });
  assertEquals([item?.killResume, item?.armed, item?.resumeTwice], [true, false, true]);
});

/**
 * Finding drills by whatever a person calls them, and the plan of a session.
 *
 * @module
 */
import { createRandom, didYouMean } from "../lab/mod.ts";
import type { Mode } from "./answer_key.ts";
import type { Drill } from "./definition.ts";

/** A name that is no drill's. Exit 2. */
export class UnknownDrillError extends Error {
  /** Tells it from other errors. */
  override name = "UnknownDrillError";
  /** Usage. */
  readonly exitCode = 2;
}

/**
 * Finds drills by `01`, `1`, `hung-process` or `01-hung-process`. No name at all means all of them.
 *
 * @throws {UnknownDrillError} With the nearest name.
 */
export function findDrills(drills: readonly Drill[], names: readonly string[]): Drill[] {
  if (names.length === 0) return [...drills];
  const found = names.map((name) => findDrill(drills, name));
  return found.filter((drill, index) => found.indexOf(drill) === index);
}

/** Finds one drill; see {@linkcode findDrills}. */
export function findDrill(drills: readonly Drill[], name: string): Drill {
  const lower = name.toLowerCase();
  const drill = drills.find(({ id }) =>
    id === lower || id.slice(3) === lower || id.slice(0, 2) === lower.padStart(2, "0")
  );
  if (drill !== undefined) return drill;
  const names = drills.flatMap(({ id }) => [id, id.slice(3)]);
  throw new UnknownDrillError(
    `There is no drill "${name.slice(0, 60)}".${didYouMean(lower, names)} ` +
      "failure-lab list shows all of them.",
  );
}

/** One run to do. */
export interface DrillRun {
  /** Which drill. */
  drill: Drill;
  /** How it is run. */
  mode: Mode;
  /** In which shape its failure comes. */
  variant: string;
  /** Counts from 1. */
  repeat: number;
}

/** What of each drill to run. */
export interface PlanOptions {
  /** Which halves. */
  modes: readonly Mode[];
  /** How often. @default {1} */
  repeat?: number;
  /** `first`: the first variant of each; a number: the one that this seed draws; `all`. */
  variants: "first" | "all" | number;
}

/** The runs of a session: drill by drill, variant by variant, half by half. */
export function planRuns(drills: readonly Drill[], options: PlanOptions): DrillRun[] {
  const random = typeof options.variants === "number" ? createRandom(options.variants) : null;
  const runs: DrillRun[] = [];
  for (let repeat = 1; repeat <= (options.repeat ?? 1); repeat++) {
    for (const drill of drills) {
      const ids = drill.fault.variants.map((variant) => variant.id);
      // Both halves of a drill are played with the same variant, or they would not compare.
      const chosen = options.variants === "all"
        ? ids
        : [random === null ? ids[0] ?? "" : random.pick(ids)];
      for (const variant of chosen) {
        for (const mode of options.modes) {
          // Where nothing is wrong there is no shape of it.
          if (mode === "control" && variant !== chosen[0]) continue;
          runs.push({ drill, mode, variant, repeat });
        }
      }
    }
  }
  return runs;
}

/**
 * The kill points of a sweep: after each output, between a temporary file and its rename, and
 * between an effect and its output.
 *
 * @module
 */
import { type Contract, ContractError } from "./contract.ts";
import type { PlanItem } from "./plan.ts";

/** How many runs of one sweep go on at the same time, at most. */
export const LANES_MAX = 8;

/**
 * The plan of a sweep: a kill after output 1, 2, … up to one before the last, a kill while the
 * temporary file of each output is there, and, where effects are declared, one between each effect
 * and its output.
 *
 * @param points At most so many, spread over the run; `null` for all.
 * @throws {ContractError} When the contract does not say how many outputs there are.
 */
export function planSweep(contract: Contract, points: number | null): PlanItem[] {
  const { count } = contract.artifacts;
  if (count === undefined) {
    throw new ContractError(
      "Cannot sweep: the contract does not say how many outputs a finished run leaves. Add " +
        '"artifacts": {"count": N}, or give --count',
    );
  }
  const all: PlanItem[] = [];
  for (let made = 0; made < count; made++) {
    if (made > 0) all.push(killPoint("kill", made));
    if (contract.effects !== undefined) all.push(killPoint("effect", made));
    all.push(killPoint("temp-file", made));
  }
  return spread(all, points ?? all.length);
}

function killPoint(variant: string, made: number): PlanItem {
  return {
    subject: "rehearsal",
    variant,
    armed: true,
    killAfterArtifacts: made,
    killResume: false,
    resumeTwice: true,
  };
}

/** So many of a list, the first and the last among them. */
function spread<T>(all: readonly T[], most: number): T[] {
  if (most >= all.length) return [...all];
  if (most === 1) return all.slice(Math.floor(all.length / 2)).slice(0, 1);
  return Array.from(
    { length: most },
    (_, i) => all[Math.round(i * (all.length - 1) / (most - 1))] as T,
  );
}

/** Deals a plan out to lanes that run at the same time, each in its own copy. */
export function dealLanes<T>(plan: readonly T[], lanes: number): T[][] {
  const count = Math.max(1, Math.min(lanes, plan.length, LANES_MAX));
  const dealt: T[][] = Array.from({ length: count }, () => []);
  plan.forEach((item, i) => dealt[i % count]?.push(item));
  return dealt;
}

/**
 * Which runs of two sets belong together: the same failure, striking at the same point.
 *
 * @module
 */
import type { RunRecord } from "../lab/mod.ts";
import type { GradedRun } from "./_compare_change.ts";

/** Why a pair is not fair. */
export type RefusalId =
  | "damaged"
  | "nothing-in-common"
  | "other-project"
  | "project-unknown"
  | "other-contract"
  | "other-fault-point"
  | "other-drill"
  | "other-options"
  | "not-applicable-once";

/** One reason not to compare. */
export interface Refusal {
  /** Stable name. */
  id: RefusalId;
  /** Title of the run that it was found in; `null` when it is about the sets. */
  run: string | null;
  /** What differs, with both values, and what to do. */
  text: string;
}

/** Runs that belong together, in the order of the older set. */
export type Pair = readonly [before: GradedRun, after: GradedRun];

/** The outcome of {@linkcode pairUp}. */
export interface Pairing {
  pairs: Pair[];
  onlyBefore: RunRecord[];
  onlyAfter: RunRecord[];
  refusals: Refusal[];
}

/** Listed by name at most. */
const NAMES_MAX = 8;

/** Brings together the runs of the same failure at the same point. */
export function pairUp(before: readonly GradedRun[], after: readonly GradedRun[]): Pairing {
  const exact = matched(before, after, (record) => failureKey(record) + pointKey(record));
  const near = matched(exact.onlyBefore, exact.onlyAfter, failureKey);
  const refusals = near.pairs.map(([old, now]) => otherPoint(old.record, now.record));
  if (exact.pairs.length === 0 && refusals.length === 0) {
    refusals.push({
      id: "nothing-in-common",
      run: null,
      text: `Not one failure is in both: BEFORE has ${listed(before)}, AFTER has ${listed(after)}`,
    });
  }
  return {
    pairs: exact.pairs,
    onlyBefore: near.onlyBefore.map((run) => run.record),
    onlyAfter: near.onlyAfter.map((run) => run.record),
    refusals,
  };
}

/** Pairs the first with the first, the second with the second, … of each key. */
function matched(
  before: readonly GradedRun[],
  after: readonly GradedRun[],
  keyOf: (record: RunRecord) => string,
): { pairs: Pair[]; onlyBefore: GradedRun[]; onlyAfter: GradedRun[] } {
  const pairs: Pair[] = [];
  const onlyBefore: GradedRun[] = [];
  const onlyAfter = [...after];
  for (const run of before) {
    const at = onlyAfter.findIndex((each) => keyOf(each.record) === keyOf(run.record));
    const partner = onlyAfter[at];
    if (partner === undefined) onlyBefore.push(run);
    else {
      pairs.push([run, partner]);
      onlyAfter.splice(at, 1);
    }
  }
  return { pairs, onlyBefore, onlyAfter };
}

function listed(runs: readonly GradedRun[]): string {
  return runs.length === 0 ? "no runs" : names(runs.map((run) => run.record.subject));
}

function failureKey(record: RunRecord): string {
  return JSON.stringify([record.kind, record.subject, record.half]);
}

function pointKey(record: RunRecord): string {
  return JSON.stringify(pointOf(record));
}

/** Where the failure is meant to strike, by name. */
function pointOf(record: RunRecord): Record<string, unknown> {
  const { fault, options } = record;
  return {
    failure: fault.name,
    variant: fault.variant,
    "failure switched on": fault.armed,
    "kill after outputs": killPointIn(record),
    "kill the resume, too": options.killResume ?? false,
  };
}

/** The kill point as it works: from the options, the contract, or half of the outputs. */
function killPointIn({ options, contract }: RunRecord): number | null {
  const { declared, count } = contract;
  const named = isObject(declared) ? declared.killAfterArtifacts : undefined;
  for (const each of [options.killAfterArtifacts, named]) {
    if (typeof each === "number") return each;
  }
  return count === null ? null : Math.floor(count / 2);
}

function otherPoint(old: RunRecord, now: RunRecord): Refusal {
  const is = pointOf(now);
  const differing = Object.entries(pointOf(old))
    .filter(([name, was]) => was !== is[name])
    .map(([name, was]) => `${name}: ${shown(was)} before, ${shown(is[name])} now`);
  return {
    id: "other-fault-point",
    run: old.subject,
    text: `Another fault point: ${differing.join("; ")}. Run AFTER again like BEFORE: ${old.rerun}`,
  };
}

function shown(value: unknown): string {
  return value === null || value === undefined ? "not known" : String(value);
}

/** The first few of a list, each once, for a sentence. */
export function names(list: readonly string[]): string {
  const shown = [...new Set(list)];
  const more = shown.length > NAMES_MAX ? ` and ${shown.length - NAMES_MAX} more` : "";
  return shown.slice(0, NAMES_MAX).join(", ") + more;
}

/** Whether a value is an object and no list. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

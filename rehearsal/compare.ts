/**
 * Before and after: two saved sets of runs side by side, and what got better or worse.
 *
 * Both sides are graded here, by the same grader; the saved grades decide nothing. A pair that is
 * not fair (another project, contract, fault point or drill) is refused as a whole, because a
 * difference in it would say nothing about the recovery.
 *
 * @module
 */
import { grade, type RunRecord, runRecordSchema } from "../lab/mod.ts";
import { type Change, changeOf, type GradedRun, type PairChange } from "./_compare_change.ts";
import {
  type ChangesDeclared,
  refusalsOf,
  unusedDeclarations,
  warningsOf,
} from "./_compare_fair.ts";
import { pairUp, type Refusal } from "./_compare_pairs.ts";

export type {
  Change,
  GradedRun,
  OutputChanges,
  PairChange,
  RunFigures,
} from "./_compare_change.ts";
export type { ChangesDeclared } from "./_compare_fair.ts";
export type { Refusal, RefusalId } from "./_compare_pairs.ts";

/** One saved run: the record as it was found, and the verdict that was saved with it. */
export interface SavedRecord {
  /** Not checked yet. */
  record: unknown;
  /** As it was saved, for a note when today's grader sees it differently; `null` when unreadable. */
  savedVerdict: string | null;
}

/** Two runs of the same failure, and what changed from one to the other. */
export interface ComparedPair extends PairChange {
  /** For example `stale-lock, dead-owner`. */
  title: string;
  /** Ids of the two records. */
  ids: { before: string; after: string };
}

/** What a comparison gave. */
export interface Comparison {
  /** What kind of document this is. */
  schema: "failure-lab/comparison";
  /** Version of its shape. */
  version: 1;
  /**
   * `refused`: not fair, nothing was compared. `worse`: at least one thing got worse. `unclear`:
   * nothing got worse as far as can be seen, but something is unproven or was not run again.
   */
  result: "better" | "same" | "worse" | "unclear" | "refused";
  /** The result in one or two sentences. */
  sentence: string;
  /** Why the pair is not fair; empty when it is. */
  refusals: Refusal[];
  /** What does not make it unfair, but should be known. */
  notes: string[];
  /** Empty when refused. */
  pairs: ComparedPair[];
  /** Titles of runs that only one side has. */
  onlyBefore: string[];
  /** See {@linkcode Comparison.onlyBefore}. */
  onlyAfter: string[];
}

/**
 * Compares two sets of runs. Pure: reads nothing, writes nothing.
 *
 * @param before The runs of the older set.
 * @param after The runs of the newer set.
 * @param declared What the user says was changed between the two.
 */
export function compareRuns(
  before: readonly SavedRecord[],
  after: readonly SavedRecord[],
  declared: ChangesDeclared = { paths: [], commands: [] },
): Comparison {
  const damaged = [...damagedIn("BEFORE", before), ...damagedIn("AFTER", after)];
  if (damaged.length > 0) return refused(damaged, []);
  const old = before.map(graded);
  const now = after.map(graded);
  const { pairs, onlyBefore, onlyAfter, refusals: unpaired } = pairUp(old, now);
  const refusals = [
    ...unpaired,
    ...refusalsOf(pairs, declared),
  ];
  const notes = [
    ...regradeNotes("BEFORE", before, old),
    ...regradeNotes("AFTER", after, now),
    ...warningsOf(pairs, refusals.length === 0),
    ...unusedDeclarations(pairs, declared),
  ];
  if (refusals.length > 0) return refused(refusals, notes);
  const compared = pairs.map(([left, right]): ComparedPair => ({
    title: titleOf(left.record),
    ids: { before: left.record.id, after: right.record.id },
    ...changeOf(left, right),
  }));
  return concluded(compared, onlyBefore.map(titleOf), onlyAfter.map(titleOf), notes);
}

function graded({ record }: SavedRecord): GradedRun {
  return { record: runRecordSchema.parse(record), grade: grade(record) };
}

const DAMAGE_IDS: ReadonlySet<string | null> = new Set([
  "record-version",
  "record-shape",
  "grader-error",
]);

function damagedIn(side: "BEFORE" | "AFTER", runs: readonly SavedRecord[]): Refusal[] {
  return runs.flatMap(({ record }, index): Refusal[] => {
    const { reasonId, reason } = grade(record);
    if (!DAMAGE_IDS.has(reasonId)) return [];
    return [{ id: "damaged", run: null, text: `Run ${index + 1} of ${side}: ${reason}` }];
  });
}

function regradeNotes(
  side: "BEFORE" | "AFTER",
  saved: readonly SavedRecord[],
  today: readonly GradedRun[],
): string[] {
  return today.flatMap((run, index) => {
    const was = saved[index]?.savedVerdict;
    return was === run.grade.verdict ? [] : [
      `${titleOf(run.record)}: ${side} was saved as "${was ?? "nothing readable"}", and today's ` +
      `grader says "${run.grade.verdict}"; that is what counts here`,
    ];
  });
}

/** What a run is called in a comparison. */
export function titleOf(record: RunRecord): string {
  const { kind, subject, half, fault, options } = record;
  const point = options.killAfterArtifacts;
  return [
    kind === "rehearsal" ? "rehearsal" : subject,
    ...(fault.variant === null || kind === "rehearsal" ? [] : [fault.variant]),
    ...(half === null ? [] : [half]),
    ...(typeof point === "number" ? [`killed after ${point}`] : []),
    ...(fault.armed ? [] : ["failure switched off"]),
  ].join(", ");
}

function refused(refusals: Refusal[], notes: string[]): Comparison {
  const many = refusals.length === 1 ? "one reason" : `${refusals.length} reasons`;
  return {
    schema: "failure-lab/comparison",
    version: 1,
    result: "refused",
    sentence: `These two cannot be compared fairly, for ${many}. Nothing was compared.`,
    refusals,
    notes,
    pairs: [],
    onlyBefore: [],
    onlyAfter: [],
  };
}

function concluded(
  pairs: ComparedPair[],
  onlyBefore: string[],
  onlyAfter: string[],
  notes: string[],
): Comparison {
  const has = (...changes: Change[]) => pairs.filter((pair) => changes.includes(pair.change));
  const worse = has("worse", "mixed");
  const unclear = has("unclear");
  const better = has("better");
  const result = worse.length > 0
    ? "worse"
    : unclear.length > 0 || onlyBefore.length > 0
    ? "unclear"
    : better.length > 0
    ? "better"
    : "same";
  return {
    schema: "failure-lab/comparison",
    version: 1,
    result,
    sentence: sentenceOf({ worse, unclear, better, same: has("same") }, onlyBefore),
    refusals: [],
    notes,
    pairs,
    onlyBefore,
    onlyAfter,
  };
}

type Groups = Record<"worse" | "unclear" | "better" | "same", ComparedPair[]>;

function sentenceOf({ worse, unclear, better, same }: Groups, onlyBefore: string[]): string {
  const total = worse.length + unclear.length + better.length + same.length;
  const named = (pairs: readonly ComparedPair[]) =>
    ` (${pairs.slice(0, 3).map((pair) => pair.title).join("; ")}${pairs.length > 3 ? "; …" : ""})`;
  const of = (pairs: readonly ComparedPair[]) =>
    total === 1 ? "The run" : `${pairs.length} of ${total} runs`;
  const parts = [
    ...(worse.length > 0 ? [`${of(worse)} got worse${named(worse)}`] : []),
    ...(better.length > 0 ? [`${of(better)} got better${named(better)}`] : []),
    ...(unclear.length > 0 ? [`${of(unclear)} cannot be told${named(unclear)}`] : []),
    ...(same.length > 0 ? [`${of(same)} stayed as before`] : []),
    ...(onlyBefore.length > 0
      ? [`not run again: ${onlyBefore.slice(0, 3).join("; ")}${onlyBefore.length > 3 ? "; …" : ""}`]
      : []),
  ];
  const head = worse.length === 0 && unclear.length === 0 && onlyBefore.length === 0
    ? "Nothing got worse. "
    : "";
  return `${head}${parts.join("; ")}.`;
}

/**
 * What changed between two runs of the same failure: verdict, outputs, repeats, recovery time.
 *
 * @module
 */
import { type Artifact, type Grade, isRewritten, type RunRecord } from "../lab/mod.ts";

/** One run with the grade that today's grader gives it. */
export interface GradedRun {
  /** A record of the right shape. */
  record: RunRecord;
  /** Today's grade. */
  grade: Grade;
}

/** What became of one run. `mixed` is better in one thing and worse in another. */
export type Change = "better" | "worse" | "mixed" | "same" | "unclear";

/** The figures of one run that a comparison looks at. */
export interface RunFigures {
  /** By today's grader. */
  verdict: string;
  /** Why, in one sentence. */
  reason: string;
  /** From the proven failure to the last whole output; `null` when not measured. */
  recoveryMs: number | null;
  /** Outputs that are there and whole. */
  outputsWhole: number;
  /** How many the contract wants; `null` when it does not say. */
  outputsWanted: number | null;
  /** Outputs beyond that number. */
  outputsExtra: number;
  /** Finished outputs that were made again, changed or lost; `null` without a recovery. */
  rewritten: number | null;
  /** Effects that happened more than once; `null` when none are declared. */
  doubled: number | null;
  /** Effects that never happened; `null` when none are declared. */
  missed: number | null;
  /** Whether something outside the lab was changed. */
  containmentBroken: boolean;
}

/** How outputs of the same name differ between the two runs. */
export interface OutputChanges {
  /** There before, not now. */
  gone: string[];
  /** There now, not before. */
  added: string[];
  /** There both times, with other content. */
  otherContent: string[];
}

/** What changed from one run to the other. */
export interface PairChange {
  /** The result. */
  change: Change;
  /** The figures of both. */
  before: RunFigures;
  /** See {@linkcode PairChange.before}. */
  after: RunFigures;
  /** What got better, in words. */
  better: string[];
  /** What got worse, in words. */
  worse: string[];
  /** What is neither, but should be known. */
  notes: string[];
  /** Outputs of the two runs side by side. */
  outputs: OutputChanges;
}

/** A recovery counts as slower or faster only beyond what chance gives. */
export const TIME_FACTOR = 1.5;
/** See {@linkcode TIME_FACTOR}; both must be exceeded. */
export const TIME_MS_MIN = 500;

/** Compares two runs of a fair pair. */
export function changeOf(before: GradedRun, after: GradedRun): PairChange {
  const old = figuresOf(before);
  const now = figuresOf(after);
  const better: string[] = [];
  const worse: string[] = [];
  const notes: string[] = [];
  const judge = (direction: number, text: string) => {
    if (direction > 0) better.push(text);
    if (direction < 0) worse.push(text);
  };
  const isUnclear = judgeVerdict(old, now, judge);
  for (const [name, was, is, sign] of countsOf(old, now)) {
    if (was !== is) judge(Math.sign(is - was) * sign, `${name}: ${was} -> ${is}`);
  }
  judgeChecks(before, after, judge);
  notes.push(...judgeTime(before, after, judge));
  if (old.verdict === now.verdict && before.grade.reasonId !== after.grade.reasonId) {
    notes.push(`for another reason than before; it was: ${old.reason}`);
  }
  const change = better.length > 0 && worse.length > 0
    ? "mixed"
    : worse.length > 0
    ? "worse"
    : isUnclear
    ? "unclear"
    : better.length > 0
    ? "better"
    : "same";
  const outputs = outputChanges(before.record.artifacts, after.record.artifacts);
  return { change, before: old, after: now, better, worse, notes, outputs };
}

type Judge = (direction: number, text: string) => void;

const RANKS: Record<string, number> = { "fail": 0, "unproven": 1, "pass": 2 };

/** Returns whether the pair as a whole cannot be told: unproven now, whatever it was before. */
function judgeVerdict(old: RunFigures, now: RunFigures, judge: Judge): boolean {
  const text = `verdict: ${old.verdict} -> ${now.verdict}`;
  // What failed and is now only unproven has not got better: nobody knows.
  const isOnlyDoubt = old.verdict === "fail" && now.verdict === "unproven";
  const direction = (RANKS[now.verdict] ?? 0) - (RANKS[old.verdict] ?? 0);
  if (!isOnlyDoubt) judge(direction, text);
  if (old.containmentBroken !== now.containmentBroken) {
    judge(
      now.containmentBroken ? -1 : 1,
      now.containmentBroken
        ? "something outside the lab was changed, which was not so before"
        : "nothing outside the lab was changed any more",
    );
  }
  return now.verdict === "unproven";
}

/** Name, before, after, and 1 where more is better or -1 where less is. Unknown counts stay out. */
function countsOf(old: RunFigures, now: RunFigures): [string, number, number, 1 | -1][] {
  const rows: [string, number | null, number | null, 1 | -1][] = [
    ["whole outputs", old.outputsWhole, now.outputsWhole, 1],
    ["outputs too many", old.outputsExtra, now.outputsExtra, -1],
    ["finished outputs made again or lost", old.rewritten, now.rewritten, -1],
    ["effects that happened twice", old.doubled, now.doubled, -1],
    ["effects that never happened", old.missed, now.missed, -1],
  ];
  return rows.flatMap(([name, was, is, sign]): [string, number, number, 1 | -1][] =>
    was === null || is === null ? [] : [[name, was, is, sign]]
  );
}

/** Two fails can differ in what else was wrong. */
function judgeChecks(before: GradedRun, after: GradedRun, judge: Judge): void {
  if (before.grade.verdict !== "fail" || after.grade.verdict !== "fail") return;
  const badIn = ({ grade }: GradedRun) =>
    new Map(grade.checks.filter((check) => check.state === "bad").map((each) => [each.id, each]));
  const stateIn = ({ grade }: GradedRun, id: string) => {
    const states = grade.checks.filter((check) => check.id === id).map((check) => check.state);
    return states.includes("unknown") ? "unknown" : states[0] ?? "ok";
  };
  const old = badIn(before);
  const now = badIn(after);
  for (const [id, { text }] of now) if (!old.has(id)) judge(-1, `new: ${text}`);
  for (const [id, { text }] of old) {
    if (!now.has(id) && stateIn(after, id) !== "unknown") judge(1, `no longer: ${text}`);
  }
}

/** Times are judged only where both recoveries are right and began at the same point. */
function judgeTime(before: GradedRun, after: GradedRun, judge: Judge): string[] {
  const was = before.record.recoveryMs;
  const is = after.record.recoveryMs;
  if (was === null || is === null) return [];
  if (before.grade.verdict !== "pass" || after.grade.verdict !== "pass") return [];
  const [left, right] = [before.record, after.record].map(outputsAtFault);
  if (left !== right) {
    return [
      `the failure struck when ${left} output(s) were there, now when ${right} were: the recovery ` +
      "times cannot be compared",
    ];
  }
  const { tool } = before.record;
  if (tool.os !== after.record.tool.os || tool.arch !== after.record.tool.arch) {
    return ["the machines differ: the recovery times cannot be compared"];
  }
  const isBeyondChance = Math.max(was, is) > Math.min(was, is) * TIME_FACTOR &&
    Math.abs(was - is) > TIME_MS_MIN;
  const seconds = (ms: number) => `${(ms / 1000).toFixed(2)} s`;
  if (isBeyondChance) judge(was - is, `recovery time: ${seconds(was)} -> ${seconds(is)}`);
  return [];
}

/** How many outputs were there when the failure struck. */
export function outputsAtFault(record: RunRecord): number {
  return record.artifactsAtFault.length;
}

function figuresOf({ record, grade }: GradedRun): RunFigures {
  const { contract, artifacts, effects } = record;
  const isWhole = (artifact: Artifact) =>
    artifact.problems.length === 0 && (artifact.bytes > 0 || contract.emptyAllowed);
  const whole = artifacts.filter(isWhole).length;
  return {
    verdict: grade.verdict,
    reason: grade.reason,
    recoveryMs: record.recoveryMs,
    // Those beyond the number are no gain; they count by themselves.
    outputsWhole: Math.min(whole, contract.count ?? whole),
    outputsWanted: contract.count,
    outputsExtra: Math.max(0, artifacts.length - (contract.count ?? artifacts.length)),
    rewritten: rewrittenIn(record),
    doubled: effects?.doubled.length ?? null,
    missed: effects?.missing.length ?? null,
    containmentBroken: grade.containmentBroken,
  };
}

function rewrittenIn(record: RunRecord): number | null {
  if (record.attempts.length === 0) return null;
  const was = new Map(record.artifactsAtFault.map((artifact) => [artifact.path, artifact]));
  const is = new Map(record.artifacts.map((artifact) => [artifact.path, artifact]));
  return record.finishedAtFault.filter((path) => {
    const old = was.get(path);
    const now = is.get(path);
    return old === undefined || now === undefined || old.sha256 !== now.sha256 ||
      isRewritten(old, now);
  }).length;
}

function outputChanges(before: readonly Artifact[], after: readonly Artifact[]): OutputChanges {
  const old = new Map(before.map((artifact) => [artifact.path, artifact.sha256]));
  const now = new Map(after.map((artifact) => [artifact.path, artifact.sha256]));
  return {
    gone: [...old.keys()].filter((path) => !now.has(path)),
    added: [...now.keys()].filter((path) => !old.has(path)),
    otherContent: [...now].filter(([path, sha256]) => old.has(path) && old.get(path) !== sha256)
      .map(([path]) => path),
  };
}

/**
 * What the reports say about one run, worked out once, so that every format says the same.
 *
 * Texts made here still hold whatever file names and job output hold: each format escapes them.
 *
 * @module
 */
import type { Artifact, KillRecord, PhaseRecord, RunSet } from "../record.ts";
import type { Verdict } from "../verdict.ts";
import { formatDuration, plural, shortened } from "./text.ts";

/** One run of a set: its record, its grade, and what was expected of it. */
export type Run = RunSet["runs"][number];

/** What every report says next to the watch list. */
export const NOT_A_SANDBOX: string =
  "This is observation, not a sandbox: it shows what changed, it does not stop a program from " +
  "changing it.";

/** The verdicts as reports print them. */
export const VERDICT_WORDS: Record<Verdict, string> = {
  "pass": "PASS",
  "fail": "FAIL",
  "unproven": "UNPROVEN",
  "not-applicable": "NOT APPLICABLE",
};

/** What each verdict means, in one sentence. */
export const VERDICT_MEANINGS: Record<Verdict, string> = {
  "pass": "The failure happened, and the work was finished exactly once.",
  "fail": "The failure happened, and the recovery was not right.",
  "unproven": "Something could not be shown, so this is not a pass.",
  "not-applicable": "This failure cannot be done with what the contract declares.",
};

/** One run in the words of a table. */
export interface RunFacts {
  /** For example `03-torn-checkpoint, cut-utf8, repaired`. */
  title: string;
  verdict: Verdict;
  /** Why, in one sentence. */
  reason: string;
  /** `yes`, `no` or `switched off`, and what shows it in a few words. */
  delivered: string;
  /** `3 processes, proven`. */
  killed: string;
  /** How the last resume ended: `exit 0`, `SIGKILL`, or `-` when there was none. */
  resumeExit: string;
  /** Outputs that are there and pass every check. */
  artifactsWhole: number;
  /** `6/6`, or `6/?` when the contract does not say how many there should be. */
  artifacts: string;
  /** Finished outputs that were changed, rewritten or lost after it; `null` without a recovery. */
  rewritten: number | null;
  /** Effects that happened more than once; `null` when the contract declares no effects. */
  doubled: number | null;
  recoveryMs: number | null;
  /** Expectation of the answer key, when there is one and it was not met. */
  unexpected: string | null;
}

function title({ record }: Run): string {
  const parts = [record.kind === "rehearsal" ? "rehearsal" : record.subject];
  if (record.fault.variant !== null) parts.push(record.fault.variant);
  if (record.half !== null) parts.push(record.half);
  // The kill points of a sweep differ in nothing else.
  if (typeof record.options.point === "string") parts.push(record.options.point);
  if (!record.fault.armed) parts.push("failure switched off");
  return parts.join(", ");
}

/** A value of evidence in a few words. */
export function evidenceText(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value) && value.every((each) => typeof each !== "object")) {
    return value.join(", ");
  }
  return JSON.stringify(value) ?? "";
}

function delivered({ record }: Run): string {
  const { fault } = record;
  if (!fault.armed) return "switched off";
  if (!fault.delivered) return "not shown";
  const [first] = fault.evidence;
  if (first === undefined) return "not shown";
  const value = first.value === true ? "" : evidenceText(first.value);
  return `yes: ${shortened(value === "" ? first.what : `${first.what}: ${value}`, 70)}`;
}

/** Whether the three witnesses agree that nothing is left. */
export function isKillProven(kill: KillRecord): boolean {
  const { groupEmpty, markerEmpty, pipesClosed } = kill.witnesses;
  return groupEmpty === true && markerEmpty === true && pipesClosed === true &&
    kill.survivors.length === 0 && kill.processes.length > 0;
}

function killed({ record }: Run): string {
  if (record.kill === null) return "not looked at";
  const count = plural(record.kill.processes.length, "process", "processes");
  if (record.kill.survivors.length > 0) {
    return `${count}, ${record.kill.survivors.length} still alive`;
  }
  return `${count}, ${isKillProven(record.kill) ? "proven" : "not proven"}`;
}

/** How a command ended, in two or three words. */
export function phaseEnding(phase: PhaseRecord): string {
  if (phase.startError !== null) return "did not start";
  if (phase.limitHit !== null) return `${phase.limitHit} limit`;
  if (phase.signal !== null) return phase.signal;
  return phase.exitCode === null ? "end not seen" : `exit ${phase.exitCode}`;
}

function isWhole(artifact: Artifact, run: Run): boolean {
  if (artifact.problems.length > 0) return false;
  return artifact.bytes > 0 || run.record.contract.emptyAllowed;
}

function rewrittenCount({ record }: Run): number | null {
  if (record.attempts.length === 0) return null;
  const before = new Map(record.artifactsAtFault.map((artifact) => [artifact.path, artifact]));
  const after = new Map(record.artifacts.map((artifact) => [artifact.path, artifact]));
  return record.finishedAtFault.filter((path) => {
    const was = before.get(path);
    const is = after.get(path);
    return was === undefined || is === undefined || was.sha256 !== is.sha256 ||
      was.inode !== is.inode || was.mtimeMs !== is.mtimeMs;
  }).length;
}

function unexpected({ expected, grade }: Run): string | null {
  if (expected === null || expected.met) return null;
  const wanted = expected.reasonId === null
    ? expected.verdict
    : `${expected.verdict} (${expected.reasonId})`;
  const got = grade.reasonId === null ? grade.verdict : `${grade.verdict} (${grade.reasonId})`;
  return `The answer key expects ${wanted}; this run gave ${got}`;
}

/** Works out what the reports say about one run. */
export function factsOf(run: Run): RunFacts {
  const { record, grade } = run;
  const resume = record.attempts.filter((attempt) => attempt.purpose === "resume").at(-1);
  const artifactsWhole = record.artifacts.filter((artifact) => isWhole(artifact, run)).length;
  return {
    title: title(run),
    verdict: grade.verdict,
    reason: grade.reason,
    delivered: delivered(run),
    killed: killed(run),
    resumeExit: resume === undefined ? "-" : phaseEnding(resume.phase),
    artifactsWhole,
    artifacts: `${artifactsWhole}/${record.contract.count ?? "?"}`,
    rewritten: rewrittenCount(run),
    doubled: record.effects === null ? null : record.effects.doubled.length,
    recoveryMs: record.recoveryMs,
    unexpected: unexpected(run),
  };
}

/** The numbers of a run as cells of a table, from "delivered" to "recovery time". */
export function runCells(run: Run): string[] {
  const facts = factsOf(run);
  const cells = [
    facts.delivered,
    facts.killed,
    facts.resumeExit,
    facts.artifacts,
    facts.rewritten === null ? "-" : String(facts.rewritten),
    // Without an effects file nobody can tell, and 0 would be a promise.
    facts.doubled === null ? "not declared" : String(facts.doubled),
    facts.recoveryMs === null ? "-" : formatDuration(facts.recoveryMs),
  ];
  return run.record.notApplicable === null ? cells : cells.map(() => "-");
}

/** Headings of {@linkcode runCells}. */
export const RUN_HEADINGS: readonly string[] = [
  "delivered",
  "killed",
  "resume",
  "outputs",
  "rewritten",
  "doubled",
  "recovery time",
];

/** What became of the watch lists of all runs together. */
export interface WatchFacts {
  /** Watched places, by path; files and bytes of the largest look. */
  watched: { path: string; files: number; bytes: number; incomplete: string | null }[];
  /** Changes, each with the run in which it was seen. */
  changes: { run: string; path: string; change: string }[];
  /** Runs in which the file beside the workspace was changed. */
  sentinelBroken: string[];
  /** Runs in which nobody looked both before and after. */
  notObserved: string[];
  excluded: string[];
  /** The result in one sentence. */
  sentence: string;
  isClean: boolean;
}

/** Works out what became of the watch list over all runs of a set. */
export function watchFactsOf(runs: readonly Run[]): WatchFacts {
  const watched = new Map<string, WatchFacts["watched"][number]>();
  const facts: Omit<WatchFacts, "watched" | "sentence" | "isClean" | "excluded"> = {
    changes: [],
    sentinelBroken: [],
    notObserved: [],
  };
  const excluded = new Set<string>();
  for (const run of runs) {
    const { containment } = run.record;
    const name = title(run);
    if (containment === null || !containment.observedBefore || !containment.observedAfter) {
      // A replay that was not done has nothing to observe.
      if (run.record.notApplicable === null) facts.notObserved.push(name);
    }
    if (containment === null) continue;
    for (const place of containment.watched) {
      const known = watched.get(place.path);
      watched.set(place.path, {
        path: place.path,
        files: Math.max(place.files, known?.files ?? 0),
        bytes: Math.max(place.bytes, known?.bytes ?? 0),
        incomplete: place.incomplete ?? known?.incomplete ?? null,
      });
    }
    for (const path of containment.excluded) excluded.add(path);
    for (const { path, change } of containment.changes) {
      facts.changes.push({ run: name, path, change });
    }
    if (containment.sentinelIntact === false) facts.sentinelBroken.push(name);
  }
  const places = [...watched.values()];
  const problem = watchProblem(facts, places);
  return {
    ...facts,
    watched: places,
    excluded: [...excluded],
    isClean: problem === null,
    sentence: problem ?? watchedSentence(places),
  };
}

function watchProblem(
  facts: Pick<WatchFacts, "changes" | "sentinelBroken" | "notObserved">,
  places: WatchFacts["watched"],
): string | null {
  const { changes, sentinelBroken, notObserved } = facts;
  const parts: string[] = [];
  if (changes.length > 0) parts.push(`${plural(changes.length, "change")} outside the lab`);
  if (sentinelBroken.length > 0) parts.push("the file beside the workspace was changed");
  if (notObserved.length > 0) {
    parts.push(`${plural(notObserved.length, "run")} without a look before and after`);
  }
  if (places.length === 0) parts.push("nothing was watched");
  const incomplete = places.filter((place) => place.incomplete !== null).length;
  if (incomplete > 0) parts.push(`${plural(incomplete, "place")} could not be watched completely`);
  return parts.length === 0 ? null : `${parts.join("; ")}.`;
}

function watchedSentence(places: WatchFacts["watched"]): string {
  const files = places.reduce((sum, place) => sum + place.files, 0);
  return `${plural(places.length, "place")} with ${
    plural(files, "file")
  } hashed before and after: ` +
    "nothing changed.";
}

/** What a set of runs says at its top: the sentence under its verdict. */
export function setSentence(runSet: RunSet): string {
  if (runSet.runs.length === 0) return "No run was finished, so nothing was shown.";
  const expectations = runSet.runs.filter((run) => run.expected !== null);
  const unmet = expectations.filter((run) => run.expected?.met === false).length;
  const counts = new Map<string, number>();
  for (const { grade } of runSet.runs) {
    counts.set(grade.verdict, (counts.get(grade.verdict) ?? 0) + 1);
  }
  const words = [...counts].map(([verdict, count]) => `${count} ${verdict.replaceAll("-", " ")}`);
  const key = expectations.length === 0
    ? ""
    : unmet === 0
    ? ", all as the answer key expects"
    : `, ${unmet} not as the answer key expects`;
  return `${plural(runSet.runs.length, "run")}: ${words.join(", ")}${key}.`;
}

/**
 * Impossible evidence is refused: a record whose parts contradict each other was damaged or made
 * up, or the lab has a defect, and in all these cases it proves nothing.
 *
 * @module
 */
import { EMPTY_SHA256 } from "./grader_checks.ts";
import type { Artifact, Check, PhaseRecord, RunRecord } from "./record.ts";

/** Times come from several looks and may be rounded. */
const ROUNDING_MS = 20;

/** Checks that a record can be true. */
export function possibleCheck(record: RunRecord): Check {
  const contradiction = phaseContradiction(record) ?? orderContradiction(record) ??
    timeContradiction(record) ??
    faultContradiction(record) ?? fileContradiction(record) ?? effectContradiction(record) ??
    contractContradiction(record);
  return {
    id: "record-possible",
    state: contradiction === null ? "ok" : "unknown",
    text: contradiction === null
      ? "The record does not contradict itself"
      : `The record contradicts itself, so it proves nothing: ${contradiction}`,
  };
}

/** The commands whose times count from the start of this run, with a name for each. */
function phasesOf(record: RunRecord): [string, PhaseRecord][] {
  return [
    ...(record.start === null ? [] : [["the start", record.start] as [string, PhaseRecord]]),
    ...record.attempts.map(({ purpose, phase }) => [purpose, phase] as [string, PhaseRecord]),
  ];
}

function phaseContradiction(record: RunRecord): string | null {
  const all = phasesOf(record);
  if (record.control !== null) all.push(["the control run", record.control.phase]);
  for (const [name, phase] of all) {
    const { startedMs, endedMs, exitCode, signal, startError } = phase;
    if (endedMs !== null && endedMs < startedMs) return `${name} ended before it started`;
    if (exitCode !== null && signal !== null) {
      return `${name} ended with an exit code and by a signal`;
    }
    const hasEnding = exitCode !== null || signal !== null;
    if (hasEnding && endedMs === null) return `${name} ended, but at no time`;
    if (hasEnding && startError !== null) return `${name} ended, but could not be started`;
  }
  return null;
}

/** A recovery follows what it recovers from, and a second one follows the first. */
function orderContradiction({ kind, start, attempts }: RunRecord): string | null {
  const startedMs = kind === "drill" || start === null ? 0 : start.startedMs;
  const early = attempts.find(({ phase }) => phase.startedMs < startedMs - ROUNDING_MS);
  if (early !== undefined) return `${early.purpose} started before the job itself`;
  const first = attempts.findLast((attempt) => attempt.purpose === "resume")?.phase.endedMs ?? 0;
  return attempts.some(({ purpose, phase }) =>
      purpose === "resume-again" && phase.startedMs < first - ROUNDING_MS
    )
    ? "resume-again started before the recovery had ended"
    : null;
}

function timeContradiction(record: RunRecord): string | null {
  const { startedAt, endedAt, cost, quiet, fault, recoveryMs } = record;
  const overMs = cost.wallMs + ROUNDING_MS;
  if (endedAt !== null && Date.parse(endedAt) < Date.parse(startedAt)) {
    return `it ended at ${endedAt}, before it started at ${startedAt}`;
  }
  const late = phasesOf(record).find(([, { startedMs, endedMs }]) =>
    Math.max(startedMs, endedMs ?? 0) > overMs
  );
  if (late !== undefined) return `${late[0]} ran when the whole run was over (${cost.wallMs} ms)`;
  const kills = [record.kill, ...record.attempts.map(({ kill }) => kill)];
  if (
    kills.some((kill) =>
      [kill?.elapsedMs ?? 0, ...kill?.signals.map((each) => each.atMs) ?? []]
        .some((ms) => ms > overMs)
    )
  ) return "processes were ended when the whole run was over";
  if ((quiet?.observedMs ?? 0) > overMs) return "the quiet period is longer than the whole run";
  if (recoveryMs === null) return null;
  if (fault.provenAtMs === null) return "recovery is timed from a failure that was never proven";
  const wholeAtMs = fault.provenAtMs + recoveryMs;
  if (wholeAtMs > overMs) {
    return `recovery took until ${wholeAtMs} ms, but the whole run took ${cost.wallMs} ms`;
  }
  const beganMs = Math.min(...record.attempts.map(({ phase }) => phase.startedMs));
  return Number.isFinite(beganMs) && wholeAtMs < beganMs - ROUNDING_MS
    ? "the work was whole before the recovery began"
    : null;
}

function faultContradiction(record: RunRecord): string | null {
  const { fault, start, kind, attempts } = record;
  if (!fault.delivered || fault.provenAtMs === null) return null;
  if (fault.provenAtMs > record.cost.wallMs + ROUNDING_MS) {
    return "the failure was proven when the whole run was over";
  }
  const last = attempts.findLast((attempt) => attempt.purpose === "resume")?.phase.endedMs ?? null;
  if (last !== null && fault.provenAtMs > last + ROUNDING_MS) {
    return "the failure was proven only after the recovery had ended";
  }
  // A drill makes its own job, and may let the failure be there before it.
  if (kind === "drill") return null;
  if (start === null || start.startError !== null) return "a job that never ran was made to fail";
  return fault.provenAtMs < start.startedMs - ROUNDING_MS
    ? "the failure was proven before the job had started"
    : null;
}

function fileContradiction(record: RunRecord): string | null {
  const lists: [string, readonly Artifact[]][] = [
    ["at the failure", record.artifactsAtFault],
    ["at the end", record.artifacts],
    ["of the control run", record.control?.artifacts ?? []],
    ...record.attempts.flatMap((attempt): [string, readonly Artifact[]][] => [
      [`before ${attempt.purpose}`, attempt.artifactsBefore],
      [`after ${attempt.purpose}`, attempt.artifactsAfter],
    ]),
  ];
  const bytesOf = new Map([[EMPTY_SHA256, 0]]);
  for (const [when, list] of lists) {
    if (new Set(list.map((each) => each.path)).size < list.length) {
      return `one output is listed twice among those ${when}`;
    }
    // What could not be read has no hash of its own.
    for (const { path, sha256, bytes, problems } of list) {
      if (problems.length > 0) continue;
      const known = bytesOf.get(sha256) ?? bytes;
      bytesOf.set(sha256, known);
      if (known !== bytes || (bytes === 0 && sha256 !== EMPTY_SHA256)) {
        return `"${path}" ${when} has ${bytes} bytes and the hash of another length`;
      }
    }
  }
  const finished = new Set(record.finishedAtFault);
  if (finished.size < record.finishedAtFault.length) return "one output is called finished twice";
  const half = record.artifactsAtFault.find((each) =>
    finished.has(each.path) && each.problems.length > 0
  );
  return half === undefined ? null : `"${half.path}" is called finished, but ${half.problems[0]}`;
}

function effectContradiction({ effects }: RunRecord): string | null {
  if (effects === null) return null;
  const more = effects.doubled.reduce((sum, { count }) => sum + count - 1, 0);
  return effects.doubled.length > effects.keys ||
      effects.keys + more + effects.unreadable !== effects.total
    ? `${effects.total} effects are not what is said about them`
    : null;
}

/** What is graded by must be what the user declared. */
function contractContradiction(record: RunRecord): string | null {
  const { kind, half, contract, control, controlSkipped } = record;
  const { declared } = contract;
  if (control !== null && controlSkipped !== null) return "a control run was made and left out";
  if ((kind === "drill") !== (half !== null)) return "a drill has halves, and nothing else has";
  if (kind === "drill" || !isObject(declared) || !isObject(declared.artifacts)) return null;
  if (declared.control === true && control === null && controlSkipped !== null) {
    return "the control run was left out, although it was declared";
  }
  const { count, emptyAllowed, ...checks } = declared.artifacts;
  if ((count ?? null) !== contract.count) return "it is graded by another count than declared";
  if ((emptyAllowed ?? false) !== contract.emptyAllowed) {
    return "it is graded by another emptyAllowed than declared";
  }
  const lost = ["minBytes", "endsWith", "sameAsControl", "check"].find((name) =>
    checks[name] !== undefined && checks[name] !== false && !contract.contentChecks.includes(name)
  );
  return lost === undefined ? null : `the declared content check "${lost}" was not done`;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * The grader's checks on the outputs that a run leaves, and on the quiet period after "success".
 *
 * @module
 */
import { firstTouched, isRewritten } from "./grader_checks.ts";
import type { Artifact, Check, RunRecord } from "./record.ts";

export { isRewritten } from "./grader_checks.ts";

/** Outputs that differ from run to run still have about the length of the control run's. */
export const WHOLE_SHARE = 0.9;

/** Checks the final state of a record's outputs. */
export function artifactChecks(record: RunRecord): Check[] {
  return [
    countCheck(record),
    ...namesCheck(record),
    contentCheck(record),
    ...comparableCheck(record),
    // Who writes after "success" explains more than that a finished file changed.
    quietCheck(record),
    untouchedCheck(record),
    tornCheck(record),
    recoveryTimeCheck(record),
  ];
}

function countCheck(record: RunRecord): Check {
  const { count } = record.contract;
  const paths = record.artifacts.map((artifact) => artifact.path);
  const twice = firstDouble(paths);
  if (twice !== undefined) {
    return {
      id: "artifacts-once",
      state: "bad",
      text: `The record lists "${twice}" twice; one file cannot be there twice`,
    };
  }
  if (count === null || count === 0) {
    return {
      id: "artifacts-declared",
      state: "unknown",
      text: "The contract does not say how many outputs a finished run leaves, so nothing can be " +
        'proven. Add "artifacts": {"count": N}',
    };
  }
  const found = paths.length;
  return {
    id: found < count ? "artifacts-complete" : "artifacts-once",
    state: found === count ? "ok" : "bad",
    text: found === count
      ? `All ${count} outputs are there, each once`
      : found < count
      ? `${count - found} of ${count} outputs are missing${naming(missingPaths(record))}`
      : `${found} outputs instead of ${count}: something was done twice or under another name` +
        naming(extraPaths(record)),
  };
}

function firstDouble(paths: readonly string[]): string | undefined {
  const seen = new Set<string>();
  return paths.find((path) => seen.size === seen.add(path).size);
}

function naming(paths: readonly string[]): string {
  return paths.length === 0 ? "" : `: ${paths.slice(0, 3).join(", ")}`;
}

/** Outputs of the control run that are not there. */
function missingPaths(record: RunRecord): string[] {
  const have = new Set(record.artifacts.map((artifact) => artifact.path));
  return (record.control?.artifacts ?? []).map((each) => each.path)
    .filter((path) => !have.has(path));
}

/** Outputs that the control run did not make. */
function extraPaths(record: RunRecord): string[] {
  if (record.control === null) return [];
  const known = new Set(record.control.artifacts.map((artifact) => artifact.path));
  return record.artifacts.map((each) => each.path).filter((path) => !known.has(path));
}

/**
 * The right number of outputs can hide one that was made twice under two names while another is
 * missing. Where the failed run used the control run's names, so must the end.
 */
function namesCheck(record: RunRecord): Check[] {
  const [missing] = missingPaths(record);
  const [extra] = extraPaths(record);
  if (missing === undefined || extra === undefined) return [];
  const names = new Set(record.control?.artifacts.map((artifact) => artifact.path));
  const { artifactsAtFault } = record;
  const isStable = artifactsAtFault.length > 0 &&
    artifactsAtFault.every((artifact) => names.has(artifact.path));
  return isStable
    ? [{
      id: "artifacts-named",
      state: "unknown",
      text: `"${extra}" is there, which the control run did not make, and "${missing}" is not: ` +
        "perhaps one output was made twice and the other one not at all",
    }]
    : [];
}

function contentCheck(record: RunRecord): Check {
  const { contentChecks, emptyAllowed } = record.contract;
  const { control } = record;
  const hashes = new Map(control?.artifacts.map((each) => [each.path, each.sha256]) ?? []);
  const compare = control !== null && contentChecks.includes("sameAsControl");
  const problemOf = (artifact: Artifact): string | undefined => {
    if (artifact.problems[0] !== undefined) return artifact.problems[0];
    if (artifact.bytes === 0 && !emptyAllowed) return "it is empty";
    if (!compare || hashes.get(artifact.path) === artifact.sha256) return undefined;
    return hashes.has(artifact.path)
      ? "it differs from the control run's"
      : "the control run did not make it";
  };
  const bad = record.artifacts.find((artifact) => problemOf(artifact) !== undefined);
  const on = [...(emptyAllowed ? [] : ["not empty"]), ...contentChecks].join(", ") || "none";
  return {
    id: "artifacts-whole",
    state: bad === undefined ? "ok" : "bad",
    text: bad === undefined
      ? `Every output passes the content checks that are on (${on})`
      : `"${bad.path}" is not whole: ${problemOf(bad)}`,
  };
}

function comparableCheck({ contract, control }: RunRecord): Check[] {
  return control === null && contract.contentChecks.includes("sameAsControl")
    ? [{
      id: "artifacts-comparable",
      state: "unknown",
      text: "The outputs must be the same as the control run's, but there was no control run",
    }]
    : [];
}

/** Work that was finished when the failure struck must be there as it was, byte for byte. */
function untouchedCheck(record: RunRecord): Check {
  const before = new Map(record.artifactsAtFault.map((artifact) => [artifact.path, artifact]));
  const after = new Map(record.artifacts.map((artifact) => [artifact.path, artifact]));
  const unheard = record.finishedAtFault.find((path) => !before.has(path));
  if (unheard !== undefined) {
    return {
      id: "finished-untouched",
      state: "bad",
      text: `The record calls "${unheard}" finished but does not hold it; it contradicts itself`,
    };
  }
  const finished = record.finishedAtFault.flatMap((path) => before.get(path) ?? []);
  const changed = finished.find((old) => after.get(old.path)?.sha256 !== old.sha256);
  if (changed !== undefined) {
    return {
      id: "finished-untouched",
      state: "bad",
      text: after.has(changed.path)
        ? `"${changed.path}" was finished before the failure and has other content now`
        : `"${changed.path}" was finished before the failure and is gone now`,
    };
  }
  const rewritten = finished.filter((old) => isRewritten(old, after.get(old.path)));
  const first = rewritten[0];
  return {
    id: first === undefined ? "finished-untouched" : "finished-rewritten",
    state: first === undefined ? "ok" : "bad",
    text: first === undefined
      ? `The ${finished.length} output(s) that were finished before the failure are untouched`
      : `${rewritten.length} output(s) that were finished before the failure were made again, ` +
        `the first is "${first.path}"`,
  };
}

/**
 * A file that lay there when the failure struck and was never touched again: whole or half, nobody
 * can tell unless it is as long as the control run's, or something vouches for it.
 */
function tornCheck(record: RunRecord): Check {
  const control = new Map(record.control?.artifacts.map((each) => [each.path, each]) ?? []);
  const atFault = new Map(record.artifactsAtFault.map((each) => [each.path, each.sha256]));
  const finished = new Set(record.finishedAtFault);
  const isDoubtful = (artifact: Artifact) => {
    if (atFault.get(artifact.path) !== artifact.sha256) return false;
    const whole = control.get(artifact.path);
    return whole === undefined ? !finished.has(artifact.path) : artifact.bytes < whole.bytes;
  };
  const doubtful = record.artifacts.filter(isDoubtful);
  const others = record.artifacts.filter((artifact) => !doubtful.includes(artifact));
  const suspect = doubtful.find((artifact) =>
    !isVouchedFor(record, others, artifact, control.get(artifact.path))
  );
  const isMarked = record.endMarkRepeats === true && suspect !== undefined &&
    record.contract.contentChecks.includes("endsWith");
  return {
    id: "artifacts-not-torn",
    state: suspect === undefined ? "ok" : "unknown",
    text: suspect === undefined
      ? "No output that the failure interrupted was left as it was"
      : `"${suspect.path}" is as the failure left it` +
        (control.has(suspect.path) ? " and shorter than in the control run" : "") +
        ": it may be half a file. " +
        (isMarked
          ? 'The text of "endsWith" stands in the middle of outputs as well, so it does not show ' +
            'their end. Declare "check" or "sameAsControl"'
          : 'Declare how a whole one looks: "endsWith", "check" or "sameAsControl"'),
  };
}

/**
 * Whether a declared check tells a half file from a whole one. A least size does not. An end mark
 * does, but not against the evidence: where all other outputs are the control run's to the byte,
 * the only one that is shorter is half a file that happens to end with the mark; and a mark that
 * stands in the middle of outputs as well says nothing of one that is clearly too short.
 */
function isVouchedFor(
  record: RunRecord,
  others: readonly Artifact[],
  artifact: Artifact,
  whole: Artifact | undefined,
): boolean {
  const { contentChecks } = record.contract;
  if (contentChecks.some((name) => name !== "minBytes" && name !== "endsWith")) return true;
  if (!contentChecks.includes("endsWith")) return false;
  if (record.endMarkRepeats === true && artifact.bytes < WHOLE_SHARE * (whole?.bytes ?? Infinity)) {
    return false;
  }
  const control = new Map(record.control?.artifacts.map((each) => [each.path, each.sha256]) ?? []);
  return others.length === 0 ||
    others.some((artifact) => control.get(artifact.path) !== artifact.sha256);
}

function quietCheck(record: RunRecord): Check {
  const { quiet, attempts } = record;
  const id = "quiet-after-success";
  const changed = quiet?.changed[0] ?? changedUnseen(record);
  if (changed !== null) {
    return {
      id,
      state: "bad",
      text: `"${changed.path}" changed after the recovery had reported success` +
        (changed.by === null ? "" : `; the writer is ${changed.by}`),
    };
  }
  if (quiet === null || quiet.observedMs === 0) {
    return {
      id,
      state: attempts.length === 0 ? "skipped" : "unknown",
      text: "Nobody looked whether the outputs stay as they are after the recovery",
    };
  }
  return {
    id,
    state: "ok",
    text: "Nothing changed any more after the recovery said that it was done",
  };
}

/** An output that differs between two looks after the recovery, between which nothing was run. */
function changedUnseen({ attempts, artifacts }: RunRecord): { path: string; by: null } | null {
  const since = attempts.slice(attempts.findLastIndex((each) => each.purpose === "resume"));
  for (const [i, attempt] of since.entries()) {
    const touched = firstTouched(
      attempt.artifactsAfter,
      since[i + 1]?.artifactsBefore ?? artifacts,
    );
    if (touched !== null) return { path: touched.path, by: null };
  }
  return null;
}

function recoveryTimeCheck(record: RunRecord): Check {
  const measured = record.recoveryMs !== null;
  return {
    id: "recovery-measured",
    state: measured || !record.fault.delivered ? (measured ? "ok" : "skipped") : "unknown",
    text: measured
      ? `Recovery took ${((record.recoveryMs ?? 0) / 1000).toFixed(2)} s from the proven failure`
      : "No recovery time was measured",
  };
}

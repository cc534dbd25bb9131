/**
 * The grader's checks on the outputs that a run leaves, and on the quiet period after "success".
 *
 * @module
 */
import { firstTouched, isRewritten } from "./grader_checks.ts";
import {
  appendedCheck,
  comparableCheck,
  contentCheck,
  repeatableCheck,
  tornCheck,
  WHOLE_SHARE,
} from "./grader_contents.ts";
import type { Artifact, Check, RunRecord } from "./record.ts";

export { isRewritten } from "./grader_checks.ts";

/** Checks the final state of a record's outputs. */
export function artifactChecks(record: RunRecord): Check[] {
  return [
    countCheck(record),
    ...namesCheck(record),
    contentCheck(record),
    ...comparableCheck(record),
    ...repeatableCheck(record),
    ...appendedCheck(record),
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
  const id = "artifacts-named";
  if (isStable) {
    return [{
      id,
      state: "unknown",
      text: `"${extra}" is there, which the control run did not make, and "${missing}" is not: ` +
        "perhaps one output was made twice and the other one not at all",
    }];
  }
  const twice = contentTwice(record);
  return twice === null ? [] : [{
    id,
    state: "unknown",
    text:
      `"${twice[0]}" and "${twice[1]}" have the same content, which the control run made only ` +
      "once, and another content of the control run is missing: perhaps one output was made twice",
  }];
}

/** Two outputs of one content that stands in for another one; where names differ, contents tell. */
function contentTwice({ control, artifacts }: RunRecord): [string, string] | null {
  const wanted = control?.artifacts.map((artifact) => artifact.sha256) ?? [];
  const have = new Set(artifacts.map((artifact) => artifact.sha256));
  if (wanted.every((sha256) => have.has(sha256))) return null;
  const first = new Map<string, string>();
  for (const { path, sha256 } of artifacts) {
    const other = first.get(sha256);
    if (other === undefined) first.set(sha256, path);
    else if (wanted.filter((each) => each === sha256).length === 1) return [other, path];
  }
  return null;
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
  const doubt = first === undefined ? madeAgainInDoubt(record, before, after) : null;
  if (doubt !== null) return { id: "finished-untouched", state: "unknown", text: doubt };
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
 * Outputs that were made again although they may have been finished. With a single output there is
 * no other work that a recovery could leave alone.
 */
function madeAgainInDoubt(
  { likelyAtFault = [], finishedAtFault, control, contract }: RunRecord,
  before: ReadonlyMap<string, Artifact>,
  after: ReadonlyMap<string, Artifact>,
): string | null {
  const isAgain = (old: Artifact) => {
    const now = after.get(old.path);
    return now === undefined || now.sha256 !== old.sha256 || isRewritten(old, now);
  };
  const advice = 'Declare how a whole one looks: "endsWith", "check" or "sameAsControl"';
  const likely = likelyAtFault.find((path) => {
    const old = before.get(path);
    return old !== undefined && isAgain(old);
  });
  if (likely !== undefined) {
    return `"${likely}" was made again or removed, and was perhaps finished before the failure. ` +
      advice;
  }
  if (contract.count === 1 || finishedAtFault.length + likelyAtFault.length > 0) return null;
  const wholes = new Map(control?.artifacts.map((each) => [each.path, each.bytes]));
  const maybe = [...before.values()].filter(({ path, bytes, problems }) =>
    problems.length === 0 && bytes >= WHOLE_SHARE * (wholes.get(path) ?? 0)
  );
  const [first] = maybe;
  return first === undefined || !maybe.every(isAgain) ? null : "Every output that was there at " +
    `the failure was made again ("${first.path}"), and nobody knows whether it was finished. ${advice}`;
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

/**
 * The grader's checks on what a run leaves on disk: outputs, checkpoint, effects, and the quiet
 * period after "success".
 *
 * @module
 */
import { tri } from "./grader_checks.ts";
import type { Artifact, Check, RunRecord } from "./record.ts";

/** Checks the final state of a record. */
export function artifactChecks(record: RunRecord): Check[] {
  return [
    ...countChecks(record),
    contentCheck(record),
    untouchedCheck(record),
    tornCheck(record),
    quietCheck(record),
    ...checkpointChecks(record),
    ...effectChecks(record),
    recoveryTimeCheck(record),
  ];
}

function countChecks(record: RunRecord): Check[] {
  const { count } = record.contract;
  const paths = record.artifacts.map((artifact) => artifact.path);
  const twice = paths.find((path, i) => paths.indexOf(path) !== i);
  if (twice !== undefined) {
    return [{
      id: "artifacts-once",
      state: "bad",
      text: `The record lists "${twice}" twice; one file cannot be there twice`,
    }];
  }
  if (count === null || count === 0) {
    return [{
      id: "artifacts-declared",
      state: "unknown",
      text: "The contract does not say how many outputs a finished run leaves, so nothing can be " +
        'proven. Add "artifacts": {"count": N}',
    }];
  }
  const found = paths.length;
  const missing = missingPaths(record);
  return [{
    id: found < count ? "artifacts-complete" : "artifacts-once",
    state: found === count ? "ok" : "bad",
    text: found === count
      ? `All ${count} outputs are there, each once`
      : found < count
      ? `${count - found} of ${count} outputs are missing${missing}`
      : `${found} outputs instead of ${count}: something was done twice or under another name` +
        extraPaths(record),
  }];
}

function missingPaths(record: RunRecord): string {
  const have = new Set(record.artifacts.map((artifact) => artifact.path));
  const absent = (record.control?.artifacts ?? []).filter((artifact) => !have.has(artifact.path));
  return absent.length === 0 ? "" : `: ${absent.slice(0, 3).map((each) => each.path).join(", ")}`;
}

function extraPaths(record: RunRecord): string {
  if (record.control === null) return "";
  const known = new Set(record.control.artifacts.map((artifact) => artifact.path));
  const extra = record.artifacts.filter((artifact) => !known.has(artifact.path));
  return extra.length === 0 ? "" : `: ${extra.slice(0, 3).map((each) => each.path).join(", ")}`;
}

function contentCheck(record: RunRecord): Check {
  const { contentChecks, emptyAllowed } = record.contract;
  const control = new Map(record.control?.artifacts.map((each) => [each.path, each.sha256]) ?? []);
  const problemOf = (artifact: Artifact): string | undefined => {
    if (artifact.problems[0] !== undefined) return artifact.problems[0];
    if (artifact.bytes === 0 && !emptyAllowed) return "it is empty";
    const differs = contentChecks.includes("sameAsControl") &&
      control.get(artifact.path) !== artifact.sha256;
    return differs ? "it differs from the control run's" : undefined;
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

/** Whether a file was written again, although perhaps with the same content. */
export function isRewritten(before: Artifact, after: Artifact | undefined): boolean {
  return after !== undefined &&
    (before.inode !== after.inode || before.mtimeMs !== after.mtimeMs);
}

/**
 * A file that lay there when the failure struck, was never touched again, is shorter than the
 * control's, and that no content check vouches for: whole or half, nobody can tell.
 */
function tornCheck(record: RunRecord): Check {
  const control = new Map(record.control?.artifacts.map((each) => [each.path, each]) ?? []);
  const atFault = new Map(record.artifactsAtFault.map((each) => [each.path, each]));
  const suspect = record.contract.contentChecks.length > 0 ? undefined : record.artifacts.find(
    (artifact) => {
      const whole = control.get(artifact.path);
      return whole !== undefined && artifact.bytes < whole.bytes &&
        atFault.get(artifact.path)?.sha256 === artifact.sha256;
    },
  );
  return {
    id: "artifacts-not-torn",
    state: suspect === undefined ? "ok" : "unknown",
    text: suspect === undefined
      ? "No output that the failure interrupted was left as it was"
      : `"${suspect.path}" is as the failure left it and shorter than in the control run: it may ` +
        'be half a file. Declare how a whole one looks: "endsWith", "minBytes", "check" or ' +
        '"sameAsControl"',
  };
}

function quietCheck(record: RunRecord): Check {
  const { quiet } = record;
  if (quiet === null) {
    return {
      id: "quiet-after-success",
      state: record.attempts.length === 0 ? "skipped" : "unknown",
      text: "Nobody looked whether the outputs stay as they are after the recovery",
    };
  }
  const changed = quiet.changed[0] ?? changedSilently(record);
  return {
    id: "quiet-after-success",
    state: changed === undefined ? "ok" : "bad",
    text: changed === undefined
      ? "Nothing changed any more after the recovery said that it was done"
      : `"${changed.path}" changed after the recovery had reported success` +
        (changed.by === null ? "" : `; the writer is ${changed.by}`),
  };
}

/** Outputs that differ between the end of the last attempt and the final look. */
function changedSilently(record: RunRecord): { path: string; by: null } | undefined {
  const last = record.attempts.at(-1);
  if (last === undefined) return undefined;
  const final = new Map(record.artifacts.map((artifact) => [artifact.path, artifact.sha256]));
  const then = new Map(last.artifactsAfter.map((artifact) => [artifact.path, artifact.sha256]));
  const path = [...new Set([...final.keys(), ...then.keys()])]
    .find((each) => final.get(each) !== then.get(each));
  return path === undefined ? undefined : { path, by: null };
}

function checkpointChecks(record: RunRecord): Check[] {
  const { checkpoint } = record;
  if (checkpoint === null) return [];
  const inStep = !checkpoint.present
    ? null
    : checkpoint.parses === false || checkpoint.claimedAbsent.length > 0 ||
        checkpoint.unclaimedPresent.length > 0
    ? false
    : checkpoint.claims !== null && record.contract.count !== null
    ? checkpoint.claims === record.contract.count
    : checkpoint.parses;
  const why = checkpoint.problem ??
    (checkpoint.claimedAbsent.length > 0
      ? `it claims ${checkpoint.claimedAbsent.slice(0, 3).join(", ")}, which the disk does not hold`
      : checkpoint.unclaimedPresent.length > 0
      ? `it does not know of ${checkpoint.unclaimedPresent.slice(0, 3).join(", ")}`
      : `it claims ${checkpoint.claims} of ${record.contract.count}`);
  return [tri(
    "checkpoint-in-step",
    inStep,
    "The checkpoint agrees with the files on disk",
    `The checkpoint does not agree with the disk: ${why}`,
    checkpoint.present
      ? "The checkpoint could not be compared with the disk"
      : `There is no checkpoint at "${checkpoint.path}" at the end`,
  )];
}

function effectChecks(record: RunRecord): Check[] {
  const { effects } = record;
  if (effects === null) return [];
  const doubled = effects.doubled[0];
  const unsure = effects.unreadable > 0 || effects.unknown.length > 0;
  const expected = record.contract.count;
  const missing = effects.missing[0];
  return [
    {
      id: "effects-once",
      state: doubled === undefined ? "ok" : "bad",
      text: doubled === undefined
        ? `Each of the ${effects.keys} effects happened once`
        : `The effect "${doubled.key}" happened ${doubled.count} times`,
    },
    {
      id: "effects-complete",
      state: missing !== undefined ? "bad" : unsure ? "unknown" : "ok",
      text: missing !== undefined
        ? `The effect "${missing}" never happened`
        : unsure
        ? `Of ${effects.unknown.length + effects.unreadable} effect(s) nobody can say whether ` +
          `they happened: ${effects.unknown.slice(0, 3).join(", ") || "unreadable lines"}`
        : `No effect is missing${expected === null ? "" : ` (${effects.keys} seen)`}`,
    },
  ];
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

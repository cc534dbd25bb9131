/**
 * The grader's checks on what is in the outputs: by the declared checks, by the control run, and
 * whether the failure may have left half of one.
 *
 * @module
 */
import { declaredIn, isRewritten } from "./grader_checks.ts";
import type { Artifact, Check, RunRecord } from "./record.ts";

/** Outputs that differ from run to run still have about the length of the control run's. */
export const WHOLE_SHARE = 0.9;

/**
 * Where every output that was finished before the failure is the control run's to the byte, and
 * not one that was made after it, the recovery makes other outputs than the start does.
 */
export function repeatableCheck(record: RunRecord): Check[] {
  const { control, contract, artifacts, artifactsAtFault, finishedAtFault } = record;
  if (control === null || mayDiffer(contract)) return [];
  const whole = new Map(control.artifacts.map((artifact) => [artifact.path, artifact.sha256]));
  const old = new Map(artifactsAtFault.map((artifact) => [artifact.path, artifact.sha256]));
  const finished = new Set(finishedAtFault);
  const made = artifacts.filter(({ path, sha256 }) =>
    whole.has(path) && old.get(path) !== sha256 && !finished.has(path)
  );
  const isRepeated = finishedAtFault.length > 0 &&
    finishedAtFault.every((path) => whole.get(path) === old.get(path));
  if (!isRepeated || made.length < 2) return [];
  if (made.some(({ path, sha256 }) => whole.get(path) === sha256)) return [];
  return [{
    id: "artifacts-repeatable",
    state: "unknown",
    text:
      `All ${finishedAtFault.length} output(s) from before the failure are the control run's to ` +
      `the byte, and none of the ${made.length} that the recovery made is. Say whether they must ` +
      'be: "sameAsControl": true, or false',
  }];
}

/**
 * A recovery that begins anew behind what the failure left: then the output has the bytes that it
 * had at the failure and those of a whole one, or is clearly too long where all others are right.
 */
export function appendedCheck(record: RunRecord): Check[] {
  const { control, artifacts, artifactsAtFault } = record;
  if (control === null || record.contract.contentChecks.includes("sameAsControl")) return [];
  const wholes = new Map(control.artifacts.map((each) => [each.path, each]));
  const old = new Map(artifactsAtFault.map((each) => [each.path, each.bytes]));
  const isSame = ({ path, sha256 }: Artifact) => wholes.get(path)?.sha256 === sha256;
  const isOnlyOne = artifacts.length > 1 &&
    artifacts.filter(isSame).length === artifacts.length - 1;
  const long = artifacts.find((artifact) => {
    const whole = wholes.get(artifact.path);
    const oldBytes = old.get(artifact.path) ?? 0;
    if (whole === undefined || isSame(artifact)) return false;
    if (oldBytes === 0 || artifact.bytes <= oldBytes) return false;
    if (artifact.bytes === oldBytes + whole.bytes) return true;
    return isOnlyOne && artifact.bytes * WHOLE_SHARE > whole.bytes;
  });
  return long === undefined ? [] : [{
    id: "artifacts-not-appended",
    state: "unknown",
    text: `"${long.path}" has ${long.bytes} bytes; it had ${old.get(long.path)} at the failure, ` +
      `and a whole one has ${wholes.get(long.path)?.bytes}: perhaps a new one was written behind ` +
      'the half one. Declare "check" or "sameAsControl"',
  }];
}

/** Whether the user said that outputs may differ from run to run. */
function mayDiffer(contract: RunRecord["contract"]): boolean {
  // What must be the same is compared one by one elsewhere.
  return contract.contentChecks.includes("sameAsControl") ||
    declaredIn(contract, "artifacts")?.sameAsControl === false;
}

/** Checks that every output passes what the contract declares. */
export function contentCheck(record: RunRecord): Check {
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

/** Checks that there was a control run where outputs must be like its own. */
export function comparableCheck({ contract, control }: RunRecord): Check[] {
  return control === null && contract.contentChecks.includes("sameAsControl")
    ? [{
      id: "artifacts-comparable",
      state: "unknown",
      text: "The outputs must be the same as the control run's, but there was no control run",
    }]
    : [];
}

/**
 * A file that lay there when the failure struck and was never touched again: whole or half, nobody
 * can tell unless it is the control run's, or something vouches for it.
 */
export function tornCheck(record: RunRecord): Check {
  const control = new Map(record.control?.artifacts.map((each) => [each.path, each]) ?? []);
  const doubtful = doubtfulOutputs(record, control);
  const others = record.artifacts.filter((artifact) => !doubtful.includes(artifact));
  const suspect = doubtful.find((artifact) =>
    !isVouchedFor(record, others, artifact, control.get(artifact.path))
  );
  const isMarked = record.endMarkRepeats === true &&
    record.contract.contentChecks.includes("endsWith");
  return {
    id: "artifacts-not-torn",
    state: suspect === undefined ? "ok" : "unknown",
    text: suspect === undefined
      ? "No output that the failure interrupted was left as it was"
      : `"${suspect.path}" is as the failure left it` +
        unlikeControl(suspect, control.get(suspect.path)) + ": it may be half a file. " +
        (isMarked
          ? 'The text of "endsWith" stands in the middle of outputs as well, so it does not show ' +
            'their end. Declare "check" or "sameAsControl"'
          : 'Declare how a whole one looks: "endsWith", "check" or "sameAsControl"'),
  };
}

function unlikeControl(artifact: Artifact, whole: Artifact | undefined): string {
  if (whole === undefined) return "";
  return artifact.bytes < whole.bytes
    ? " and shorter than in the control run"
    : " and other than in the control run";
}

/** Outputs that the recovery left as they were, and of which nobody knows that they are whole. */
function doubtfulOutputs(
  record: RunRecord,
  control: ReadonlyMap<string, Artifact>,
): Artifact[] {
  const atFault = new Map(record.artifactsAtFault.map((each) => [each.path, each]));
  const finished = new Set(record.finishedAtFault);
  const likely = new Set(record.likelyAtFault);
  // Where every output is empty, also in the control run, an empty one says all that it has to say.
  const areFlags = [...record.artifacts, ...control.values()].every(({ bytes }) => bytes === 0);
  const isLeft = (artifact: Artifact) => {
    const old = atFault.get(artifact.path);
    return old !== undefined && old.sha256 === artifact.sha256 && !isRewritten(old, artifact);
  };
  const isUnlike = (artifact: Artifact) => control.get(artifact.path)?.sha256 !== artifact.sha256;
  const unlike = record.artifacts.filter(isUnlike).length;
  return record.artifacts.filter((artifact) => {
    if (areFlags || !isLeft(artifact)) return false;
    const whole = control.get(artifact.path);
    if (whole === undefined) return !finished.has(artifact.path) && !likely.has(artifact.path);
    if (!isUnlike(artifact)) return false;
    if (artifact.bytes !== whole.bytes) return artifact.bytes < whole.bytes;
    // Space can be taken first and filled later; then only the content tells.
    return unlike === 1 && record.artifacts.length > 1;
  });
}

/**
 * Whether a declared check tells a half file from a whole one. A least size does not. An end mark
 * and the user's check do, but not against the evidence:
 *
 * - where all other outputs are the control run's to the byte, the only other one is half a file
 *   that happens to pass; a check is believed where the length is right;
 * - an output that was seen to change in the control run may have been met in the middle of it, and
 *   a mark that stands in the middle of outputs says nothing: both must not be clearly too short;
 * - nothing has an end mark in no bytes.
 */
function isVouchedFor(
  record: RunRecord,
  others: readonly Artifact[],
  artifact: Artifact,
  whole: Artifact | undefined,
): boolean {
  const { contentChecks } = record.contract;
  const hasCheck = contentChecks.some((name) => name !== "minBytes" && name !== "endsWith");
  if (!hasCheck && (!contentChecks.includes("endsWith") || artifact.bytes === 0)) return false;
  const isShort = artifact.bytes < WHOLE_SHARE * (whole?.bytes ?? Infinity);
  if (isShort && !hasCheck && record.endMarkRepeats === true) return false;
  if (whole === undefined) return true;
  if (isShort && (artifact.bytes === 0 || record.control?.grown?.includes(artifact.path))) {
    return false;
  }
  const control = new Map(record.control?.artifacts.map((each) => [each.path, each.sha256]) ?? []);
  const isContradicted = others.length > 0 &&
    others.every((other) => control.get(other.path) === other.sha256);
  return !isContradicted || (hasCheck && artifact.bytes >= whole.bytes);
}

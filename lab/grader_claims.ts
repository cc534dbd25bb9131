/**
 * The grader's checks on what a job itself keeps about its work: its checkpoint and its effects.
 *
 * A checkpoint is read without knowing the job, so the reading can be wrong: a number may count
 * rows, or name the last unit from 0 on. What the control run left tells: where our reading does
 * not even fit that, it is not held against the recovery.
 *
 * @module
 */
import { declaredIn } from "./grader_checks.ts";
import type { Check, CheckpointRecord, RunRecord } from "./record.ts";

/** Checks that the checkpoint agrees with the files on disk. */
export function checkpointCheck(record: RunRecord): Check {
  const id = "checkpoint-in-step";
  const { checkpoint, control } = record;
  if (checkpoint === null) {
    return declares(record, "checkpoint")
      ? {
        id,
        state: "unknown",
        text: "The contract declares a checkpoint, but nobody looked at it",
      }
      : { id, state: "skipped", text: "The contract declares no checkpoint" };
  }
  const count = record.contract.count;
  const inStep = isInStep(checkpoint, count);
  const whole = control?.checkpoint ?? null;
  const isGone = !checkpoint.present &&
    declaredIn(record.contract, "checkpoint")?.goneWhenDone === true;
  if (isGone) return { id, state: "ok", text: "The checkpoint is gone, as it is when all is done" };
  if (inStep === true || (whole !== null && isAsInControl(checkpoint, whole, count))) {
    return { id, state: "ok", text: okText(checkpoint) };
  }
  const state = stateOf(checkpoint, inStep, whole, count);
  return {
    id,
    state,
    text: state === "bad"
      ? `The checkpoint does not agree with the disk: ${mismatchOf(checkpoint, count)}`
      : !checkpoint.present
      ? `There is no checkpoint at "${checkpoint.path}" at the end. Where the job removes it when ` +
        'all is done, say so: "checkpoint": {"goneWhenDone": true}'
      : `The checkpoint could not be compared with the disk: ${mismatchOf(checkpoint, count)}. ` +
        (checkpoint.parses === null && checkpoint.claims === null
          ? 'If no list, object or number in it tells, leave "checkpoint" out of the contract: the ' +
            'outputs are graded all the same. Else say where: "checkpoint": {"doneAt": "/…"}'
          : 'Say where the finished units stand in it: "checkpoint": {"doneAt": "/…"}'),
  };
}

function okText(checkpoint: CheckpointRecord): string {
  return checkpoint.present
    ? "The checkpoint agrees with the files on disk"
    : "There is no checkpoint at the end, as after the control run";
}

/** Whether claims and disk agree; `null` when they could not be compared. */
function isInStep(checkpoint: CheckpointRecord, count: number | null): boolean | null {
  if (!checkpoint.present) return null;
  if (
    checkpoint.parses === false || checkpoint.claimedAbsent.length > 0 ||
    checkpoint.unclaimedPresent.length > 0
  ) return false;
  if (checkpoint.parses === null || checkpoint.claims === null || count === null) return null;
  return checkpoint.claims === count;
}

/** Whether it is what a whole run leaves: none, the same bytes, or as many claims. */
function isAsInControl(
  checkpoint: CheckpointRecord,
  whole: CheckpointRecord,
  count: number | null,
): boolean {
  if (!checkpoint.present || !whole.present) return checkpoint.present === whole.present;
  if (checkpoint.sha256 !== null && checkpoint.sha256 === whole.sha256) return true;
  const { claims, comparedBy } = checkpoint;
  const isSame = isInStep(whole, count) === false && checkpoint.parses === true &&
    claims !== null && claims > 0 && claims === whole.claims && comparedBy === whole.comparedBy;
  // Fewer entries than outputs are no list of what is done: a word or two about the last one.
  return isSame &&
    (comparedBy === "number" || (comparedBy === "entries" && claims >= (count ?? 0)));
}

function stateOf(
  checkpoint: CheckpointRecord,
  inStep: boolean | null,
  whole: CheckpointRecord | null,
  count: number | null,
): "bad" | "unknown" {
  if (whole === null) {
    const isGuess = checkpoint.parses !== false &&
      ["entries", "number"].includes(checkpoint.comparedBy ?? "");
    return inStep === false && !isGuess ? "bad" : "unknown";
  }
  const isTorn = whole.parses === true && checkpoint.sha256 !== null && checkpoint.parses !== true;
  return isTorn || (inStep === false && isInStep(whole, count) === true) ? "bad" : "unknown";
}

function mismatchOf(checkpoint: CheckpointRecord, count: number | null): string {
  const { claimedAbsent, unclaimedPresent, problem } = checkpoint;
  if (problem !== null) return problem;
  const [first] = claimedAbsent;
  if (first?.endsWith(" more than the disk holds")) return `it claims ${first}`;
  if (claimedAbsent.length > 0) {
    return `it claims ${claimedAbsent.slice(0, 3).join(", ")}, which the disk does not hold`;
  }
  if (unclaimedPresent.length > 0) {
    return `it does not know of ${unclaimedPresent.slice(0, 3).join(", ")}`;
  }
  return checkpoint.claims === null
    ? "nothing in it says which units are done"
    : `it claims ${checkpoint.claims} of ${count}`;
}

/** Checks that every effect happened, and once. */
export function effectChecks(record: RunRecord): Check[] {
  const { effects } = record;
  if (effects === null) {
    return declares(record, "effects")
      ? [{
        id: "effects-complete",
        state: "unknown",
        text: "The contract declares effects, but nobody looked at them",
      }]
      : [];
  }
  const doubled = effects.doubled[0];
  return [
    {
      id: "effects-once",
      state: doubled === undefined ? "ok" : "bad",
      text: doubled === undefined
        ? `Each of the ${effects.keys} effects happened once`
        : `The effect "${doubled.key}" happened ${doubled.count} times`,
    },
    effectsCompleteCheck(record, effects),
  ];
}

function effectsCompleteCheck(
  { contract, control, effectsLogReplaced = false }: RunRecord,
  effects: NonNullable<RunRecord["effects"]>,
): Check {
  const id = "effects-complete";
  const { missing, unexpected = [], unknown, unreadable, keys, path } = effects;
  const some = (list: readonly string[]) => list.slice(0, 3).join(", ");
  // Not one key came again: they are made anew in each run, so that runs cannot be compared.
  const isIncomparable = missing.length > 0 && keys > 0 && unexpected.length === keys;
  if (effectsLogReplaced) {
    return {
      id,
      state: "unknown",
      text:
        `"${path}" no longer begins with what it held at the failure, so what happened before ` +
        'cannot be counted. Where a log is moved away, name all its parts: "effects": ' +
        `{"path": "${path}*"}`,
    };
  }
  if (missing.length > 0 && !isIncomparable) {
    return { id, state: "bad", text: `The effect "${missing[0]}" never happened` };
  }
  const doubt = isIncomparable
    ? `No key of the control run came again (${some(missing)}), but others did ` +
      `(${some(unexpected)}). Name a part that stays the same with "keyAt"`
    : unreadable > 0 || unknown.length > 0
    ? `Of ${unknown.length + unreadable} effect(s) nobody can say whether they happened: ` +
      (some(unknown) || "unreadable lines")
    : keys === 0
    ? `Not one effect is noted in "${path}"`
    : unexpected.length > 0
    ? `There are effects that the control run did not have: ${some(unexpected)}. Perhaps ` +
      "something was sent again under another key"
    : control === null && keys !== contract.count &&
        declaredIn(contract, "effects")?.count === undefined
    ? `${keys} effects for ${contract.count ?? "an unknown number of"} outputs, and no control ` +
      'run that tells how many there must be. Say it: "effects": {"count": N}'
    : null;
  return {
    id,
    state: doubt === null ? "ok" : "unknown",
    text: doubt ?? `No effect is missing (${keys} seen)`,
  };
}

/** Whether the user's contract declares something, so that a record without it is not complete. */
function declares({ kind, contract }: RunRecord, key: "checkpoint" | "effects"): boolean {
  return kind !== "drill" && declaredIn(contract, key) !== null;
}

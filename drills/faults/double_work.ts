/**
 * Fault: two at work on the same unit, at once or one after the other.
 *
 * @module
 */
import { type FaultRecord, isAlive, isStopped, type ProcessRow } from "../../lab/mod.ts";

/** The evidence that two took one unit: both pids, from where they met, and alive at once. */
export function togetherEvidence(
  unit: string,
  pids: readonly number[],
  table: readonly ProcessRow[],
): FaultRecord["evidence"] {
  const alive = pids.filter((pid) => table.some((row) => row.pid === pid && isAlive(row)));
  if (new Set(alive).size < 2) return [];
  return [
    { what: `two runs took ${unit} at once`, value: [...pids] },
    { what: "and both were alive", value: alive },
  ];
}

/** The evidence that an owner stands still in the middle of a unit and is not dead. */
export function lateOwnerEvidence(
  unit: string,
  owner: ProcessRow | undefined,
  hasSent: boolean,
): FaultRecord["evidence"] {
  if (owner === undefined || !isStopped(owner) || hasSent) return [];
  return [
    { what: `the first owner stands still before its message for ${unit}`, value: owner.state },
    { what: "and is not dead", value: { pid: owner.pid, name: owner.name } },
  ];
}

/** What receiver and record say about one unit. */
export interface EffectSighting {
  /** Name of the unit, which is also the key of its message. */
  unit: string;
  /** Whether the receiver has the message. */
  isReceived: boolean;
  /** Whether the checkpoint claims the unit. */
  isClaimed: boolean;
}

/** The evidence that effect and record do not agree. Gives none when they do. */
export function splitEvidence(sighting: EffectSighting): FaultRecord["evidence"] {
  const { unit, isReceived, isClaimed } = sighting;
  if (isReceived === isClaimed) return [];
  return [
    {
      what: `the message of ${unit} ${isReceived ? "was" : "was not"} received`,
      value: isReceived,
    },
    { what: `and its record ${isClaimed ? "says done" : "is not there"}`, value: isClaimed },
  ];
}

/**
 * Fault: a lock whose owner is gone, or is not who it seems to be.
 *
 * @module
 */
import { join } from "@std/path";
import { type FaultRecord, isAlive, type ProcessRow } from "../../lab/mod.ts";

/** What a planted lock looks like. */
export interface PlantedLock {
  /** `file`, or `folder` with a file `pid` in it, as `mkdir` locks have it. */
  shape: "file" | "folder";
  /** What it says about its owner. */
  content: string;
  /** How old it looks. */
  ageMs: number;
}

/** Puts a lock in place. Nothing may be there. */
export function plantLock(path: string, lock: PlantedLock, wallMs: number): void {
  const atSeconds = (wallMs - lock.ageMs) / 1000;
  if (lock.shape === "folder") {
    Deno.mkdirSync(path);
    Deno.writeTextFileSync(join(path, "pid"), lock.content);
    Deno.utimeSync(join(path, "pid"), atSeconds, atSeconds);
  } else Deno.writeTextFileSync(path, lock.content, { createNew: true });
  Deno.utimeSync(path, atSeconds, atSeconds);
}

/** A lock beside the process table. */
export interface LockSighting {
  /** The pid that the lock names; `null` when it names none. */
  pid: number | null;
  /** When the lock was taken, seconds since the epoch; `null` when that is not known. */
  takenSeconds: number | null;
  /** The process table. */
  table: readonly ProcessRow[];
  /** A process that holds the lock in spite of what it says; `null` when there is none. */
  holder: ProcessRow | null;
}

/** What the process table says about the owner that a lock names. */
export function lockEvidence(
  content: string,
  sighting: LockSighting,
): FaultRecord["evidence"] {
  const { pid, takenSeconds, table, holder } = sighting;
  const evidence: FaultRecord["evidence"] = [{ what: "a lock is there", value: content.trim() }];
  const row = table.find((each) => each.pid === pid && isAlive(each));
  if (pid === null) evidence.push({ what: "and it names no owner on this host", value: true });
  else if (row === undefined) {
    evidence.push({ what: `and its owner, pid ${pid}, is not there`, value: true });
  } else if (takenSeconds !== null && row.startedSeconds > takenSeconds) {
    evidence.push({
      what: `and pid ${pid} is a process that started after the lock was taken`,
      value: { name: row.name, startedSeconds: row.startedSeconds, takenSeconds },
    });
  } else {
    evidence.push({ what: `and its owner, pid ${pid}, lives`, value: { name: row.name } });
  }
  if (holder !== null) {
    evidence.push({
      what: "and another process holds the kernel lock on it",
      value: { pid: holder.pid, name: holder.name },
    });
  }
  return evidence;
}

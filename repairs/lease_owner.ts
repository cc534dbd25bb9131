/**
 * Whose lock is it, and is that owner provably gone? Reads the usual ways in which a lock names its
 * owner, and judges each by what can be shown, never by age alone and never by `kill -0`.
 *
 * @module
 */
import { isAlive, type ProcessRow, START_TOLERANCE_SECONDS } from "../lab/mod.ts";
import type { Sight } from "./_openers.ts";
import type { Place } from "./_place.ts";

/** What our own locks say, as one line of JSON. */
export interface LeaseRecord extends Place {
  /** Says what this file is. */
  schema: "failure-lab/lease";
  /** Version of its shape. */
  version: 1;
  /** Counts up with each owner of this lock; a smaller one is a late owner. */
  generation: number;
  /** Marks the owner's job: 32 hexadecimal digits. */
  token: string;
  /** The owner's process. */
  pid: number;
  /** Start of the owner's process, and of pid 1 seen at the same time; seconds since the epoch. */
  startedSeconds: number;
  /** See `startedSeconds`; `null` when pid 1 could not be seen. */
  bootStartedSeconds: number | null;
  /** Whether the owner holds a kernel lock on the file for as long as it lives. */
  holdsKernelLock: boolean;
  /** ISO 8601, for people. */
  acquiredAt: string;
}

/** The owner as a lock names it. */
export type LockOwner =
  /** Ours. */
  | { kind: "lease"; record: LeaseRecord }
  /** A bare number, as in a pid file; the lock's own time says when it was the owner's. */
  | { kind: "pid"; pid: number }
  /** `host pid seconds-since-the-epoch`. */
  | { kind: "host-pid-time"; host: string; pid: number; atSeconds: number }
  /** Anything else; the owner is not known. */
  | { kind: "unknown"; why: string };

const LOCK_BYTES_MAX = 64 * 1024;

/** Reads the content of a lock. Never throws. */
export function parseOwner(content: string): LockOwner {
  const text = content.trim();
  if (text === "") return { kind: "unknown", why: "it is empty" };
  if (content.length > LOCK_BYTES_MAX) return { kind: "unknown", why: "it is too long for a lock" };
  if (/^\d{1,10}$/.test(text)) return { kind: "pid", pid: Number(text) };
  const three = /^(\S+)\s+(\d{1,10})\s+(\d{1,12})$/.exec(text);
  if (three !== null) {
    const [, host = "", pid, at] = three;
    return { kind: "host-pid-time", host, pid: Number(pid), atSeconds: Number(at) };
  }
  const record = parseRecord(text);
  if (record !== null) return { kind: "lease", record };
  return { kind: "unknown", why: "its content names no owner in a form that is known" };
}

function parseRecord(text: string): LeaseRecord | null {
  try {
    const value = JSON.parse(text);
    const isOurs = value?.schema === "failure-lab/lease" && value.version === 1 &&
      Number.isInteger(value.generation) && Number.isInteger(value.pid) &&
      Number.isInteger(value.startedSeconds) && typeof value.host === "string" &&
      /^[0-9a-f]{32}$/.test(value.token);
    return isOurs ? value : null;
  } catch {
    return null;
  }
}

/** What is known beside the lock's content. */
export interface Witnesses {
  /** Where we are. */
  here: Place;
  /** The process table; rows of a lease's job carry its mark. */
  table: readonly ProcessRow[];
  /** Last change of the lock, seconds since the epoch. */
  lockSeconds: number;
  /** Whether somebody holds a kernel lock on it. */
  kernelLock: Sight;
  /** Whether somebody has it open. */
  isOpen: Sight;
  /** Who has it open. */
  openers: readonly number[];
}

/** What the caller says about owners that cannot be proven from here. */
export interface OwnerClaims {
  /** This host is known to be gone; locks of it may be taken over. */
  forceHost?: string | undefined;
  /** The owner of a bare pid is a program of this name; another program is a stranger. */
  ownerName?: string | undefined;
}

/** The answer. Only `gone` may be taken over. */
export interface Judgement {
  /** `live`: respect it. `gone`: may be taken over. `unknown`: leave it alone. */
  state: "live" | "gone" | "unknown";
  /** In words. */
  why: string;
}

/** Judges whether the owner of a lock is gone. Pure. */
export function judgeOwner(owner: LockOwner, seen: Witnesses, claims: OwnerClaims = {}): Judgement {
  // Whoever holds or has it open may be a grandchild that took it over from its dead parent.
  if (seen.kernelLock === "yes") return live("somebody holds the kernel lock (flock) on it");
  if (seen.isOpen === "yes") return live(`process ${seen.openers.join(", ")} has it open`);
  switch (owner.kind) {
    case "unknown":
      return { state: "unknown", why: owner.why };
    case "pid":
      return needsSight(judgePid(owner.pid, seen.lockSeconds, seen, claims), seen);
    case "host-pid-time":
      if (owner.host !== seen.here.host) return judgeOtherHost(owner.host, seen, claims);
      return needsSight(judgePid(owner.pid, owner.atSeconds, seen, claims), seen);
    case "lease":
      return judgeLease(owner.record, seen, claims);
  }
}

function live(why: string): Judgement {
  return { state: "live", why };
}

function gone(why: string): Judgement {
  return { state: "gone", why };
}

/** A lock of others can be held by the kernel alone; unless that was ruled out, nobody is gone. */
function needsSight(judgement: Judgement, seen: Witnesses): Judgement {
  if (judgement.state !== "gone" || seen.kernelLock === "no" || seen.isOpen === "no") {
    return judgement;
  }
  return {
    state: "unknown",
    why: `${judgement.why}, but nothing here can tell whether somebody holds or has open the ` +
      "lock itself; install flock or lsof",
  };
}

function judgeOtherHost(host: string, seen: Witnesses, claims: OwnerClaims): Judgement {
  if (claims.forceHost === host) return gone(`you said that host "${host}" is gone`);
  return {
    state: "unknown",
    why:
      `its owner is on host "${host}" and this is "${seen.here.host}"; whether it lives cannot ` +
      `be seen from here. If you know that it is gone: --force-host ${host}`,
  };
}

/** @param heldSeconds When the pid was the owner's: a process that started later is a stranger. */
function judgePid(
  pid: number,
  heldSeconds: number,
  seen: Witnesses,
  claims: OwnerClaims,
): Judgement {
  const row = seen.table.find((each) => each.pid === pid && isAlive(each));
  if (row === undefined) return gone(`its owner, pid ${pid}, is gone`);
  if (row.startedSeconds > heldSeconds + START_TOLERANCE_SECONDS) {
    const laterSeconds = Math.round(row.startedSeconds - heldSeconds);
    return gone(
      `pid ${pid} belongs to ${row.name} now, which started ${laterSeconds} s after the lock was ` +
        "taken",
    );
  }
  if (claims.ownerName !== undefined && row.name !== claims.ownerName) {
    return gone(`pid ${pid} belongs to ${row.name} now, and not to ${claims.ownerName}`);
  }
  const hint = claims.ownerName === undefined
    ? ". If its owner is another program, say which: --owner-name"
    : "";
  return live(`pid ${pid} (${row.name}) lives and may be its owner${hint}`);
}

function judgeLease(record: LeaseRecord, seen: Witnesses, claims: OwnerClaims): Judgement {
  const { here, table } = seen;
  if (record.host !== here.host) return judgeOtherHost(record.host, seen, claims);
  if (record.boot !== null && here.boot !== null && record.boot !== here.boot) {
    return gone("its owner lived before this machine was started the last time");
  }
  const job = table.find((row) => row.marker === record.token && isAlive(row));
  if (job !== undefined) return live(`a process of its job lives: ${job.name} (pid ${job.pid})`);
  if (record.pidSpace !== here.pidSpace) {
    // Its processes are out of sight. But the kernel is the same, and it drops a lock at death.
    if (record.holdsKernelLock && seen.kernelLock === "no") {
      return gone("its owner in another container has dropped its kernel lock, so it has ended");
    }
    return { state: "unknown", why: "its owner is in another container of this host" };
  }
  const row = table.find((each) => each.pid === record.pid && isAlive(each));
  if (row === undefined) return gone(`its owner, pid ${record.pid}, is gone`);
  if (isSameStart(row, record, table)) return live(`its owner lives: ${row.name} (pid ${row.pid})`);
  return gone(`pid ${record.pid} belongs to ${row.name} now, which has another start time`);
}

/**
 * Compared from boot on where that is known: a clock that was set moves both by the same amount.
 */
function isSameStart(row: ProcessRow, record: LeaseRecord, table: readonly ProcessRow[]): boolean {
  const first = table.find((each) => each.pid === 1);
  const shift = first === undefined || record.bootStartedSeconds === null
    ? 0
    : first.startedSeconds - record.bootStartedSeconds;
  const differs = Math.abs(row.startedSeconds - record.startedSeconds - shift);
  const differsPlain = Math.abs(row.startedSeconds - record.startedSeconds);
  return Math.min(differs, differsPlain) <= START_TOLERANCE_SECONDS;
}

/**
 * Which processes are ours. Three independent signs, because each one alone can be escaped: the
 * process group that we made, the marker in the environment, and descent (a child of one of ours,
 * remembered by pid and start time from the moment it was first seen).
 *
 * Known gap: a process that drops the marker, leaves the group and loses its parent, all between two
 * looks, has none of the signs. It is then up to the pipes to tell ({@linkcode reap}). And where the
 * system clock is set by more than {@linkcode START_TOLERANCE_SECONDS} during a run, Linux shows
 * other start times for all processes; what has no marker is then taken for a stranger and is left
 * alone: the error is always on that side.
 *
 * @module
 */
import { type Clock, systemClock } from "./clock.ts";
import {
  isAlive,
  isSameProcess,
  type ProcessRow,
  START_TOLERANCE_SECONDS,
} from "./process_table.ts";
import type { ProcessIdentity } from "./record.ts";

/** How many processes one ledger remembers; a run that starts more loses the oldest dead ones. */
export const LEDGER_PROCESSES_MAX = 5000;

/**
 * Looks in a row that must show a group empty before its number counts as given back. More than one,
 * because a look that began before the group was made can be shown to the ledger after a newer one.
 */
const ABSENT_LOOKS_MAX = 3;

/** A group that we started. */
interface Group {
  leader: ProcessIdentity;
  /** The newest looks in a row without a member. */
  absentLooks: number;
  /** Once seen empty; the system may give such a number to a stranger. */
  isOver: boolean;
}

/** Told of what a ledger finds out, so that the keeper can be kept in step. */
export interface LedgerListener {
  /** A process of ours that shows no marker, so that the keeper cannot find it by itself. */
  unmarked?(unmarked: ProcessIdentity): void;
  /** The group of this leader is empty; its number may be given to a stranger. */
  groupOver?(leader: ProcessIdentity): void;
}

/** Remembers the processes of one run. Pure over the process tables that it is shown. */
export class Ledger {
  readonly #marker: string;
  readonly #listener: LedgerListener;
  /** By the pid of the leader, which is also the group's id. */
  readonly #started = new Map<number, Group>();
  readonly #seen = new Map<string, ProcessIdentity>();
  #groups: ReadonlySet<number> = new Set();

  /**
   * Makes a ledger that knows nobody yet.
   *
   * @param marker Value of the marker variable of this run.
   * @param listener Told once of each process without a marker and of each group that is over.
   */
  constructor(marker: string, listener: LedgerListener = {}) {
    this.#marker = marker;
    this.#listener = listener;
  }

  /** Notes a process that we started ourselves as the leader of a group of its own. */
  addLeader(leader: ProcessIdentity): void {
    this.#started.set(leader.pid, { leader, absentLooks: 0, isOver: false });
    this.#remember(leader);
  }

  /** Notes a process whose descent is known from elsewhere, for example from an earlier record. */
  addKnown(process: ProcessIdentity): void {
    this.#remember(process);
  }

  /** Every process that was ever seen as ours, oldest first. */
  get seen(): ProcessIdentity[] {
    return [...this.#seen.values()];
  }

  /** Ids of the groups that we started and that had a member at the last look. */
  get groups(): ReadonlySet<number> {
    return this.#groups;
  }

  /** Ids of the groups that we started and that are not known to be over, seen at all or not. */
  get openGroups(): number[] {
    return [...this.#started].filter(([, group]) => !group.isOver).map(([pgid]) => pgid);
  }

  /** Notes that a group was found empty by other means than a look. */
  endGroup(pgid: number): void {
    const group = this.#started.get(pgid);
    if (group === undefined || group.isOver) return;
    group.isOver = true;
    this.#listener.groupOver?.(group.leader);
  }

  /**
   * Looks at a process table, remembers what is new, and tells who of ours is alive.
   *
   * A row whose pid was recorded with another start time is a stranger and is never returned,
   * unless it carries our marker. This process and the system's first one are never returned.
   */
  observe(table: readonly ProcessRow[]): ProcessRow[] {
    const groups = this.#groups = this.#liveGroups(table);
    const owned = new Map<number, ProcessRow>();
    const candidates = table.filter((row) => row.pid > 1 && row.pid !== Deno.pid);
    for (const row of candidates) {
      if (row.marker === this.#marker || groups.has(row.pgid) || this.#known(row) !== undefined) {
        owned.set(row.pid, row);
      }
    }
    // Children of ours are ours; repeat until no row is added, because ps lists in no fixed order.
    for (let added = true; added;) {
      added = false;
      for (const row of candidates) {
        if (!owned.has(row.pid) && owned.has(row.ppid)) {
          owned.set(row.pid, row);
          added = true;
        }
      }
    }
    const alive = [...owned.values()].filter(isAlive);
    for (const row of alive) {
      const isNew = this.#remember(row);
      if (isNew && row.marker !== this.#marker) this.#listener.unmarked?.(identityOf(row));
    }
    this.#forgetDead(alive);
    return alive;
  }

  #liveGroups(table: readonly ProcessRow[]): Set<number> {
    const live = new Set<number>();
    for (const [pgid, group] of this.#started) {
      if (group.isOver) continue;
      const atPid = table.find((row) => row.pid === pgid);
      if (atPid !== undefined && !isSameProcess(atPid, group.leader)) {
        // While a group has a member its number is not given away. So it was empty between two
        // looks, and what has the number now is a stranger.
        this.endGroup(pgid);
      } else if (table.some((row) => row.pgid === pgid)) {
        group.absentLooks = 0;
        live.add(pgid);
      } else {
        group.absentLooks++;
        if (group.absentLooks >= ABSENT_LOOKS_MAX) this.endGroup(pgid);
      }
    }
    return live;
  }

  #known(process: ProcessIdentity): ProcessIdentity | undefined {
    for (let offset = 0; offset <= START_TOLERANCE_SECONDS; offset++) {
      for (const seconds of [process.startedSeconds - offset, process.startedSeconds + offset]) {
        const known = this.#seen.get(`${process.pid}@${seconds}`);
        if (known !== undefined) return known;
      }
    }
    return undefined;
  }

  /** Returns whether the process is new. */
  #remember(process: ProcessIdentity): boolean {
    if (this.#known(process) !== undefined) return false;
    this.#seen.set(keyOf(process), identityOf(process));
    return true;
  }

  #forgetDead(alive: readonly ProcessRow[]): void {
    if (this.#seen.size <= LEDGER_PROCESSES_MAX) return;
    const needed = new Set(alive.map((row) => this.#known(row)));
    for (const [key, process] of this.#seen) {
      if (this.#seen.size <= LEDGER_PROCESSES_MAX) return;
      if (!needed.has(process)) this.#seen.delete(key);
    }
  }
}

function keyOf(process: ProcessIdentity): string {
  return `${process.pid}@${process.startedSeconds}`;
}

/** The identity of a row, without what only the lab needs. */
export function identityOf(row: ProcessIdentity): ProcessIdentity {
  return { pid: row.pid, startedSeconds: row.startedSeconds, name: row.name };
}

/**
 * The identity of a process that was started this moment, without a look at the process table. The
 * clock and `ps` agree to one second about it, which is within the tolerance. Unlike
 * {@linkcode identify} it also answers for one that has ended meanwhile and left children behind.
 */
export function identityAtStart(
  pid: number,
  program: string,
  clock: Clock = systemClock,
): ProcessIdentity {
  return {
    pid,
    startedSeconds: Math.floor(clock.wallMs() / 1000),
    name: program.split("/").at(-1) || "?",
  };
}

/**
 * Which processes are ours. Three independent signs, because each one alone can be escaped: the
 * process group that we made, the marker in the environment, and descent (a child of one of ours,
 * remembered by pid and start time from the moment it was first seen).
 *
 * @module
 */
import { isAlive, isSameProcess, type ProcessRow } from "./process_table.ts";
import type { ProcessIdentity } from "./record.ts";

/** How many processes one ledger remembers; a run that starts more keeps the newest. */
export const LEDGER_PROCESSES_MAX = 5000;

/** Remembers the processes of one run. Pure over the process tables that it is shown. */
export class Ledger {
  readonly #marker: string;
  /** Leaders that we started, by pid; their pid is also their group's id. */
  readonly #leaders = new Map<number, ProcessIdentity>();
  readonly #seen = new Map<string, ProcessIdentity>();
  /** Groups that were once seen empty; the system may give such a number to a stranger. */
  readonly #emptied = new Set<number>();
  #groups: ReadonlySet<number> = new Set();

  /** @param marker Value of the marker variable of this run. */
  constructor(marker: string) {
    this.#marker = marker;
  }

  /** Notes a process that we started ourselves as the leader of a group of its own. */
  addLeader(leader: ProcessIdentity): void {
    this.#leaders.set(leader.pid, leader);
    this.#emptied.delete(leader.pid);
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

  /**
   * Looks at a process table, remembers what is new, and tells who of ours is alive.
   *
   * A row whose pid was recorded with another start time is a stranger and is never returned.
   */
  observe(table: readonly ProcessRow[]): ProcessRow[] {
    const groups = this.#groups = this.#liveGroups(table);
    const owned = new Map<number, ProcessRow>();
    for (const row of table) {
      if (row.marker === this.#marker || groups.has(row.pgid) || this.#isSeen(row)) {
        owned.set(row.pid, row);
      }
    }
    // Children of ours are ours; repeat until no row is added, because ps lists in no fixed order.
    for (let added = true; added;) {
      added = false;
      for (const row of table) {
        if (!owned.has(row.pid) && owned.has(row.ppid)) {
          owned.set(row.pid, row);
          added = true;
        }
      }
    }
    const alive = [...owned.values()].filter((row) => isAlive(row) && row.pid !== Deno.pid);
    for (const row of alive) this.#remember(row);
    return alive;
  }

  /** Ids of the groups that we started and that had a member at the last look. */
  get groups(): ReadonlySet<number> {
    return this.#groups;
  }

  #liveGroups(table: readonly ProcessRow[]): Set<number> {
    const groups = new Set<number>();
    for (const leader of this.#leaders.values()) {
      if (this.#emptied.has(leader.pid)) continue;
      const members = table.filter((row) => row.pgid === leader.pid);
      if (members.length === 0) {
        this.#emptied.add(leader.pid);
        continue;
      }
      // While a group has a member its number is not given away; if its leader's pid is there with
      // another start time, the group was empty between two looks and belongs to a stranger.
      const atPid = table.find((row) => row.pid === leader.pid);
      if (atPid !== undefined && !isSameProcess(atPid, leader)) this.#emptied.add(leader.pid);
      else groups.add(leader.pid);
    }
    return groups;
  }

  #isSeen(row: ProcessRow): boolean {
    const known = this.#seen.get(keyOf(row)) ?? this.#seenNear(row);
    return known !== undefined && isSameProcess(row, known);
  }

  #seenNear(row: ProcessRow): ProcessIdentity | undefined {
    for (const offset of [-1, 1, -2, 2]) {
      const near = this.#seen.get(`${row.pid}@${row.startedSeconds + offset}`);
      if (near !== undefined) return near;
    }
    return undefined;
  }

  #remember(process: ProcessIdentity): void {
    const key = keyOf(process);
    if (this.#seen.has(key) || this.#seenNear(process as ProcessRow) !== undefined) return;
    this.#seen.set(key, {
      pid: process.pid,
      startedSeconds: process.startedSeconds,
      name: process.name,
    });
    if (this.#seen.size > LEDGER_PROCESSES_MAX) {
      const oldest = this.#seen.keys().next().value;
      if (oldest !== undefined) this.#seen.delete(oldest);
    }
  }
}

function keyOf(process: ProcessIdentity): string {
  return `${process.pid}@${process.startedSeconds}`;
}

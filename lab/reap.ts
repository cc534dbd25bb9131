/**
 * Ending a run's processes, with proof. TERM, a grace period, KILL; then three witnesses: our
 * groups are empty, nobody carries our marker or is in our ledger, nobody holds our pipes.
 *
 * What one look is worth: `ps` lists the processes first and reads them one after the other, so it
 * does not see a process that comes and goes meanwhile, and so not a chain of quick forks. Therefore
 *
 * - signals go to whole groups, which the kernel hits at one moment, forks included;
 * - a group that looks empty is asked for once more by its number (`kill -0`), which no fork escapes;
 * - an empty look counts alone only when every command had ended and both its pipes had given
 *   end-of-file before it began. Otherwise, and always after a signal, a second empty look must
 *   follow the first one and the wait for the pipes.
 *
 * Known gap: a chain of forks that is quicker than a look and whose every link leaves the group can
 * run ahead. As long as it holds a pipe the kill counts as not proven; with closed stdio as well,
 * nobody sees it.
 *
 * @module
 */
import { type Clock, systemClock } from "./clock.ts";
import { identityOf, type Ledger } from "./ownership.ts";
import type { Spawned } from "./process.ts";
import { isStopped, type ProcessRow, readProcessTable } from "./process_table.ts";
import type { KillRecord, ProcessIdentity } from "./record.ts";
import { groupExists, type LabSignal, sendSignal } from "./signals.ts";
import { EnvironmentError } from "./system_tools.ts";

export { identityOf } from "./ownership.ts";

/** What the reaper needs from the system; tests hand in a scripted one. */
export interface ReapSystem {
  /** The process table now. */
  readTable(): Promise<ProcessRow[]>;
  /** Sends a signal to pids and, as negative numbers, to groups. */
  signal(signal: LabSignal, targets: readonly number[]): Promise<void>;
  /** Whether a group has members, dead ones included. Without it only the table is asked. */
  groupExists?(pgid: number): Promise<boolean>;
  /** Time. */
  clock: Clock;
}

/** The real one: `ps`, `kill` and the clock of this machine. */
export const realSystem: ReapSystem = {
  readTable: readProcessTable,
  signal: sendSignal,
  groupExists,
  clock: systemClock,
};

/** How to reap. */
export interface ReapOptions {
  /** Knows which processes are ours. */
  ledger: Ledger;
  /** Commands whose pipes are ours. */
  spawned: readonly Spawned[];
  /** Time between TERM and KILL. 0 sends KILL at once. */
  graceMs: number;
  /** Time after KILL in which the processes must be gone. @default {5000} */
  killLimitMs?: number;
  /** Time for end-of-file on our pipes once nobody is left. @default {1000} */
  pipeLimitMs?: number;
  /** Milliseconds on the clock at which the run began. */
  runStartMs: number;
  /** Called when the process table could not be read or a signal not be sent, for the journal. */
  onProblem?: (error: unknown) => void;
}

/** The first wait between two looks; later ones grow with the time that has passed. */
const LOOK_FIRST_MS = 10;
const LOOK_MAX_MS = 250;
/** A process that KILL did not end yet gets it again after this time. */
const KILL_AGAIN_MS = 200;
/** Time in which end-of-file follows the end of a command that left nobody behind. */
const PIPES_FOLLOW_MS = 50;

/**
 * Ends everything that the ledger knows as ours and says what was seen.
 *
 * Never rejects for a process that will not die: that is in the answer (`survivors`). Never rejects
 * when the process table cannot be read either: the commands that are known to run are then killed
 * with their groups, and the two witnesses that could not be heard are `null`. Takes at most
 * `graceMs + killLimitMs + pipeLimitMs` and the time of a few looks at the process table.
 */
export function reap(system: ReapSystem, options: ReapOptions): Promise<KillRecord> {
  return new Reaping(system, options).run();
}

/** `null` stands for a look that failed. */
type Look = ProcessRow[] | null;

class Reaping {
  readonly #system: ReapSystem;
  readonly #options: ReapOptions;
  readonly #signals: KillRecord["signals"] = [];
  /** `ps` is not there at all, so that looking again is of no use. */
  #isBlind = false;
  /** Groups of ours that exist although the last look showed nobody alive in them. */
  #hidden: number[] = [];
  /** Groups that got KILL. It hits all members at one moment, and none of them can fork any more. */
  readonly #struck = new Set<number>();

  constructor(system: ReapSystem, options: ReapOptions) {
    this.#system = system;
    this.#options = options;
  }

  async run(): Promise<KillRecord> {
    const { graceMs, spawned } = this.#options;
    const beganMs = this.#now();
    const wasQuiet = await this.#isQuiet();
    let alive = await this.#look();
    if (!this.#isEmpty(alive) && graceMs > 0) alive = await this.#askToEnd(alive, graceMs);
    const killEndMs = this.#now() + (this.#options.killLimitMs ?? 5000);
    let pipesClosed = spawned.every((each) => each.pipesClosed);
    let isSure = false;
    while (!isSure) {
      alive = await this.#killAll(alive, killEndMs);
      if (this.#isEmpty(alive) && wasQuiet && this.#signals.length === 0) break;
      pipesClosed = await this.#waitPipes(this.#options.pipeLimitMs ?? 1000);
      alive = await this.#look();
      isSure = this.#isEmpty(alive) || this.#now() >= killEndMs || this.#isHopeless(alive);
    }
    // What is left of those is dead, and a number that is given away must not be ours any more.
    if (this.#isEmpty(alive)) { for (const id of this.#struck) this.#options.ledger.endGroup(id); }
    return this.#record(alive, pipesClosed, this.#now() - beganMs);
  }

  #now(): number {
    return this.#system.clock.nowMs();
  }

  async #look(): Promise<Look> {
    if (this.#isBlind) return null;
    try {
      const table = await this.#system.readTable();
      const alive = this.#options.ledger.observe(table);
      this.#hidden = [];
      return alive.length > 0 ? alive : await this.#lookForHidden(table);
    } catch (error) {
      this.#options.onProblem?.(error);
      this.#isBlind = error instanceof EnvironmentError;
      return null;
    }
  }

  /**
   * Asks for our groups in which a look showed nobody alive. One that exists all the same holds
   * either only dead members that nobody collected, and then a second look shows the same ones, or
   * somebody whom `ps` cannot catch.
   */
  async #lookForHidden(table: readonly ProcessRow[]): Promise<ProcessRow[]> {
    const { ledger } = this.#options;
    if (await this.#endEmptyGroups()) return [];
    await this.#system.clock.sleep(LOOK_FIRST_MS);
    const newTable = await this.#system.readTable();
    const alive = ledger.observe(newTable);
    if (alive.length > 0 || await this.#endEmptyGroups()) return alive;
    this.#hidden = this.#unstruckGroups().filter((pgid) => {
      const dead = membersOf(table, pgid);
      return dead === "" || dead !== membersOf(newTable, pgid);
    });
    return alive;
  }

  /** Returns whether none of our groups is left to be asked for. */
  async #endEmptyGroups(): Promise<boolean> {
    const { groupExists } = this.#system;
    if (groupExists === undefined) return true;
    for (const pgid of this.#unstruckGroups()) {
      if (!await groupExists(pgid)) this.#options.ledger.endGroup(pgid);
    }
    return this.#unstruckGroups().length === 0;
  }

  #unstruckGroups(): number[] {
    return this.#options.ledger.openGroups.filter((pgid) => !this.#struck.has(pgid));
  }

  /** Nobody is left as far as the last look could tell. */
  #isEmpty(alive: Look): boolean {
    return alive?.length === 0 && this.#hidden.length === 0;
  }

  /** Whether every command has ended and its pipes are at their end. */
  async #isQuiet(): Promise<boolean> {
    if (this.#options.spawned.some((each) => each.ended === null)) return false;
    return await this.#waitPipes(PIPES_FOLLOW_MS);
  }

  async #waitPipes(limitMs: number): Promise<boolean> {
    const closed = await Promise.all(this.#options.spawned.map((each) => each.waitPipes(limitMs)));
    return closed.every(Boolean);
  }

  async #askToEnd(alive: Look, graceMs: number): Promise<Look> {
    await this.#send("TERM", alive);
    // A stopped process keeps TERM pending until it is continued.
    const stopped = alive?.filter(isStopped) ?? [];
    if (stopped.length > 0) await this.#send("CONT", stopped);
    return await this.#waitGone(this.#now() + graceMs, () => false);
  }

  async #killAll(alive: Look, killEndMs: number): Promise<Look> {
    while (!this.#isEmpty(alive) && !this.#isHopeless(alive) && this.#now() < killEndMs) {
      await this.#send("KILL", alive);
      // A process that came meanwhile must not wait: it may be one link of a chain of forks.
      const hit = new Set(alive?.map(keyOf));
      const isNew = (row: ProcessRow) => !hit.has(keyOf(row));
      alive = await this.#waitGone(Math.min(killEndMs, this.#now() + KILL_AGAIN_MS), isNew);
    }
    return alive;
  }

  /** Looks until nobody is left, `stopAt` holds for somebody, or the time is over. */
  async #waitGone(endMs: number, stopAt: (row: ProcessRow) => boolean): Promise<Look> {
    const beganMs = this.#now();
    while (true) {
      const alive = await this.#look();
      const nowMs = this.#now();
      if (this.#isEmpty(alive) || this.#isHopeless(alive) || nowMs >= endMs) return alive;
      if (alive?.some(stopAt)) return alive;
      const nextMs = Math.min(LOOK_MAX_MS, Math.max(LOOK_FIRST_MS, (nowMs - beganMs) * 0.15));
      await this.#system.clock.sleep(Math.min(nextMs, endMs - nowMs));
    }
  }

  /** Nothing can be seen, and no command is left that could be hit unseen. */
  #isHopeless(alive: Look): boolean {
    return alive === null && this.#isBlind && this.#options.spawned.every((each) => each.ended);
  }

  async #send(signal: LabSignal, alive: Look): Promise<void> {
    const targets = alive === null
      ? this.#unseenTargets()
      : [...targetsOf(alive, this.#options.ledger.groups), ...this.#hidden.map((id) => -id)];
    if (targets.length === 0) return;
    const count = alive?.length || targets.length;
    const atMs = Math.max(0, this.#now() - this.#options.runStartMs);
    try {
      await this.#system.signal(signal, targets);
      this.#signals.push({ signal, targets: count, atMs });
      if (signal === "KILL") { for (const id of targets) if (id < 0) this.#struck.add(-id); }
    } catch (error) {
      this.#options.onProblem?.(error);
    }
  }

  /** The groups of our direct children that run: nobody else has their pid until we collect them. */
  #unseenTargets(): number[] {
    return this.#options.spawned.filter((each) => each.ended === null).map((each) => -each.pid);
  }

  #record(alive: Look, pipesClosed: boolean, elapsedMs: number): KillRecord {
    const { ledger, spawned } = this.#options;
    return {
      signals: this.#signals,
      processes: ledger.seen,
      witnesses: {
        groupEmpty: alive && this.#hidden.length === 0 &&
          !alive.some((row) => ledger.groups.has(row.pgid)),
        markerEmpty: alive && alive.length === 0,
        pipesClosed,
      },
      survivors: alive?.map(identityOf) ??
        spawned.filter((each) => each.ended === null).flatMap((each) => recorded(ledger, each.pid)),
      elapsedMs,
    };
  }
}

function keyOf(row: ProcessIdentity): string {
  return `${row.pid}@${row.startedSeconds}`;
}

function membersOf(table: readonly ProcessRow[], pgid: number): string {
  return table.filter((row) => row.pgid === pgid).map(keyOf).join(" ");
}

function recorded(ledger: Ledger, pid: number): ProcessIdentity[] {
  return ledger.seen.filter((process) => process.pid === pid).slice(-1);
}

/**
 * Whole groups by one negative number, so that a fork in between is hit as well: those that we
 * started, and those whose leader is one of ours. The others by pid.
 */
function targetsOf(rows: readonly ProcessRow[], groups: ReadonlySet<number>): number[] {
  const leaders = new Set(rows.filter((row) => row.pid === row.pgid).map((row) => row.pgid));
  const isWhole = (row: ProcessRow) => groups.has(row.pgid) || leaders.has(row.pgid);
  return [
    ...new Set(rows.filter(isWhole).map((row) => -row.pgid)),
    ...rows.filter((row) => !isWhole(row)).map((row) => row.pid),
  ];
}

/** Whether a kill record proves that nothing is left. `null` when a witness could not be heard. */
export function isKillProven(kill: KillRecord): boolean | null {
  const { groupEmpty, markerEmpty, pipesClosed } = kill.witnesses;
  const said = [groupEmpty, markerEmpty, pipesClosed];
  if (kill.survivors.length > 0 || said.includes(false)) return false;
  return said.includes(null) ? null : true;
}

/**
 * Ending a run's processes, with proof. TERM, a grace period, KILL; then three witnesses: our
 * groups are empty, nobody carries our marker or is in our ledger, nobody holds our pipes.
 *
 * @module
 */
import type { Clock } from "./clock.ts";
import type { Ledger } from "./ownership.ts";
import type { Spawned } from "./process.ts";
import { isStopped, type ProcessRow } from "./process_table.ts";
import type { KillRecord, ProcessIdentity } from "./record.ts";
import type { LabSignal } from "./signals.ts";

/** What the reaper needs from the system; tests hand in a scripted one. */
export interface ReapSystem {
  readTable(): Promise<ProcessRow[]>;
  signal(signal: LabSignal, targets: readonly number[]): Promise<void>;
  clock: Clock;
}

/** How to reap. */
export interface ReapOptions {
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
}

const LOOK_EVERY_MS = 20;

/**
 * Ends everything that the ledger knows as ours and says what was seen.
 *
 * Never rejects for a process that will not die: that is in the answer (`survivors`). Takes at
 * most `graceMs + killLimitMs + pipeLimitMs` and the time of a few looks at the process table.
 *
 * @throws {ProcessTableError} When the process table cannot be read.
 */
export async function reap(system: ReapSystem, options: ReapOptions): Promise<KillRecord> {
  const { clock } = system;
  const beganMs = clock.nowMs();
  const signals: KillRecord["signals"] = [];
  const send = async (signal: LabSignal, rows: readonly ProcessRow[]) => {
    const targets = targetsOf(rows, options.ledger.groups);
    await system.signal(signal, targets);
    signals.push({ signal, targets: rows.length, atMs: clock.nowMs() - options.runStartMs });
  };

  let alive = options.ledger.observe(await system.readTable());
  if (alive.length > 0 && options.graceMs > 0) {
    await send("TERM", alive);
    // A stopped process keeps TERM pending until it is continued.
    const stopped = alive.filter(isStopped);
    if (stopped.length > 0) await send("CONT", stopped);
    alive = await waitGone(system, options.ledger, options.graceMs);
  }
  const killEndMs = clock.nowMs() + (options.killLimitMs ?? 5000);
  while (alive.length > 0 && clock.nowMs() < killEndMs) {
    await send("KILL", alive);
    alive = await waitGone(system, options.ledger, Math.min(200, killEndMs - clock.nowMs()));
  }
  alive = options.ledger.observe(await system.readTable());
  const groups = options.ledger.groups;
  const pipesClosed = await allPipesClosed(options.spawned, options.pipeLimitMs ?? 1000);
  return {
    signals,
    processes: options.ledger.seen,
    witnesses: {
      groupEmpty: !alive.some((row) => groups.has(row.pgid)),
      markerEmpty: alive.length === 0,
      pipesClosed,
    },
    survivors: alive.map(identityOf),
    elapsedMs: clock.nowMs() - beganMs,
  };
}

async function waitGone(
  system: ReapSystem,
  ledger: Ledger,
  limitMs: number,
): Promise<ProcessRow[]> {
  const endMs = system.clock.nowMs() + limitMs;
  while (true) {
    const alive = ledger.observe(await system.readTable());
    if (alive.length === 0 || system.clock.nowMs() >= endMs) return alive;
    await system.clock.sleep(LOOK_EVERY_MS);
  }
}

/** Whole groups by one negative number (so that a fork in between is hit as well), others by pid. */
function targetsOf(rows: readonly ProcessRow[], groups: ReadonlySet<number>): number[] {
  const touched = new Set(rows.map((row) => row.pgid).filter((pgid) => groups.has(pgid)));
  return [
    ...[...touched].map((pgid) => -pgid),
    ...rows.filter((row) => !groups.has(row.pgid)).map((row) => row.pid),
  ];
}

async function allPipesClosed(spawned: readonly Spawned[], limitMs: number): Promise<boolean> {
  const closed = await Promise.all(spawned.map((each) => each.waitPipes(limitMs)));
  return closed.every(Boolean);
}

/** The identity of a row, without what only the lab needs. */
export function identityOf(row: ProcessIdentity): ProcessIdentity {
  return { pid: row.pid, startedSeconds: row.startedSeconds, name: row.name };
}

/** Whether a kill record proves that nothing is left. `null` when a witness could not be heard. */
export function isKillProven(kill: KillRecord): boolean | null {
  const { groupEmpty, markerEmpty, pipesClosed } = kill.witnesses;
  const said = [groupEmpty, markerEmpty, pipesClosed];
  if (kill.survivors.length > 0 || said.includes(false)) return false;
  return said.includes(null) ? null : true;
}

/**
 * The driver of one run: starts commands as ours, watches their progress within limits, and ends
 * them with proof. It knows neither drills nor contracts.
 *
 * @module
 */
import type { Clock } from "./clock.ts";
import type { Journal } from "./journal.ts";
import { Ledger } from "./ownership.ts";
import { spawn, type Spawned, type SpawnOptions } from "./process.ts";
import { isAlive, type ProcessRow, readProcessTable } from "./process_table.ts";
import { reap, type ReapSystem } from "./reap.ts";
import type { KillRecord, PhaseRecord, ProcessIdentity } from "./record.ts";
import { sendSignal } from "./signals.ts";

/** How one supervised stretch ended. */
export type Ending =
  /** The command ended by itself. */
  | "ended"
  /** Total time is up. */
  | "run"
  /** No progress for too long. */
  | "idle"
  /** The caller's condition came true. */
  | "until"
  /** The run was interrupted. */
  | "aborted";

/** How long and for what to watch a command. */
export interface SuperviseOptions {
  runMs: number;
  idleMs: number;
  /** A text that changes with each step of progress; asked often, so it must be cheap. */
  signature: () => string;
  /** Ends the watch when it gives true. Gets the newest signature. */
  until?: (signature: string) => boolean;
  /** @default {3} */
  everyMsMin?: number;
}

/** What a driver works with. */
export interface DriverOptions {
  marker: string;
  logDir: string;
  clock: Clock;
  journal: Journal;
  signal: AbortSignal;
  /** Told of each leader, so that the keeper can end it should the lab die. */
  onLeader?: (leader: ProcessIdentity) => void;
  /** @default {the real process table and signals} */
  system?: ReapSystem;
  /** Replaces the real start of a command in tests. */
  spawn?: (options: SpawnOptions) => Spawned;
}

// Looking costs time that the job could use: the pause is this many times the last look.
const PAUSE_PER_LOOK = 20;
const PAUSE_MS_MAX = 200;
const TABLE_EVERY_MS_MIN = 150;
const TABLE_EVERY_MS_MAX = 1000;

/** Drives the commands of one run. */
export class Driver {
  readonly ledger: Ledger;
  readonly system: ReapSystem;
  readonly #options: DriverOptions;
  readonly #spawned = new Set<Spawned>();
  #logs = 0;
  #tableDueMs = 0;
  #tableEveryMs = TABLE_EVERY_MS_MIN;
  #look: Promise<unknown> | null = null;

  /** @param options See {@linkcode DriverOptions}. */
  constructor(options: DriverOptions) {
    this.#options = options;
    this.ledger = new Ledger(options.marker);
    this.system = options.system ??
      { readTable: readProcessTable, signal: sendSignal, clock: options.clock };
  }

  /** Whether the run was interrupted. */
  get aborted(): boolean {
    return this.#options.signal.aborted;
  }

  /**
   * Starts a command in a session of its own, with our marker.
   *
   * @throws What {@linkcode spawn} throws when the command cannot be started.
   */
  async start(
    name: string,
    argv: readonly string[],
    cwd: string,
    env: Readonly<Record<string, string>>,
  ): Promise<Spawned> {
    const { marker, logDir, clock, journal } = this.#options;
    const [program, ...rest] = argv;
    if (program === undefined) throw new TypeError("Cannot start a command: it has no words");
    const spawned = (this.#options.spawn ?? spawn)({
      argv: [program, ...rest],
      cwd,
      env,
      marker,
      logDir,
      logName: `${String(++this.#logs).padStart(2, "0")}-${name}`,
      clock,
      runStartMs: journal.runStartMs,
    });
    this.#spawned.add(spawned);
    const table = await this.system.readTable();
    const row = table.find((each) => each.pid === spawned.pid);
    // A command that is over already has no row; its start time is now, give or take a second.
    const leader = {
      pid: spawned.pid,
      startedSeconds: row?.startedSeconds ?? Math.floor(clock.wallMs() / 1000),
      name: row?.name ?? (argv[0]?.split("/").at(-1) ?? "?"),
    };
    this.ledger.addLeader(leader);
    this.#options.onLeader?.(leader);
    this.ledger.observe(table);
    journal.add("start", { name, pid: spawned.pid, argv: [...argv] });
    return spawned;
  }

  /** Watches a command until one of the {@linkcode Ending}s. Leaves it as it is. */
  async supervise(spawned: Spawned, options: SuperviseOptions): Promise<Ending> {
    const { clock, journal } = this.#options;
    const endMs = clock.nowMs() + options.runMs;
    let last = "";
    let progressMs = clock.nowMs();
    while (true) {
      // Asked before the look, so that what was written right before the end is still seen.
      const over = spawned.ended !== null;
      const lookMs = clock.nowMs();
      const signature = options.signature();
      const lookedMs = clock.nowMs() - lookMs;
      if (signature !== last) {
        last = signature;
        progressMs = clock.nowMs();
      }
      if (options.until?.(signature)) return "until";
      if (over) return "ended";
      if (this.aborted) return "aborted";
      if (clock.nowMs() >= endMs) return "run";
      if (clock.nowMs() - progressMs >= options.idleMs) {
        journal.add("idle", { idleMs: Math.round(clock.nowMs() - progressMs) });
        return "idle";
      }
      const pauseMs = Math.min(
        PAUSE_MS_MAX,
        Math.max(options.everyMsMin ?? 3, lookedMs * PAUSE_PER_LOOK),
        Math.max(1, endMs - clock.nowMs()),
      );
      this.#lookAtProcesses();
      await this.#within(spawned.status, pauseMs);
    }
  }

  /**
   * Looks who is ours from time to time, so that descent is known before parents are gone. Not
   * waited for, so that it never delays the moment at which a condition is seen.
   */
  #lookAtProcesses(): void {
    const { clock } = this.#options;
    if (this.#look !== null || clock.nowMs() < this.#tableDueMs) return;
    this.#tableEveryMs = Math.min(TABLE_EVERY_MS_MAX, this.#tableEveryMs * 1.2);
    this.#look = this.alive().catch(() => []).finally(() => {
      this.#tableDueMs = clock.nowMs() + this.#tableEveryMs;
      this.#look = null;
    });
  }

  /** Waits for a promise, but not longer than `ms` and not beyond an interruption. */
  async #within(promise: Promise<unknown>, ms: number): Promise<void> {
    const { clock, signal } = this.#options;
    const stop = new AbortController();
    const onAbort = () => stop.abort();
    signal.addEventListener("abort", onAbort);
    if (signal.aborted) stop.abort();
    await Promise.race([promise, clock.sleep(ms, stop.signal)]);
    stop.abort();
    signal.removeEventListener("abort", onAbort);
  }

  /** Our live processes right now. */
  async alive(): Promise<ProcessRow[]> {
    return this.ledger.observe(await this.system.readTable()).filter(isAlive);
  }

  /** Ends everything of ours, with proof. See {@linkcode reap}. */
  async reap(graceMs: number): Promise<KillRecord> {
    const record = await reap(this.system, {
      ledger: this.ledger,
      spawned: [...this.#spawned],
      graceMs,
      runStartMs: this.#options.journal.runStartMs,
    });
    this.#options.journal.add("reaped", {
      processes: record.processes.length,
      signals: record.signals.map((each) => each.signal),
      survivors: record.survivors.length,
      witnesses: record.witnesses,
    });
    return record;
  }

  /** Waits briefly for a command's status (it is over or was killed) and gives its phase. */
  async finish(spawned: Spawned, limitMs = 2000): Promise<PhaseRecord> {
    await this.#within(spawned.status, limitMs);
    await spawned.waitPipes(limitMs);
    await spawned.release();
    this.#spawned.delete(spawned);
    return spawned.record();
  }

  /** Lets go of every pipe and file. Call it last, on every path. */
  async release(): Promise<void> {
    await this.#look;
    await Promise.all([...this.#spawned].map((each) => each.release()));
    this.#spawned.clear();
  }
}

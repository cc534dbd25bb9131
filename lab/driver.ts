/**
 * The driver of one run: starts commands as ours, watches their progress within limits, and ends
 * them with proof. It knows neither drills nor contracts.
 *
 * @module
 */
import type { Clock } from "./clock.ts";
import type { Journal } from "./journal.ts";
import { identityAtStart, identityOf, Ledger, type LedgerListener } from "./ownership.ts";
import { spawn, type Spawned, type SpawnOptions } from "./process.ts";
import { isAlive, type ProcessRow } from "./process_table.ts";
import { realSystem, reap, type ReapSystem } from "./reap.ts";
import type { KillRecord, PhaseRecord, ProcessIdentity } from "./record.ts";

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
  /** Longest time for the whole watch, in milliseconds. */
  runMs: number;
  /** Longest time without a change of the signature, in milliseconds. */
  idleMs: number;
  /** A text that changes with each step of progress; asked often, so it must be cheap. */
  signature: () => string;
  /** Ends the watch when it gives true. Gets the newest signature. */
  until?: (signature: string) => boolean;
  /** Shortest pause between two looks, in milliseconds. @default {3} */
  everyMsMin?: number;
}

/** What a driver works with. */
export interface DriverOptions {
  /** Value of the marker variable that every process of the run carries. */
  marker: string;
  /** Folder for the output of the commands, one numbered pair of files each. */
  logDir: string;
  /** Time for limits and pauses. */
  clock: Clock;
  /** Takes down what the driver does; its start is the start of the run. */
  journal: Journal;
  /** Interrupts the run: nothing is started any more, and a watch ends at once. */
  signal: AbortSignal;
  /** Told of each leader, so that the keeper can end it should the lab die. */
  onLeader?: (leader: ProcessIdentity) => void;
  /** Told of processes without a marker and of groups that are over, for the keeper as well. */
  listener?: LedgerListener;
  /** Process table and signals, for tests. @default {the real ones, with `clock`} */
  system?: ReapSystem;
  /** Replaces the real start of a command in tests. */
  spawn?: (options: SpawnOptions) => Spawned;
}

// Looking costs time that the job could use: the pause is this many times the last look.
const PAUSE_PER_LOOK = 20;
const PAUSE_MS_MIN = 3;
const PAUSE_MS_MAX = 200;
const TABLE_EVERY_MS_MIN = 150;
const TABLE_EVERY_MS_MAX = 1000;

/** Drives the commands of one run. */
export class Driver {
  /** The list of all processes that are known as ours. */
  readonly ledger: Ledger;
  /** The process table and the signals that this driver works with. */
  readonly system: ReapSystem;
  readonly #options: DriverOptions;
  readonly #spawned = new Set<Spawned>();
  #logs = 0;
  #tableDueMs = 0;
  #tableEveryMs = TABLE_EVERY_MS_MIN;
  #tableLook: Promise<void> | null = null;

  /** Takes what the driver works with, and starts nothing yet. */
  constructor(options: DriverOptions) {
    this.#options = options;
    this.ledger = new Ledger(options.marker, options.listener);
    this.system = options.system ?? { ...realSystem, clock: options.clock };
  }

  /** Whether the run was interrupted. */
  get aborted(): boolean {
    return this.#options.signal.aborted;
  }

  /**
   * Starts a command in a session of its own, with our marker.
   *
   * @throws {DOMException} `AbortError` when the run was interrupted: nothing may be started any more.
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
    if (this.aborted) {
      throw new DOMException(`Cannot start "${name}": the run was interrupted`, "AbortError");
    }
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
    // It runs, so it must be known as ours whatever becomes of the look at the process table.
    const table = await this.#tryTable();
    const row = table?.find((each) => each.pid === spawned.pid);
    // A command that is over already has no row; its start time is now, give or take a second.
    const leader = row === undefined
      ? identityAtStart(spawned.pid, program, clock)
      : identityOf(row);
    this.ledger.addLeader(leader);
    this.#options.onLeader?.(leader);
    if (table !== null) {
      this.ledger.observe(table);
      this.#tableDueMs = clock.nowMs() + this.#tableEveryMs;
    }
    journal.add("start", { name, pid: spawned.pid, argv: [...argv] });
    return spawned;
  }

  /** `null` when it cannot be read: an empty one would say that nobody lives. */
  async #tryTable(): Promise<ProcessRow[] | null> {
    try {
      return await this.system.readTable();
    } catch (error) {
      this.#noteProblem(error);
      return null;
    }
  }

  #noteProblem(error: unknown): void {
    this.#options.journal.add("problem", {
      error: error instanceof Error ? error.message : String(error),
    });
  }

  /** Watches a command until one of the {@linkcode Ending}s. Leaves it as it is. */
  async supervise(spawned: Spawned, options: SuperviseOptions): Promise<Ending> {
    const { clock, signal } = this.#options;
    // One listener each for the whole watch: one for every pause would stay until the very end.
    let pause = new AbortController();
    const wake = () => pause.abort();
    void spawned.status.then(wake);
    signal.addEventListener("abort", wake);
    try {
      const beganMs = clock.nowMs();
      const endMs = beganMs + options.runMs;
      const progress = { signature: "", atMs: beganMs };
      while (true) {
        pause = new AbortController();
        const lookMs = clock.nowMs();
        const ending = this.#look(spawned, options, endMs, progress);
        if (ending !== null) return ending;
        const nowMs = clock.nowMs();
        this.#lookAtProcesses();
        const pauseMs = Math.min(
          PAUSE_MS_MAX,
          Math.max(options.everyMsMin ?? PAUSE_MS_MIN, (nowMs - lookMs) * PAUSE_PER_LOOK),
          // Both limits are met to the millisecond.
          Math.max(1, endMs - nowMs),
          Math.max(1, progress.atMs + options.idleMs - nowMs),
        );
        await clock.sleep(pauseMs, pause.signal);
      }
    } finally {
      signal.removeEventListener("abort", wake);
    }
  }

  /** One look at a command; `null` while the watch goes on. */
  #look(
    spawned: Spawned,
    options: SuperviseOptions,
    endMs: number,
    progress: { signature: string; atMs: number },
  ): Ending | null {
    const { clock, journal } = this.#options;
    // Asked before the look, so that what was written right before the end is still seen.
    const isOver = spawned.ended !== null;
    const signature = options.signature();
    const nowMs = clock.nowMs();
    if (signature !== progress.signature) {
      progress.signature = signature;
      progress.atMs = nowMs;
    }
    if (options.until?.(signature)) return "until";
    if (isOver) return "ended";
    if (this.aborted) return "aborted";
    if (nowMs >= endMs) return "run";
    if (nowMs - progress.atMs < options.idleMs) return null;
    journal.add("idle", { idleMs: Math.round(nowMs - progress.atMs) });
    return "idle";
  }

  /**
   * Looks who is ours from time to time, so that descent is known before parents are gone. Not
   * waited for, so that it never delays the moment at which a condition is seen.
   */
  #lookAtProcesses(): void {
    const { clock } = this.#options;
    if (this.#tableLook !== null || clock.nowMs() < this.#tableDueMs) return;
    this.#tableEveryMs = Math.min(TABLE_EVERY_MS_MAX, this.#tableEveryMs * 1.2);
    this.#tableLook = this.#tryTable().then((table) => {
      if (table !== null) this.ledger.observe(table);
      this.#tableDueMs = clock.nowMs() + this.#tableEveryMs;
      this.#tableLook = null;
    });
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
      onProblem: (error) => this.#noteProblem(error),
    });
    this.#options.journal.add("reaped", {
      processes: record.processes.length,
      signals: record.signals.map((each) => each.signal),
      survivors: record.survivors.length,
      witnesses: record.witnesses,
    });
    return record;
  }

  /**
   * Waits briefly for a command's status (it is over or was killed) and gives its phase. An
   * interruption does not cut this short, or nobody would know how the command ended.
   */
  async finish(spawned: Spawned, limitMs = 2000): Promise<PhaseRecord> {
    const stop = new AbortController();
    await Promise.race([spawned.status, this.#options.clock.sleep(limitMs, stop.signal)]);
    stop.abort();
    await spawned.waitPipes(limitMs);
    await spawned.release();
    this.#spawned.delete(spawned);
    return spawned.record();
  }

  /** Lets go of every pipe and file. Call it last, on every path. */
  async release(): Promise<void> {
    await this.#tableLook;
    await Promise.all([...this.#spawned].map((each) => each.release()));
    this.#spawned.clear();
  }
}

// A driver over scripted commands, a scripted process table and a clock that only sleeps move.

import { type ScriptedSystem, scriptedSystem } from "../tests/support/scripted_system.ts";
import { Driver, type DriverOptions, type Ending, type SuperviseOptions } from "./driver.ts";
import { Journal, type JournalEntry } from "./journal.ts";
import type { ExitStatus, Spawned, SpawnOptions } from "./process.ts";
import type { ProcessRow } from "./process_table.ts";
import type { PhaseRecord, ProcessIdentity } from "./record.ts";

/** Marker of the run. */
export const MARKER = "0123456789abcdef0123456789abcdef";
/** Pid of every scripted command. */
export const PID = 5_000_010;
const DONE: ExitStatus = { exitCode: 0, signal: null };

/** A process of the run. */
export function row(pid: number, change: Partial<ProcessRow> = {}): ProcessRow {
  const base = { ppid: 1, pgid: PID, state: "S", startedSeconds: 100, name: "job" };
  return { pid, ...base, marker: MARKER, ...change };
}

/** A command that ends when the test says so. */
export class Script implements Spawned {
  readonly pid = PID;
  readonly status: Promise<ExitStatus>;
  ended: ExitStatus | null = null;
  pipesClosed = false;
  released = 0;
  readonly notes: unknown[] = [];
  #resolve: (status: ExitStatus) => void = () => {};

  constructor(readonly options: SpawnOptions) {
    this.status = new Promise((resolve) => this.#resolve = resolve);
  }

  end(status: ExitStatus = DONE): void {
    this.ended = status;
    this.pipesClosed = true;
    this.#resolve(status);
  }

  async waitPipes(limitMs: number): Promise<boolean> {
    if (!this.pipesClosed) await this.options.clock.sleep(limitMs);
    return this.pipesClosed;
  }

  release(): Promise<void> {
    this.released++;
    return Promise.resolve();
  }

  record(): PhaseRecord {
    return {
      argv: [...this.options.argv],
      startedMs: 0,
      endedMs: this.ended === null ? null : 1,
      exitCode: this.ended?.exitCode ?? null,
      signal: this.ended?.signal ?? null,
      limitHit: null,
      endedByLab: false,
      stdoutBytes: 0,
      stderrBytes: 0,
      stdoutTail: "",
      stderrTail: "",
      startError: null,
    };
  }

  noteEnd(end: Parameters<Spawned["noteEnd"]>[0]): void {
    this.notes.push(end);
  }
}

/** A driver with everything that a test looks at. */
export interface Bench {
  driver: Driver;
  system: ScriptedSystem;
  abort: AbortController;
  entries: JournalEntry[];
  leaders: ProcessIdentity[];
  scripts: Script[];
  start(): Promise<Script>;
  watch(spawned: Spawned, options?: Partial<SuperviseOptions>): Promise<Ending>;
}

/** Makes a driver over a scripted system. */
export function bench(
  table: (look: number) => ProcessRow[] = () => [row(PID)],
  onSignal: (signal: string) => void = () => {},
  more: Partial<DriverOptions> = {},
): Bench {
  const system = scriptedSystem(table, onSignal);
  const { clock } = system;
  const abort = new AbortController();
  const entries: JournalEntry[] = [];
  const leaders: ProcessIdentity[] = [];
  const scripts: Script[] = [];
  const driver = new Driver({
    marker: MARKER,
    logDir: "/logs",
    clock,
    journal: new Journal(null, clock, (entry) => entries.push(entry)),
    signal: abort.signal,
    onLeader: (leader) => leaders.push(leader),
    system,
    spawn: (options) => {
      const script = new Script(options);
      scripts.push(script);
      return script;
    },
    ...more,
  });
  return {
    driver,
    system,
    abort,
    entries,
    leaders,
    scripts,
    start: async () => await driver.start("job", ["/bin/job", "x"], "/work", { A: "1" }) as Script,
    watch: (spawned, options = {}) =>
      driver.supervise(spawned, { runMs: 10_000, idleMs: 5000, signature: () => "", ...options }),
  };
}

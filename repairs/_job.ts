/**
 * A wrapped job: someone else's command in a session and group of its own, marked, with its output
 * passed on, and with a way to end all of it and prove that it is gone.
 *
 * @module
 */
import {
  type Clock,
  drawToken,
  identityOf,
  type Keeper,
  type KillRecord,
  type LabSignal,
  Ledger,
  MARKER_NAME,
  type ProcessIdentity,
  type ProcessRow,
  reap,
  type ReapSystem,
  sendSignal,
  startKeeper,
  systemTool,
} from "../lab/mod.ts";
import type { JobEnd } from "./_job_end.ts";
import { jobVariable, readJobTable } from "./_job_table.ts";
import type { ByteSink } from "./_output.ts";

/** What to start. */
export interface JobOptions {
  argv: readonly string[];
  /** @default {the folder of this process} */
  cwd?: string | undefined;
  /** Added to the environment of this process. */
  env?: Readonly<Record<string, string>> | undefined;
  /** @default {"inherit"} */
  stdin?: "null" | "inherit" | undefined;
  /** Where the output goes; without sinks the job writes straight to our own streams. */
  sinks?: { stdout: ByteSink; stderr: ByteSink } | undefined;
  clock: Clock;
  /** Marks the job's processes: 32 hexadecimal digits. @default {drawn} */
  token?: string | undefined;
}

/** The job could not be started; `exitCode` is what a shell would answer: 127 or 126. */
export class JobStartError extends Error {
  /** Name of the class, for messages. */
  override name = "JobStartError";
  /** 127: no such program or folder. 126: it is there but may not be run. */
  readonly exitCode: 126 | 127;

  /**
   * Makes the error.
   *
   * @param exitCode See {@linkcode JobStartError.exitCode}.
   */
  constructor(message: string, exitCode: 126 | 127, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
  }
}

/** Time for end-of-file on the job's output once nobody of it is left. */
const PIPE_LIMIT_MS = 1000;
const LOOK_EVERY_MS_MIN = 200;
const LOOK_EVERY_MS_MAX = 2000;

/**
 * A job that was started. Dispose of it on every path: that ends its keeper and drops its pipes.
 */
export class Job implements AsyncDisposable {
  readonly pid: number;
  /** 32 hexadecimal digits that mark every process of this job. */
  readonly token: string;
  /** Resolves when the job's first process has ended. Never rejects. */
  readonly status: Promise<JobEnd>;
  /** The status, once it is known. */
  ended: JobEnd | null = null;
  /** Bytes of output so far; stays 0 when the output is not passed through us. */
  outputBytes = 0;
  readonly #clock: Clock;
  readonly #ledger: Ledger;
  readonly #startedMs: number;
  #keeper: Keeper | null = null;
  #readers: ReadableStreamDefaultReader<Uint8Array>[] = [];
  #pumps: Promise<unknown> = Promise.resolve();
  #openPipes = 0;
  #writesPending = 0;
  #lookDueMs = 0;
  #lookEveryMs = LOOK_EVERY_MS_MIN;
  #isReleased = false;
  #sinkError: unknown = null;
  readonly #waiters = new Set<() => void>();

  private constructor(child: Deno.ChildProcess, token: string, options: JobOptions) {
    this.pid = child.pid;
    this.token = token;
    this.#clock = options.clock;
    this.#ledger = new Ledger(token);
    this.#startedMs = options.clock.nowMs();
    this.status = child.status.then(({ code, signal }) => {
      this.ended = { exitCode: signal === null ? code : null, signal };
      for (const wake of this.#waiters) wake();
      return this.ended;
    });
    const { sinks } = options;
    if (sinks === undefined) return;
    this.#readers = [child.stdout.getReader(), child.stderr.getReader()];
    this.#openPipes = 2;
    this.#pumps = Promise.all(
      [sinks.stdout, sinks.stderr].map((sink, i) => this.#pump(this.#readers[i], sink)),
    );
  }

  /**
   * Starts a job.
   *
   * @throws {JobStartError} When the program or the folder is not there or may not be used.
   * @throws {EnvironmentError} When this machine has no `ps` or `kill`.
   */
  static async start(options: JobOptions): Promise<Job> {
    for (const tool of ["ps", "kill", "sh"]) systemTool(tool);
    const token = options.token ?? drawToken();
    const outer = Deno.env.get(MARKER_NAME);
    const keeper = await startKeeper(token);
    try {
      const env = {
        ...options.env,
        // Inside a lab its mark stays; outside, ours lets the keeper find all of the job.
        ...(outer === undefined ? { [MARKER_NAME]: token } : {}),
        [jobVariable(token)]: token,
      };
      const job = new Job(spawnChild(options, env), token, options);
      job.#keeper = keeper;
      await job.#noteLeader();
      return job;
    } catch (error) {
      await keeper.stop();
      throw error;
    }
  }

  async #noteLeader(): Promise<void> {
    const rows = await readJobTable(this.token);
    const row = rows.find((each) => each.pid === this.pid && each.pgid === this.pid);
    if (row !== undefined && this.ended === null) {
      this.#ledger.addLeader(identityOf(row));
      await this.#keeper?.addLeader(identityOf(row));
    }
    this.#ledger.observe(rows);
  }

  async #pump(
    reader: ReadableStreamDefaultReader<Uint8Array> | undefined,
    sink: ByteSink,
  ): Promise<void> {
    try {
      while (reader !== undefined) {
        const { done, value } = await reader.read();
        if (done) {
          if (!this.#isReleased) this.#openPipes--;
          return;
        }
        this.outputBytes += value.length;
        this.#writesPending++;
        const isRead = await sink.write(value).finally(() => this.#writesPending--);
        // Our reader has left: the job shall notice just as if it wrote there itself (SIGPIPE).
        if (!isRead) {
          this.#openPipes--;
          return void await reader.cancel();
        }
      }
    } catch (error) {
      // A full disk, for example. Reading on would lose output silently.
      this.#sinkError ??= error;
      this.#openPipes--;
      await reader?.cancel().catch(() => {});
    }
  }

  /** Whether output waits for the reader of our own output, so that the job cannot write either. */
  get isOutputBlocked(): boolean {
    return this.#writesPending > 0;
  }

  /** Why output could not be passed on, or `null`. */
  get outputProblem(): string | null {
    const error = this.#sinkError;
    if (error === null) return null;
    return error instanceof Error ? error.message : String(error);
  }

  /** Every process that was ever seen as part of the job. */
  get seen(): ProcessIdentity[] {
    return this.#ledger.seen;
  }

  /**
   * Waits until the job's first process has ended, but not longer than `limitMs`, and not after
   * `signal` is aborted.
   *
   * @returns Whether it has ended.
   */
  async waitEnd(limitMs: number, signal?: AbortSignal): Promise<boolean> {
    if (this.ended !== null) return true;
    const enough = new AbortController();
    const wake = () => enough.abort();
    if (signal?.aborted) wake();
    // One entry per wait and not one `race` on the status: a job may be waited on for days.
    this.#waiters.add(wake);
    signal?.addEventListener("abort", wake);
    await this.#clock.sleep(limitMs, enough.signal);
    this.#waiters.delete(wake);
    signal?.removeEventListener("abort", wake);
    return this.ended !== null;
  }

  /** Looks at the process table: who of the job is alive now. */
  async look(): Promise<ProcessRow[]> {
    return this.#ledger.observe(await readJobTable(this.token));
  }

  /**
   * Looks when a look is due: often at first, then every two seconds. This is how children that
   * drop our mark are found: by descent, while their parent still lives.
   */
  async lookWhenDue(): Promise<void> {
    if (this.#clock.nowMs() < this.#lookDueMs) return;
    await this.look();
    this.#lookEveryMs = Math.min(this.#lookEveryMs * 1.5, LOOK_EVERY_MS_MAX);
    this.#lookDueMs = this.#clock.nowMs() + this.#lookEveryMs;
  }

  /** Sends one signal to everybody of the job who is alive. */
  async signal(signal: LabSignal): Promise<void> {
    const alive = await this.look();
    await sendSignal(signal, alive.map((row) => row.pid));
  }

  /**
   * Ends everybody of the job and says what was seen. `pipesClosed` is `null` when the job wrote
   * straight to our own streams.
   *
   * @param graceMs Time between TERM and KILL.
   */
  async end(graceMs: number): Promise<KillRecord> {
    const system: ReapSystem = {
      readTable: () => readJobTable(this.token),
      signal: sendSignal,
      clock: this.#clock,
    };
    const kill = await reap(system, {
      ledger: this.#ledger,
      spawned: [],
      graceMs,
      runStartMs: this.#startedMs,
    });
    await this.waitEnd(PIPE_LIMIT_MS); // Dead in the table is a moment before known to us.
    const pipesClosed = this.#readers.length === 0 ? null : await this.drain(PIPE_LIMIT_MS);
    return { ...kill, witnesses: { ...kill.witnesses, pipesClosed } };
  }

  /** Waits for end-of-file of the job's output, but not longer than `limitMs`. */
  async drain(limitMs: number): Promise<boolean> {
    const stop = new AbortController();
    await Promise.race([this.#pumps, this.#clock.sleep(limitMs, stop.signal)]);
    stop.abort();
    // A slow reader behind us is no process of the job: what it has not taken yet is waited for.
    if (this.isOutputBlocked && this.#openPipes > 0) return await this.drain(limitMs);
    return this.#openPipes === 0;
  }

  /** Ends the keeper and forgets the pipes. Signals nobody. Safe to call twice. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isReleased) return;
    this.#isReleased = true;
    await this.#keeper?.stop();
    await Promise.all(this.#readers.map((reader) => reader.cancel().catch(() => {})));
    await this.#pumps;
  }
}

function spawnChild(options: JobOptions, env: Record<string, string>): Deno.ChildProcess {
  const [program = "", ...args] = options.argv;
  const cwd = options.cwd ?? Deno.cwd();
  const stream = options.sinks === undefined ? "inherit" : "piped";
  if (!isFolder(cwd)) {
    throw new JobStartError(`Cannot start the job: the folder "${cwd}" does not exist`, 127);
  }
  try {
    return new Deno.Command(program, {
      args,
      cwd,
      env,
      stdin: options.stdin ?? "inherit",
      stdout: stream,
      stderr: stream,
      detached: true,
    }).spawn();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) {
      throw new JobStartError(
        `Cannot start the job: there is no program "${program}". Check its name, or give its ` +
          "whole path (cron has a shorter PATH than your shell)",
        127,
        { cause: error },
      );
    }
    const why = error instanceof Error ? error.message : String(error);
    throw new JobStartError(
      `Cannot start the job: "${program}" may not be run (${why}). Check that it is executable`,
      126,
      { cause: error },
    );
  }
}

function isFolder(path: string): boolean {
  try {
    return Deno.statSync(path).isDirectory;
  } catch {
    return false;
  }
}

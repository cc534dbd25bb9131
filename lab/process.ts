/**
 * Starting a command the way the lab needs it: own session and process group, our marker in its
 * environment, stdin from /dev/null, output into bounded files, and no wait without a limit.
 *
 * @module
 */
import type { Clock } from "./clock.ts";
import { OutputFile } from "./output_file.ts";
import { MARKER_NAME } from "./process_table.ts";
import type { PhaseRecord } from "./record.ts";

/** How a process ended. */
export interface ExitStatus {
  /** `null` when a signal ended it. */
  exitCode: number | null;
  /** The signal that ended it, for example `SIGKILL`; `null` when it exited. */
  signal: string | null;
}

/** What to start. */
export interface SpawnOptions {
  /** Program and arguments; under a scoped `--allow-run` the program must be an absolute path. */
  argv: readonly [string, ...string[]];
  /** Folder in which it runs. */
  cwd: string;
  /** The whole environment; nothing is inherited. */
  env: Readonly<Record<string, string>>;
  /** 32 hexadecimal digits; see {@linkcode MARKER_NAME}. */
  marker: string;
  /** Folder of the bounded output files. */
  logDir: string;
  /** Base name of the output files in `logDir`. */
  logName: string;
  /** Bytes of each stream that go to its file at most. @default {16 MiB} */
  logBytesMax?: number;
  /** Time. */
  clock: Clock;
  /** Milliseconds on `clock` at which the run began; phases are measured from it. */
  runStartMs: number;
}

/**
 * A started command. The one seam between the lab and the operating system: a scripted version
 * with the same shape stands in for it in tests.
 */
export interface Spawned {
  /** Process id of the direct child; also the id of its group. */
  readonly pid: number;
  /** Resolves when the direct child has ended. Never rejects. */
  readonly status: Promise<ExitStatus>;
  /** The status, once it is known. */
  readonly ended: ExitStatus | null;
  /** Whether both pipes gave end-of-file, so that nobody holds them any more. */
  readonly pipesClosed: boolean;
  /** Waits for end-of-file of both pipes, but not longer than `limitMs`. */
  waitPipes(limitMs: number): Promise<boolean>;
  /** Stops reading, closes files, forgets the pipes. Safe to call twice. */
  release(): Promise<void>;
  /** The phase so far. */
  record(): PhaseRecord;
  /** Notes that a limit or the lab itself ended this command. */
  noteEnd(end: { limitHit?: "run" | "idle"; endedByLab?: boolean }): void;
}

const LOG_BYTES_MAX = 16 * 1024 * 1024;

/** Variables that Deno lets only an unscoped `--allow-run` set; they go through `env` instead. */
const LINKER_REGEXP = /^\s*(LD|DYLD)_/;

/** The program that sets loader variables; a narrowed run must be allowed to run it, then. */
export const ENV_PROGRAM = "/usr/bin/env";

/** The argv that sets loader variables in the child by means of `env`, where there are any. */
export function withLinkerVariables(
  argv: readonly string[],
  env: Readonly<Record<string, string>>,
): { argv: string[]; env: Record<string, string> } {
  const entries = Object.entries(env);
  const linker = entries.filter(([name]) => LINKER_REGEXP.test(name));
  if (linker.length === 0) return { argv: [...argv], env: { ...env } };
  return {
    argv: [ENV_PROGRAM, ...linker.map(([name, value]) => `${name}=${value}`), ...argv],
    env: Object.fromEntries(entries.filter(([name]) => !LINKER_REGEXP.test(name))),
  };
}

/**
 * Starts a command. Requires `--allow-run` for it, and write for the folder of its output.
 *
 * @throws {Deno.errors.NotFound} When the program or the folder does not exist.
 * @throws {Deno.errors.PermissionDenied} When the program may not be run.
 * @throws {Deno.errors.AlreadyExists} When an output file of that name is there already. Nothing was
 *     started then.
 */
export function spawn(options: SpawnOptions): Spawned {
  const { argv, env } = withLinkerVariables(options.argv, options.env);
  // The files come first: whatever goes wrong with them must not leave a process that nobody owns.
  const logs = openLogs(options);
  const startedMs = options.clock.nowMs() - options.runStartMs;
  try {
    const child = new Deno.Command(argv[0] ?? "", {
      args: argv.slice(1),
      cwd: options.cwd,
      env: { ...env, [MARKER_NAME]: options.marker },
      clearEnv: true,
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
      detached: true,
    }).spawn();
    return new RealSpawned(child, startedMs, options, logs);
  } catch (error) {
    for (const log of logs) log.discard();
    throw error;
  }
}

function openLogs(options: SpawnOptions): [OutputFile, OutputFile] {
  const max = options.logBytesMax ?? LOG_BYTES_MAX;
  const base = `${options.logDir}/${options.logName}`;
  const stdout = new OutputFile(`${base}.stdout`, max);
  try {
    return [stdout, new OutputFile(`${base}.stderr`, max)];
  } catch (error) {
    stdout.discard();
    throw error;
  }
}

class RealSpawned implements Spawned {
  readonly pid: number;
  readonly status: Promise<ExitStatus>;
  ended: ExitStatus | null = null;
  #child: Deno.ChildProcess;
  #endedMs: number | null = null;
  #readers: ReadableStreamDefaultReader<Uint8Array>[];
  #pumps: Promise<unknown>;
  #logs: [OutputFile, OutputFile];
  #pipesOpen = 2;
  #released = false;
  #limitHit: "run" | "idle" | null = null;
  #endedByLab = false;

  constructor(
    child: Deno.ChildProcess,
    readonly startedMs: number,
    readonly options: SpawnOptions,
    logs: [OutputFile, OutputFile],
  ) {
    this.pid = child.pid;
    this.#child = child;
    this.#logs = logs;
    this.#readers = [child.stdout.getReader(), child.stderr.getReader()];
    this.#pumps = Promise.all(this.#readers.map((reader, i) => this.#pump(reader, i)));
    this.status = child.status.then(
      (status) =>
        this.#end({
          exitCode: status.signal === null ? status.code : null,
          signal: status.signal,
        }),
      // Somebody else has collected the child: it is over, and nobody knows how.
      () => this.#end({ exitCode: null, signal: null }),
    );
  }

  #end(status: ExitStatus): ExitStatus {
    this.#endedMs = this.options.clock.nowMs() - this.options.runStartMs;
    this.ended = status;
    return status;
  }

  async #pump(reader: ReadableStreamDefaultReader<Uint8Array>, index: number): Promise<void> {
    try {
      while (true) {
        const { done, value } = await reader.read();
        if (done) break;
        this.#logs[index]?.write(value);
      }
      if (!this.#released) this.#pipesOpen--;
    } catch {
      // A cancelled reader: not an end-of-file, so the pipe counts as held.
    }
  }

  get pipesClosed(): boolean {
    return this.#pipesOpen === 0;
  }

  async waitPipes(limitMs: number): Promise<boolean> {
    if (this.pipesClosed) return true;
    const stop = new AbortController();
    await Promise.race([this.#pumps, this.options.clock.sleep(limitMs, stop.signal)]);
    stop.abort();
    return this.pipesClosed;
  }

  async release(): Promise<void> {
    if (this.#released) return;
    this.#released = true;
    // A promise of cancel() can wait for a read in flight; the pumps end with it either way.
    await Promise.all(this.#readers.map((reader) => reader.cancel().catch(() => {})));
    await this.#pumps;
    for (const log of this.#logs) log.close();
    // One that nothing can end must not keep the whole program from ending.
    if (this.ended === null) this.#child.unref();
  }

  noteEnd(end: { limitHit?: "run" | "idle"; endedByLab?: boolean }): void {
    this.#limitHit = end.limitHit ?? this.#limitHit;
    this.#endedByLab = end.endedByLab ?? this.#endedByLab;
  }

  record(): PhaseRecord {
    const [stdout, stderr] = this.#logs;
    return {
      argv: [...this.options.argv],
      startedMs: this.startedMs,
      endedMs: this.#endedMs,
      exitCode: this.ended?.exitCode ?? null,
      signal: this.ended?.signal ?? null,
      limitHit: this.#limitHit,
      endedByLab: this.#endedByLab,
      stdoutBytes: stdout.seenBytes,
      stderrBytes: stderr.seenBytes,
      stdoutTail: stdout.tail(),
      stderrTail: stderr.tail(),
      startError: null,
    };
  }
}

/** The record of a command that could not be started. */
export function startErrorPhase(
  argv: readonly string[],
  startedMs: number,
  error: unknown,
): PhaseRecord {
  return {
    argv: [...argv],
    startedMs,
    endedMs: startedMs,
    exitCode: null,
    signal: null,
    limitHit: null,
    endedByLab: false,
    stdoutBytes: 0,
    stderrBytes: 0,
    stdoutTail: "",
    stderrTail: "",
    startError: error instanceof Error ? error.message : String(error),
  };
}

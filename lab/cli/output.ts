/**
 * The one module that writes to the terminal.
 *
 * Writing is synchronous, so that everything is out before the program ends. A reader that went
 * away (`failure-lab … | head`) never stops the work: the text is dropped and files stay as they
 * would have been.
 *
 * @module
 */
import { type Clock, systemClock } from "../clock.ts";
import { createStyle, type Style } from "../report/style.ts";
import { displayWidth, visible } from "../report/text.ts";

export type { Style } from "../report/style.ts";
export { visible } from "../report/text.ts";

/** Where a command writes. Text from jobs and file names must pass through `visible` before. */
export interface Output {
  /** Prints a text on standard output, with a line end if it has none. */
  out(text: string): void;
  /** Prints a text on standard error, with a line end if it has none. */
  err(text: string): void;
  /** Rewrites one line on standard error; does nothing when that is not a terminal. */
  progress(text: string): void;
  /** Takes the progress line away. `out` and `err` do so by themselves. */
  clearProgress(): void;
  /** For texts given to `out`. */
  readonly style: Style;
  /** Whether standard output is a terminal. */
  readonly isTerminal: boolean;
  /** Columns to wrap texts at. */
  readonly width: number;
  /** Why standard output could not be written (for example a full disk); `null` when all is well. */
  readonly problem: string | null;
}

/** A stream to write to; the real ones are `Deno.stdout` and `Deno.stderr`. */
export interface Sink {
  /** Writes some of the bytes and gives how many. */
  writeSync(bytes: Uint8Array): number;
  /** Whether a person sees it at once. */
  isTerminal(): boolean;
}

/** What an output is made from; all of it has a real default. */
export interface OutputOptions {
  /** Where `out` writes. @default {standard output} */
  stdout?: Sink;
  /** Where `err` and `progress` write. @default {standard error} */
  stderr?: Sink;
  /** For the rate of progress lines. @default {systemClock} */
  clock?: Clock;
  /** Reads an environment variable. */
  env?: (name: string) => string | undefined;
  /** Columns of the terminal; `null` when it has none. */
  columns?: () => number | null;
}

/** Shortest time between two progress lines. */
const PROGRESS_EVERY_MS = 80;

/** Columns where there is no terminal to ask. */
const DEFAULT_WIDTH = 100;

const encoder = new TextEncoder();

function readEnv(name: string): string | undefined {
  try {
    return Deno.env.get(name);
  } catch (error) {
    // Under narrowed permissions the variable counts as not set.
    if (error instanceof Deno.errors.NotCapable) return undefined;
    throw error;
  }
}

function consoleColumns(): number | null {
  try {
    return Deno.consoleSize().columns || null;
  } catch {
    return null;
  }
}

/** Blocks for a moment; only for a pipe that is full at this instant. */
function pauseSync(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** One stream: writes everything, and goes quiet when the reader has left. */
class Stream {
  readonly #sink: Sink;
  #closed = false;
  problem: string | null = null;

  constructor(sink: Sink) {
    this.#sink = sink;
  }

  write(text: string): void {
    if (this.#closed) return;
    let bytes = encoder.encode(text);
    try {
      while (bytes.length > 0) bytes = bytes.subarray(this.#writeSome(bytes));
    } catch (error) {
      this.#closed = true;
      // A reader that stopped reading is no fault of the run.
      if (error instanceof Deno.errors.BrokenPipe) return;
      this.problem = error instanceof Error ? error.message : String(error);
    }
  }

  #writeSome(bytes: Uint8Array): number {
    while (true) {
      try {
        return this.#sink.writeSync(bytes);
      } catch (error) {
        // A pipe shared with a program that made it non-blocking refuses while it is full.
        if (error instanceof Deno.errors.WouldBlock) pauseSync(2);
        else if (!(error instanceof Deno.errors.Interrupted)) throw error;
      }
    }
  }
}

function withLineEnd(text: string): string {
  return text.endsWith("\n") ? text : `${text}\n`;
}

/** The text, cut to the columns of one terminal line. */
function oneLine(text: string, width: number): string {
  let line = "";
  for (const character of visible(text)) {
    if (displayWidth(line + character) > width) return line;
    line += character;
  }
  return line;
}

/**
 * Makes an output. Colour is used only on a terminal, without `NO_COLOR` and with a `TERM` other
 * than `dumb`.
 */
export function createOutput(options: OutputOptions = {}): Output {
  const env = options.env ?? readEnv;
  const clock = options.clock ?? systemClock;
  const columns = options.columns ?? consoleColumns;
  const stdoutSink = options.stdout ?? Deno.stdout;
  const stderrSink = options.stderr ?? Deno.stderr;
  const stdout = new Stream(stdoutSink);
  const stderr = new Stream(stderrSink);
  const isTerminal = stdoutSink.isTerminal();
  const isDumb = env("TERM") === "dumb";
  const hasProgress = stderrSink.isTerminal() && !isDumb;
  let progressAtMs = -Infinity;
  let isProgressShown = false;
  const clearProgress = () => {
    if (isProgressShown) stderr.write("\r\x1b[2K");
    isProgressShown = false;
  };
  return {
    isTerminal,
    style: createStyle(isTerminal && !isDumb && !env("NO_COLOR")),
    get width() {
      const asked = Number(env("COLUMNS"));
      const found = (isTerminal ? columns() : null) ?? (asked > 0 ? asked : DEFAULT_WIDTH);
      return Math.max(40, Math.min(found, 400));
    },
    get problem() {
      return stdout.problem;
    },
    clearProgress,
    out(text) {
      clearProgress();
      stdout.write(withLineEnd(text));
    },
    err(text) {
      clearProgress();
      stderr.write(withLineEnd(text));
    },
    progress(text) {
      const nowMs = clock.nowMs();
      if (!hasProgress || nowMs - progressAtMs < PROGRESS_EVERY_MS) return;
      progressAtMs = nowMs;
      isProgressShown = true;
      // One column is left free: a full line would wrap, and then it cannot be rewritten.
      stderr.write(`\r\x1b[2K${oneLine(text, (columns() ?? 80) - 1)}`);
    },
  };
}

/** An output that keeps what it was given, for tests. */
export interface CapturedOutput extends Output {
  /** All that was written to standard output. */
  readonly stdout: string;
  /** All that was written to standard error. */
  readonly stderr: string;
}

/** Makes an output for tests; by default it is not a terminal and 100 columns wide. */
export function captureOutput(
  options: { isTerminal?: boolean; columns?: number; clock?: Clock } = {},
): CapturedOutput {
  const texts = { stdout: "", stderr: "" };
  const sink = (name: "stdout" | "stderr"): Sink => {
    const decoder = new TextDecoder();
    return {
      isTerminal: () => options.isTerminal ?? false,
      writeSync(bytes) {
        texts[name] += decoder.decode(bytes, { stream: true });
        return bytes.length;
      },
    };
  };
  const output = createOutput({
    stdout: sink("stdout"),
    stderr: sink("stderr"),
    env: (name) => name === "COLUMNS" ? String(options.columns ?? DEFAULT_WIDTH) : undefined,
    columns: () => options.columns ?? DEFAULT_WIDTH,
    ...(options.clock ? { clock: options.clock } : {}),
  });
  return Object.defineProperties(output, {
    stdout: { get: () => texts.stdout },
    stderr: { get: () => texts.stderr },
  }) as CapturedOutput;
}

/**
 * Prints an error that nobody expected: one line, and the stack only when the user asked for it
 * with `FAILURE_LAB_DEBUG=1`.
 */
export function printUnexpectedError(error: unknown, output: Output = createOutput()): void {
  const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  output.err(`failure-lab: internal error: ${visible(message, { keepNewlines: true })}`);
  if (readEnv("FAILURE_LAB_DEBUG") === "1") {
    const stack = error instanceof Error ? error.stack ?? message : message;
    output.err(visible(stack, { keepNewlines: true }));
    return;
  }
  output.err("This is a defect of failure-lab. FAILURE_LAB_DEBUG=1 shows where it happened.");
}

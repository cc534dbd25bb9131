/**
 * Sending by a command, and asking by a command or a log whether something was sent.
 *
 * @module
 */
import { join, resolve } from "@std/path";
import { type Clock, hashBytes, systemTool } from "../lab/mod.ts";
import { JobStartError } from "./_job.ts";
import { runJob, type WrappedJob } from "./_run.ts";
import { type DeliverOptions, parseRetryAfterMs, type SendAnswer, type WasSent } from "./outbox.ts";

/** A command that sends, and what its exit codes mean. */
export interface SendByJobOptions {
  /** The command. */
  job: WrappedJob;
  /** The clock to go by. */
  clock: Clock;
  /** Folder for a small file per key, through which the command says how long to wait. */
  scratchDir: string;
  /** Surely not sent; may be tried again. */
  notSentCodes: readonly number[];
  /** Surely not sent, and never will be. */
  refusedCodes: readonly number[];
}

/** A `send` that runs the command, and the error with which it could not be started, if so. */
export interface JobSender {
  /** For {@linkcode Outbox.deliver}. */
  send: DeliverOptions["send"];
  /** Why the command could not be started; `null` when it could. */
  startError(): JobStartError | null;
}

/**
 * Makes a `send` of a command. Exit 0 means sent; the declared codes mean not sent; every other
 * end, also by a signal, means that it is not known.
 *
 * The command gets `FAILURE_LAB_KEY`, `FAILURE_LAB_ATTEMPT` and `FAILURE_LAB_RETRY_AFTER_FILE`,
 * into which it may write the value of a Retry-After header (seconds or a date).
 */
export function sendByJob(options: SendByJobOptions): JobSender {
  let startError: JobStartError | null = null;
  return {
    startError: () => startError,
    async send({ key, number, token }) {
      // One name per key: what a killed run left is taken up, and taken away, by the next one.
      const name = `.retry-after-${hashBytes(new TextEncoder().encode(key)).slice(0, 16)}`;
      const file = join(resolve(options.scratchDir), name);
      await Deno.writeTextFile(file, "");
      try {
        const { exitCode, end } = await runJob({
          ...options.job,
          clock: options.clock,
          token,
          env: {
            ...options.job.env,
            FAILURE_LAB_KEY: key,
            FAILURE_LAB_ATTEMPT: String(number),
            FAILURE_LAB_RETRY_AFTER_FILE: file,
          },
        });
        const text = await Deno.readTextFile(file).catch(() => "");
        const retryAfterMs = parseRetryAfterMs(text, options.clock.wallMs()) ?? 0;
        return { ...answerOf(exitCode, end.signal, options), retryAfterMs };
      } catch (error) {
        if (!(error instanceof JobStartError)) throw error;
        startError = error;
        return { sent: false, endsRun: true, why: error.message };
      } finally {
        await Deno.remove(file).catch(() => {});
      }
    },
  };
}

function answerOf(exitCode: number, signal: string | null, options: SendByJobOptions): SendAnswer {
  if (signal !== null) return { sent: "unknown", why: `the command was ended by ${signal}` };
  const why = `the command ended with exit code ${exitCode}`;
  if (exitCode === 0) return { sent: true, why };
  if (options.refusedCodes.includes(exitCode)) return { sent: false, isRefused: true, why };
  return { sent: options.notSentCodes.includes(exitCode) ? false : "unknown", why };
}

const PROBE_LIMIT_MS = 60_000;

/**
 * A probe by `sh -c`: exit 0 sent, 1 not sent, everything else (also a signal, or taking longer
 * than a minute) unknown. It gets the key in `FAILURE_LAB_KEY`.
 */
export function shellProbe(command: string): (key: string) => Promise<WasSent> {
  return async (key) => {
    const { code, signal } = await new Deno.Command(systemTool("sh"), {
      args: ["-c", command],
      env: { FAILURE_LAB_KEY: key },
      stdin: "null",
      stdout: "null",
      stderr: "inherit",
      signal: AbortSignal.timeout(PROBE_LIMIT_MS),
    }).output();
    if (signal !== null) return "unknown";
    return code === 0 ? true : code === 1 ? false : "unknown";
  };
}

/**
 * A probe by a log of what was sent.
 *
 * @param match Pattern of a line; `{key}` stands for the key, taken literally. Without it: the key
 *     as a word of its own.
 * @param absentMeansNotSent Only right when the log is written by the receiver, or in one step with
 *     the effect; otherwise a death between effect and log looks like "not sent".
 * @throws {SyntaxError} When the pattern is none.
 */
export function sentLogProbe(
  path: string,
  match: string | undefined,
  absentMeansNotSent: boolean,
): (key: string) => Promise<WasSent> {
  const patternFor = (key: string) => {
    const literal = key.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");
    const pattern = match ?? String.raw`(?<![\w.-]){key}(?![\w.-])`;
    return new RegExp(pattern.replaceAll("{key}", () => literal), "u");
  };
  patternFor("check");
  return async (key) => {
    const pattern = patternFor(key);
    let text: string;
    try {
      text = await Deno.readTextFile(path);
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) return "unknown";
      text = "";
    }
    const lines = text.split("\n");
    const last = lines.pop() ?? "";
    if (lines.some((line) => pattern.test(line))) return true;
    // A last line without its end was cut: it may have been about to name the key.
    return absentMeansNotSent && last === "" ? false : "unknown";
  };
}

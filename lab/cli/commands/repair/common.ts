/**
 * What the `repair` commands share: their messages, their result file, signals, and how errors of a
 * wrapper become exit codes.
 *
 * @module
 */
import {
  JobStartError,
  RepairError,
  replaceFile,
  runJob,
  type RunResult,
} from "../../../../repairs/mod.ts";
import { ProcessTableError } from "../../../process_table.ts";
import { EnvironmentError } from "../../../system_tools.ts";
import { EXIT_CODES } from "../../../verdict.ts";
import type { CommandContext, DurationFlag, FlagSpec, StringFlag } from "../../command.ts";
import { UsageError } from "../../errors.ts";
import { visible } from "../../output.ts";

/** Version of the shape that `--result` writes. */
export const RESULT_VERSION = 1;

const DAY_MS = 24 * 3_600_000;

/** `--result`: everything that was found, as JSON, apart from the output of the job. */
export const RESULT_FLAG: StringFlag = {
  kind: "string",
  name: "result",
  valueName: "FILE",
  summary: "Write what happened into this file, as JSON (stdout belongs to the job)",
  defaultText: "none",
  group: "Every repair",
};

/** `--grace`: time between TERM and KILL. */
export const GRACE_FLAG: DurationFlag = seconds(
  "grace",
  10_000,
  "Time between asking the job to end (TERM) and ending it (KILL)",
  { minMs: 0, group: "Every repair" },
);

/** The flags that every wrapper has. */
export const WRAPPER_FLAGS: readonly FlagSpec[] = [
  GRACE_FLAG,
  RESULT_FLAG,
  {
    kind: "boolean",
    name: "nohup",
    // Deno sets a handler of its own for HUP when it starts, so what nohup asked for is lost.
    summary:
      "Do not mind a HUP, as from a terminal that is closed (the program nohup cannot tell us)",
    group: "Every repair",
  },
];

/** A length of time in seconds, up to 30 days. */
export function seconds(
  name: string,
  defaultMs: number | null,
  summary: string,
  more: { minMs?: number; defaultText?: string; group?: string } = {},
): DurationFlag {
  return {
    kind: "duration",
    name,
    unit: "s",
    minMs: more.minMs ?? 10,
    maxMs: 30 * DAY_MS,
    summary,
    ...(defaultMs === null ? {} : { defaultMs }),
    ...(more.defaultText === undefined ? {} : { defaultText: more.defaultText }),
    ...(more.group === undefined ? {} : { group: more.group }),
  };
}

/** What a repair gives back: the exit code, and what goes into the result file. */
export interface RepairOutcome {
  exitCode: number;
  /** Plain JSON. */
  result: object;
}

/** What a repair command works with. */
export interface RepairTools {
  /** Prints a message on standard error, with the repair's name before it. */
  say(message: string): void;
  /** Asked to stop, by INT, TERM or HUP. */
  stop: { signal: AbortSignal; name: () => "TERM" | "INT" | "HUP" };
  graceMs: number;
}

/**
 * Runs the body of a repair command: listens for HUP as well, turns the wrapper's own errors into
 * messages and exit codes, and writes the result file whatever happened.
 *
 * @param module The repair's name, as in the messages.
 */
export async function runRepair(
  context: CommandContext,
  module: string,
  body: (tools: RepairTools) => Promise<RepairOutcome>,
): Promise<number> {
  const say = (message: string) =>
    context.out.err(`failure-lab repair ${module}: ${visible(message, { keepNewlines: true })}`);
  const resultFile = context.flags.string("result");
  const hangUp = listenForHangUp(context.rest.length > 0 && context.flags.boolean("nohup"));
  const stop = {
    signal: AbortSignal.any([context.signal, hangUp.signal]),
    name: () =>
      hangUp.signal.aborted ? "HUP" : context.interruptedBy() === "SIGINT" ? "INT" : "TERM",
  } as const;
  let outcome: RepairOutcome;
  try {
    if (resultFile !== undefined) openResult(resultFile, module);
    outcome = await body({ say, stop, graceMs: graceOf(context) });
  } catch (error) {
    const { exitCode, message } = answerOfError(error);
    say(message);
    outcome = { exitCode, result: { outcome: "error", error: message } };
  } finally {
    hangUp.close();
  }
  const exitCode = hangUp.signal.aborted ? 129 : outcome.exitCode;
  if (resultFile !== undefined) {
    replaceFile(resultFile, resultText({ module, exitCode, ...outcome.result }));
  }
  return exitCode;
}

/** Commands that start nothing have no --grace. */
function graceOf(context: CommandContext): number {
  return context.rest.length === 0 ? 0 : context.flags.durationMs("grace") ?? 0;
}

/** Runs what stands after `--` to its end, with everything passed through. */
export function runWrapped(
  context: CommandContext,
  tools: RepairTools,
  more: { env?: Record<string, string> } = {},
): Promise<RunResult> {
  return runJob({ argv: context.rest, clock: context.clock, ...more, ...tools });
}

function listenForHangUp(isIgnored: boolean): { signal: AbortSignal; close: () => void } {
  const controller = new AbortController();
  // Also where HUP is to be ignored a listener is needed: without one, it ends the program.
  const listener = () => isIgnored || controller.abort();
  Deno.addSignalListener("SIGHUP", listener);
  return {
    signal: controller.signal,
    close: () => Deno.removeSignalListener("SIGHUP", listener),
  };
}

/** Errors that are answers: their message is for the user. Everything else is a defect. */
function answerOfError(error: unknown): { exitCode: number; message: string } {
  if (error instanceof JobStartError || error instanceof RepairError) {
    return { exitCode: error.exitCode, message: error.message };
  }
  if (error instanceof EnvironmentError || error instanceof ProcessTableError) {
    return { exitCode: EXIT_CODES.environment, message: error.message };
  }
  throw error;
}

/** Written before the job runs: a file that cannot be written must stop us now, not afterwards. */
function openResult(path: string, module: string): void {
  try {
    replaceFile(path, resultText({ module, exitCode: null, outcome: "running" }));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new UsageError(`--result is "${visible(path)}"; it cannot be written: ${why}`);
  }
}

function resultText(result: object): string {
  const document = { schema: "failure-lab/repair", version: RESULT_VERSION, ...result };
  return `${JSON.stringify(document, null, 2)}\n`;
}

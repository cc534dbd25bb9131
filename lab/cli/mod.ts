/**
 * The command line: finds the command, reads its arguments, runs it, and turns what comes out into
 * an exit code.
 *
 * @module
 */
import { type Clock, systemClock } from "../clock.ts";
import { CLOSED_PLACES, closedPath } from "../closed_places.ts";
import { EXIT_CODES } from "../verdict.ts";
import { VERSION } from "../version.ts";
import { asksForHelp, parseArguments } from "./arguments.ts";
import type { CommandEntry } from "./command.ts";
import { findCommand, type Found, helpFor } from "./dispatch.ts";
import { isExpectedError, UsageError } from "./errors.ts";
import { createOutput, type Output, visible } from "./output.ts";
import { REGISTRY } from "./registry.ts";
import { commandLine } from "./shell_quote.ts";
import { exitCodeForSignal, type SignalSource, systemSignals, watchSignals } from "./signals.ts";
import { didYouMean } from "./suggest.ts";

export type {
  BooleanFlag,
  Command,
  CommandContext,
  CommandEntry,
  DurationFlag,
  FlagBase,
  FlagSpec,
  IntegerFlag,
  PositionalSpec,
  SizeFlag,
  StringFlag,
} from "./command.ts";
export { EnvironmentError, isExpectedError, UsageError } from "./errors.ts";
export { type FlagValue, FlagValues } from "./flag_values.ts";
export {
  type CapturedOutput,
  captureOutput,
  createOutput,
  type Output,
  type OutputOptions,
  type Sink,
} from "./output.ts";
export type { SignalSource, StopSignal } from "./signals.ts";

/** Parts of the outside world; tests give their own. */
export interface RunOptions {
  /** The commands. @default {every command of the program} */
  registry?: readonly CommandEntry[];
  /** Where to write. @default {the terminal} */
  output?: Output;
  /** Time. @default {systemClock} */
  clock?: Clock;
  /** Ctrl-C and TERM. @default {the signals of this process} */
  signals?: SignalSource;
  /** Ends the process at the third Ctrl-C. */
  exit?: (code: number) => void;
}

/**
 * Runs one command line.
 *
 * Errors that carry an `exitCode` from the exit code table are printed on standard error and give
 * that code. Any other error is a defect and is thrown.
 *
 * @param args The arguments of the program, without its name.
 * @returns The exit code.
 */
export async function run(args: readonly string[], options: RunOptions = {}): Promise<number> {
  const output = options.output ?? createOutput();
  const registry = options.registry ?? REGISTRY;
  let code: number;
  try {
    code = await runLine(args, registry, output, options);
  } catch (error) {
    const closed = closedPath(error);
    if (closed !== null) {
      output.err(`failure-lab: Cannot use "${visible(closed)}": ${CLOSED_PLACES}.`);
      code = EXIT_CODES.environment;
    } else if (isExpectedError(error)) {
      output.err(`failure-lab: ${visible(error.message, { keepNewlines: true })}`);
      code = error.exitCode;
    } else throw error;
  } finally {
    output.clearProgress();
  }
  if (output.problem !== null) {
    output.err(
      `failure-lab: could not write to standard output: ${visible(output.problem)}. ` +
        "What was printed is not complete; report files are not affected.",
    );
    if (code === EXIT_CODES.pass) code = EXIT_CODES.environment;
  }
  return code;
}

async function runLine(
  args: readonly string[],
  registry: readonly CommandEntry[],
  output: Output,
  options: RunOptions,
): Promise<number> {
  const [first] = args;
  if (first === undefined) {
    output.err(`${await helpFor(registry, [], output.width)}\n`);
    throw new UsageError("No command was given. To see it at work, type: failure-lab demo");
  }
  if (first === "--version" || first === "-V") {
    if (args.length > 1) throw new UsageError(`${first} stands alone; leave out what follows it.`);
    output.out(`failure-lab ${VERSION}`);
    return EXIT_CODES.pass;
  }
  if (first === "--help" || first === "-h") {
    output.out(await helpFor(registry, args.slice(1), output.width));
    return EXIT_CODES.pass;
  }
  if (first.startsWith("-")) {
    throw new UsageError(
      `The first argument must be a command, but it is "${visible(first).slice(0, 60)}".` +
        `${didYouMean(first.replace(/^-+/, ""), registry.map((entry) => entry.name))} ` +
        "Flags go after the command: failure-lab COMMAND [flags]",
    );
  }
  const found = await findCommand(registry, args);
  if (asksForHelp(found.args)) {
    output.out(await helpFor(registry, found.path.split(" "), output.width));
    return EXIT_CODES.pass;
  }
  try {
    return await runCommand(found, commandLine(args), output, options);
  } catch (error) {
    if (error instanceof UsageError) {
      error.message += `\nMore: failure-lab ${found.path} --help`;
    }
    throw error;
  }
}

async function runCommand(
  { command, path, args }: Found,
  rerun: string,
  output: Output,
  options: RunOptions,
): Promise<number> {
  if (command.subcommands !== undefined) {
    const names = command.subcommands.map((entry) => entry.name);
    throw new UsageError(`${path} needs one of: ${names.join(", ")}.`);
  }
  const { flags, positionals, rest } = parseArguments(command, args);
  const interruption = watchSignals(
    output,
    options.signals ?? systemSignals,
    options.exit ?? ((code) => Deno.exit(code)),
  );
  const { signal } = interruption;
  try {
    const code = await command.run({
      flags,
      positionals,
      rest,
      out: output,
      signal,
      interruptedBy: () => interruption.by(),
      clock: options.clock ?? systemClock,
      rerun,
    });
    const by = interruption.by();
    return by === null ? code : exitCodeForSignal(by);
  } catch (error) {
    const by = interruption.by();
    const isAbort = error === signal.reason ||
      (error instanceof DOMException && error.name === "AbortError");
    if (by !== null && isAbort) return exitCodeForSignal(by);
    throw error;
  } finally {
    interruption.close();
  }
}

/**
 * What a command is: the shapes that a file in `commands/` fills in. Types only.
 *
 * @module
 */
import type { Clock } from "../clock.ts";
import type { FlagValues } from "./flag_values.ts";
import type { Output } from "./output.ts";

/** What every flag has. */
export interface FlagBase {
  /** Long name without the dashes, in kebab-case. */
  name: string;
  /** One line for the help text. */
  summary: string;
  /** What the help text calls the value, for example `DIR`; not for booleans. */
  valueName?: string;
  /** What happens without the flag, in words, when there is no fixed default. */
  defaultText?: string;
  /** Heading under which the help text lists it. @default {"Flags"} */
  group?: string;
}

/** A switch. */
export interface BooleanFlag extends FlagBase {
  /** Tells the kinds apart. */
  kind: "boolean";
  /** Whether `--no-NAME` exists, too. */
  negatable?: boolean;
  /** Value without the flag. @default {false} */
  default?: boolean;
}

/** A text. */
export interface StringFlag extends FlagBase {
  /** Tells the kinds apart. */
  kind: "string";
  /** May be given several times; read it with `strings()`. */
  repeatable?: boolean;
  /** The only values that are accepted. */
  choices?: readonly string[];
  /** Says what is wrong with a value, or gives `null`. Runs after the other checks. */
  check?: (value: string) => string | null;
  /** Value without the flag. */
  default?: string;
}

/** A whole number. */
export interface IntegerFlag extends FlagBase {
  /** Tells the kinds apart. */
  kind: "integer";
  /** Smallest value that is accepted. */
  min: number;
  /** Largest value that is accepted. */
  max: number;
  /** Value without the flag. */
  default?: number;
}

/** A length of time: a number, or a number with `ms`, `s`, `m` or `h`. */
export interface DurationFlag extends FlagBase {
  /** Tells the kinds apart. */
  kind: "duration";
  /** What a plain number means: the unit that the flag's name says. */
  unit: "ms" | "s";
  /** Shortest time that is accepted. */
  minMs: number;
  /** Longest time that is accepted. */
  maxMs: number;
  /** Value without the flag. */
  defaultMs?: number;
}

/** A number of bytes: a whole number, or a number with `KB`, `MB`, `GB`, `KiB`, `MiB`, `GiB`. */
export interface SizeFlag extends FlagBase {
  /** Tells the kinds apart. */
  kind: "size";
  /** Smallest size that is accepted. */
  minBytes: number;
  /** Largest size that is accepted. */
  maxBytes: number;
  /** Value without the flag. */
  defaultBytes?: number;
}

/** One flag of a command. */
export type FlagSpec = BooleanFlag | StringFlag | IntegerFlag | DurationFlag | SizeFlag;

/** One argument that is not a flag. */
export interface PositionalSpec {
  /** In capitals, as the help text shows it. */
  name: string;
  /** What it is, for the help text and for error texts. */
  summary: string;
  /** Whether it must be given. @default {false} */
  required?: boolean;
  /** Takes all that follow; only the last one may. */
  repeatable?: boolean;
  /** The only values that are accepted. */
  choices?: readonly string[];
}

/** What a command gets to work with. */
export interface CommandContext {
  /** Values of the flags, by name and kind. */
  flags: FlagValues;
  /** Arguments that are not flags, in their order. */
  positionals: string[];
  /** Everything after `--`, untouched. */
  rest: string[];
  /** Where to write. */
  out: Output;
  /** Aborted once at the first Ctrl-C or TERM: end what was started, clean up, return. */
  signal: AbortSignal;
  /** Which signal asked us to stop, if one did. */
  interruptedBy: () => "SIGINT" | "SIGTERM" | null;
  /** Time. */
  clock: Clock;
  /** The command line as it was given, quoted for a shell. A drawn seed is for the command to add. */
  rerun: string;
}

/** One command: a file in `commands/` exports it as `command`. */
export interface Command {
  /** The word that the user types. */
  name: string;
  /** One line for the list of commands. */
  summary: string;
  /** What stands after the program's name, for example `drills [ID…] [flags]`. */
  usage: string;
  /** What it does, in one to three sentences. */
  description: string;
  /** Flags that it takes, besides `--help`. */
  flags: readonly FlagSpec[];
  /** Arguments that it takes, in their order. */
  positionals: readonly PositionalSpec[];
  /** What stands after `--`; without it, `--` is refused. */
  rest?: { name: string; summary: string; required?: boolean };
  /** Command lines that work as they stand. */
  examples: readonly { line: string; does: string }[];
  /** Makes this a group: the first argument names one of these, and `run` is never called. */
  subcommands?: readonly CommandEntry[];
  /**
   * Does the work and gives the exit code. An error that is meant for the user carries an
   * `exitCode` (see `UsageError`); anything else that is thrown counts as a defect (exit 70).
   */
  run(context: CommandContext): Promise<number>;
}

/** A line of a registry: the name, and how to load the rest when it is wanted. */
export interface CommandEntry {
  /** The word that the user types. */
  name: string;
  /** Loads the file of the command. */
  load: () => Promise<{ command: Command }>;
}

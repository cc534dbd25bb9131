/**
 * Reads a command line strictly: a flag that is unknown, repeated, empty or without its value is
 * refused with what to type instead, never guessed at.
 *
 * @module
 */
import { parseArgs } from "@std/cli/parse-args";
import { quoted } from "../report/text.ts";
import type { Command, FlagSpec, PositionalSpec } from "./command.ts";
import { UsageError } from "./errors.ts";
import { type FlagValue, FlagValues, readFlagValue } from "./flag_values.ts";
import { didYouMean } from "./suggest.ts";

/** A command line, read. */
export interface ParsedArguments {
  /** `--help` or `-h` was among the arguments; then nothing else was checked. */
  help: boolean;
  flags: FlagValues;
  positionals: string[];
  /** What stood after `--`. */
  rest: string[];
}

/** Flags in one spelling (`--name=value`), and everything else. */
interface Scan {
  tokens: string[];
  positionals: string[];
  given: Set<string>;
}

/** Whether the arguments ask for help: `--help` or `-h` anywhere before `--`. */
export function asksForHelp(args: readonly string[]): boolean {
  const end = args.indexOf("--");
  const own = end === -1 ? args : args.slice(0, end);
  return own.includes("--help") || own.includes("-h");
}

/**
 * Reads the arguments of one command.
 *
 * @param args What stands after the command's name.
 * @throws {UsageError} When anything is not as the command declares it.
 */
export function parseArguments(command: Command, args: readonly string[]): ParsedArguments {
  if (asksForHelp(args)) {
    return { help: true, flags: new FlagValues([], new Map()), positionals: [], rest: [] };
  }
  const end = args.indexOf("--");
  const own = end === -1 ? args : args.slice(0, end);
  const rest = end === -1 ? [] : args.slice(end + 1);
  checkRest(command, end !== -1, rest);
  const scan = scanArguments(command, own);
  const flags = readFlags(command, scan);
  checkPositionals(command, scan.positionals);
  return { help: false, flags, positionals: scan.positionals, rest: [...rest] };
}

function checkRest(command: Command, hasDashes: boolean, rest: readonly string[]): void {
  if (command.rest === undefined) {
    if (hasDashes) {
      throw new UsageError(
        `${command.name} takes nothing after "--"; leave out the "--" and what follows it.`,
      );
    }
    return;
  }
  if (rest.length === 0 && (command.rest.required || hasDashes)) {
    throw new UsageError(
      `${command.name} needs ${command.rest.name} after "--": ${command.rest.summary}. ` +
        `Usage: failure-lab ${command.usage}`,
    );
  }
  if (rest[0] === "") {
    throw new UsageError(`The first word after "--" is empty; it must name a program to run.`);
  }
}

/** Brings every flag into the form `--name=value`, so that no value can be taken for a flag. */
function scanArguments(command: Command, args: readonly string[]): Scan {
  const specs = new Map(command.flags.map((flag) => [flag.name, flag]));
  const scan: Scan = { tokens: [], positionals: [], given: new Set() };
  for (let index = 0; index < args.length; index++) {
    const arg = args[index] ?? "";
    if (!arg.startsWith("-") || arg === "-") {
      scan.positionals.push(arg);
      continue;
    }
    const equals = arg.indexOf("=");
    const written = equals === -1 ? arg : arg.slice(0, equals);
    const inline = equals === -1 ? undefined : arg.slice(equals + 1);
    const { flag, negated } = findFlag(specs, written);
    if (flag === undefined) {
      // parseArgs hands it to `unknown`, which refuses it.
      scan.tokens.push(arg);
      continue;
    }
    noteGiven(scan, flag, written);
    if (flag.kind === "boolean") {
      scan.tokens.push(booleanToken(written, inline, negated));
      continue;
    }
    const value = inline ?? nextValue(flag, args[++index]);
    if (value === "") {
      throw new UsageError(
        `--${flag.name} was given an empty value; give it ${valueName(flag)}, or leave it out.`,
      );
    }
    scan.tokens.push(`--${flag.name}=${value}`);
  }
  return scan;
}

function findFlag(
  specs: ReadonlyMap<string, FlagSpec>,
  written: string,
): { flag: FlagSpec | undefined; negated: boolean } {
  if (!written.startsWith("--")) return { flag: undefined, negated: false };
  const name = written.slice(2);
  const flag = specs.get(name);
  if (flag !== undefined || !name.startsWith("no-")) return { flag, negated: false };
  const positive = specs.get(name.slice(3));
  const negatable = positive?.kind === "boolean" && positive.negatable === true;
  return { flag: negatable ? positive : undefined, negated: negatable };
}

function noteGiven(scan: Scan, flag: FlagSpec, written: string): void {
  const repeatable = flag.kind === "string" && flag.repeatable === true;
  if (scan.given.has(flag.name) && !repeatable) {
    throw new UsageError(
      `${written} decides something that was decided before: --${flag.name} may be given only ` +
        `once. Leave one of them out.`,
    );
  }
  scan.given.add(flag.name);
}

function booleanToken(written: string, inline: string | undefined, negated: boolean): string {
  if (inline === undefined) return written;
  if (negated || (inline !== "true" && inline !== "false")) {
    throw new UsageError(
      `${written} was given the value ${quoted(inline)}, but it is a switch; write ${written} ` +
        `alone.`,
    );
  }
  return `${written}=${inline}`;
}

function nextValue(flag: FlagSpec, next: string | undefined): string {
  if (next === undefined) {
    throw new UsageError(
      `--${flag.name} is the last argument, but it needs a value: ` +
        `--${flag.name} ${valueName(flag)}.`,
    );
  }
  if (next.startsWith("-") && next !== "-") {
    throw new UsageError(
      `--${flag.name} needs a value, but ${quoted(next)} follows it. Write ` +
        `--${flag.name} ${valueName(flag)}; a value that begins with a dash goes after "=": ` +
        `--${flag.name}=-x.`,
    );
  }
  return next;
}

/** What the help text calls the value of a flag. */
export function valueName(flag: FlagSpec): string {
  if (flag.valueName !== undefined) return flag.valueName;
  switch (flag.kind) {
    case "duration":
      return "TIME";
    case "size":
      return "BYTES";
    case "integer":
      return "N";
    default:
      return flag.kind === "string" && flag.choices ? flag.choices.join("|") : "VALUE";
  }
}

function readFlags(command: Command, scan: Scan): FlagValues {
  const booleans = command.flags.filter((flag) => flag.kind === "boolean");
  const others = command.flags.filter((flag) => flag.kind !== "boolean").map((flag) => flag.name);
  // Positionals are held back: parseArgs would take a `true` after a switch for its value.
  const parsed: Record<string, unknown> = parseArgs(scan.tokens, {
    boolean: booleans.map((flag) => flag.name),
    negatable: booleans.filter((flag) => flag.negatable === true).map((flag) => flag.name),
    string: others,
    collect: others,
    unknown: (arg: string) => {
      throw unknownFlag(command, arg);
    },
  });
  const values = new Map<string, FlagValue>();
  for (const flag of command.flags) {
    if (!scan.given.has(flag.name)) continue;
    const raw = parsed[flag.name];
    if (flag.kind === "boolean") {
      values.set(flag.name, raw === true);
      continue;
    }
    const read = (Array.isArray(raw) ? raw : [raw]).map((text) => readFlagValue(flag, `${text}`));
    const repeatable = flag.kind === "string" && flag.repeatable === true;
    values.set(flag.name, repeatable ? read.map(String) : read[0] ?? "");
  }
  return new FlagValues(command.flags, values);
}

function unknownFlag(command: Command, arg: string): UsageError {
  const written = arg.split("=", 1)[0] || arg;
  const names = command.flags.flatMap((flag) =>
    flag.kind === "boolean" && flag.negatable ? [flag.name, `no-${flag.name}`] : [flag.name]
  );
  const hint = didYouMean(written.replace(/^-+/, ""), [...names, "help"], "--");
  const alone = written === "--version" || written === "-V"
    ? " For the version, type: failure-lab --version"
    : "";
  return new UsageError(
    `${command.name} does not know the flag ${quoted(written, 60)}.${hint}${alone}`,
  );
}

function checkPositionals(command: Command, given: readonly string[]): void {
  const specs = command.positionals;
  given.forEach((value, index) => {
    const last = specs.at(-1);
    const spec = specs[index] ?? (last?.repeatable === true ? last : undefined);
    if (spec === undefined) throw surplus(command, value);
    checkPositional(command, spec, value);
  });
  const missing = specs[given.length];
  if (missing?.required === true) {
    throw new UsageError(
      `${command.name} needs ${missing.name}: ${missing.summary}. ` +
        `Usage: failure-lab ${command.usage}`,
    );
  }
}

function surplus(command: Command, value: string): UsageError {
  const names = command.flags.map((flag) => flag.name);
  const taken = command.positionals.length === 0
    ? `${command.name} takes no arguments besides flags`
    : `${command.name} takes only ${command.positionals.map((spec) => spec.name).join(" ")}`;
  return new UsageError(
    `${taken}, but ${quoted(value)} was given.${didYouMean(value, names, "--")} ` +
      `Usage: failure-lab ${command.usage}`,
  );
}

function checkPositional(command: Command, spec: PositionalSpec, value: string): void {
  if (value === "") {
    throw new UsageError(
      `${spec.name} of ${command.name} is empty; is a variable in your shell not set?`,
    );
  }
  if (spec.choices !== undefined && !spec.choices.includes(value)) {
    throw new UsageError(
      `${spec.name} of ${command.name} is ${quoted(value)}; it takes one of: ` +
        `${spec.choices.join(", ")}.${didYouMean(value, spec.choices)}`,
    );
  }
}

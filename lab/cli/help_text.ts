/**
 * The help texts, made from what the commands declare.
 *
 * @module
 */
import { formatBytes, formatDuration, padded, wrapped } from "../report/text.ts";
import { EXIT_CODE_TEXTS } from "../verdict.ts";
import { VERSION } from "../version.ts";
import { valueName } from "./arguments.ts";
import type { Command, CommandEntry, FlagSpec, PositionalSpec } from "./command.ts";

const SENTENCE = "Shows how unattended jobs recover from failures, and whether yours does.";

/** Widest column of names; a longer one gets a line of its own. */
const NAME_WIDTH_MAX = 26;

function twoColumns(rows: readonly (readonly [string, string])[], width: number): string[] {
  const longest = Math.max(0, ...rows.map(([name]) => name.length));
  const nameWidth = Math.min(longest, NAME_WIDTH_MAX);
  const textWidth = Math.max(20, width - nameWidth - 4);
  const indent = " ".repeat(nameWidth + 4);
  return rows.flatMap(([name, text]) => {
    const lines = wrapped(text, textWidth);
    if (name.length > nameWidth) return [`  ${name}`, ...lines.map((line) => indent + line)];
    return lines.map((line, index) =>
      (index === 0 ? `  ${padded(name, nameWidth)}  ` : indent) + line
    );
  });
}

function shownName(flag: FlagSpec): string {
  if (flag.kind !== "boolean") return `--${flag.name} ${valueName(flag)}`;
  return flag.negatable ? `--[no-]${flag.name}` : `--${flag.name}`;
}

function shownUnit(flag: FlagSpec): string | null {
  switch (flag.kind) {
    case "duration":
      return `${flag.unit === "s" ? "seconds" : "milliseconds"}, or with a unit: 500ms, 60s, 2m`;
    case "size":
      return "bytes, or with a unit: 10KB, 1MiB";
    case "integer":
      return `from ${flag.min} to ${flag.max}`;
    case "string":
      return flag.repeatable ? "may be given several times" : null;
    case "boolean":
      return null;
  }
}

function shownDefault(flag: FlagSpec): string | null {
  if (flag.defaultText !== undefined) return flag.defaultText;
  switch (flag.kind) {
    case "duration":
      return flag.defaultMs === undefined ? null : formatDuration(flag.defaultMs);
    case "size":
      return flag.defaultBytes === undefined ? null : formatBytes(flag.defaultBytes);
    case "boolean":
      return flag.default === undefined ? null : (flag.default ? "on" : "off");
    default:
      return flag.default === undefined ? null : String(flag.default);
  }
}

function flagRow(flag: FlagSpec): readonly [string, string] {
  const unit = shownUnit(flag);
  const fallback = shownDefault(flag);
  const notes = [...(unit === null ? [] : [unit]), ...(fallback ? [`default: ${fallback}`] : [])];
  return [shownName(flag), flag.summary + (notes.length > 0 ? ` (${notes.join("; ")})` : "")];
}

function flagSections(command: Command, width: number): string[] {
  const groups = new Map<string, FlagSpec[]>([["Flags", []]]);
  for (const flag of command.flags) {
    const group = flag.group ?? "Flags";
    groups.set(group, [...groups.get(group) ?? [], flag]);
  }
  return [...groups].flatMap(([heading, flags]) => {
    const rows = flags.map(flagRow);
    if (heading === "Flags") rows.push(["-h, --help", "Show this text"]);
    return [`${heading}:`, ...twoColumns(rows, width), ""];
  });
}

/**
 * Help for one command.
 *
 * @param path The command's full name, for example `repair lease`.
 * @param subcommands The loaded commands of a group; empty for any other command.
 */
export function commandHelp(
  command: Command,
  path: string,
  subcommands: readonly Command[],
  width: number,
): string {
  const lines = [
    ...wrapped(`failure-lab ${path}: ${command.summary}`, width),
    "",
    `Usage: failure-lab ${command.usage}`,
    "",
    ...wrapped(command.description, width),
    "",
  ];
  if (subcommands.length > 0) {
    const rows = subcommands.map((sub) => [sub.name, sub.summary] as const);
    lines.push("One of:", ...twoColumns(rows, width), "");
  }
  const rest: PositionalSpec[] = command.rest
    ? [{ ...command.rest, name: `-- ${command.rest.name}` }]
    : [];
  const positionals = [...command.positionals, ...rest];
  if (positionals.length > 0) {
    const rows = positionals.map((spec) => {
      const choices = spec.choices ? `: ${spec.choices.join(", ")}` : "";
      return [spec.name, spec.summary + choices] as const;
    });
    lines.push("Arguments:", ...twoColumns(rows, width), "");
  }
  lines.push(...flagSections(command, width), "Examples:");
  for (const example of command.examples) {
    lines.push(
      `  ${example.line}`,
      ...wrapped(example.does, width - 6).map((line) => `      ${line}`),
    );
  }
  return lines.join("\n");
}

/** The top-level help: what the program is, the commands, and at its end the exit codes. */
export function topLevelHelp(commands: readonly Command[], width: number): string {
  const rows = commands.map((command) => [command.name, command.summary] as const);
  return [
    `failure-lab ${VERSION}`,
    ...wrapped(SENTENCE, width),
    "",
    "Usage: failure-lab COMMAND [arguments] [flags]",
    "",
    "Commands:",
    ...twoColumns(rows, width),
    "",
    "Flags:",
    ...twoColumns([
      ["-h, --help", "Show this text; after a command, the text of that command"],
      ["-V, --version", "Print the version"],
    ], width),
    "",
    "Examples:",
    "  failure-lab help demo",
    "      What the demo does; every command explains itself like this",
    "  failure-lab demo",
    "      See failures happen and recover in a disposable lab; nothing of yours is touched",
    "",
    "Exit codes:",
    ...twoColumns(EXIT_CODE_TEXTS.map(([code, text]) => [String(code), text] as const), width),
  ].join("\n");
}

/** Loads the commands behind the lines of a registry. */
export async function loadCommands(entries: readonly CommandEntry[]): Promise<Command[]> {
  return (await Promise.all(entries.map((entry) => entry.load()))).map((one) => one.command);
}

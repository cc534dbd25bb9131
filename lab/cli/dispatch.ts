/**
 * Finds the command that a command line names.
 *
 * @module
 */
import { quoted } from "../report/text.ts";
import type { Command, CommandEntry } from "./command.ts";
import { UsageError } from "./errors.ts";
import { commandHelp, loadCommands, topLevelHelp } from "./help_text.ts";
import { didYouMean } from "./suggest.ts";

/** A command, how it was reached, and the arguments that are left for it. */
export interface Found {
  command: Command;
  /** Full name, for example `repair lease`. */
  path: string;
  args: string[];
}

function findEntry(entries: readonly CommandEntry[], name: string, path: string): CommandEntry {
  const entry = entries.find((one) => one.name === name);
  if (entry !== undefined) return entry;
  const names = entries.map((one) => one.name);
  const what = path === "" ? "command" : `kind of ${path}`;
  const list = path === ""
    ? "failure-lab --help lists the commands."
    : `It is one of: ${names.join(", ")}.`;
  throw new UsageError(
    `There is no ${what} ${quoted(name, 60)}.${
      didYouMean(name, names, path === "" ? "" : `${path} `)
    } ${list}`,
  );
}

/**
 * Finds the command for these arguments and loads it.
 *
 * @param args Not empty; the first one names the command.
 * @throws {UsageError} When there is no such command.
 */
export async function findCommand(
  registry: readonly CommandEntry[],
  args: readonly string[],
): Promise<Found> {
  const [first = "", ...others] = args;
  let { command } = await findEntry(registry, first, "").load();
  let path = first;
  let left = others;
  while (command.subcommands !== undefined) {
    const [next, ...after] = left;
    // A group itself runs nothing; its flags can only ask for help.
    if (next === undefined || next.startsWith("-")) break;
    ({ command } = await findEntry(command.subcommands, next, path).load());
    path = `${path} ${next}`;
    left = after;
  }
  return { command, path, args: left };
}

/**
 * The help text for a command path; an empty path gives the top-level help.
 *
 * @throws {UsageError} When there is no such command.
 */
export async function helpFor(
  registry: readonly CommandEntry[],
  path: readonly string[],
  width: number,
): Promise<string> {
  const textWidth = Math.min(width, 100);
  if (path.length === 0) return topLevelHelp(await loadCommands(registry), textWidth);
  const found = await findCommand(registry, path);
  const surplus = found.args[0];
  if (surplus !== undefined) {
    throw new UsageError(
      `${found.path} is a command by itself; there is nothing called ${
        quoted(surplus, 60)
      } in it. ` +
        `Type: failure-lab help ${found.path}`,
    );
  }
  return commandHelp(
    found.command,
    found.path,
    await loadCommands(found.command.subcommands ?? []),
    textWidth,
  );
}

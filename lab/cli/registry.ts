/**
 * The list of commands. A new command is a file in `commands/` and a line here.
 *
 * Each is loaded only when it is wanted: the import must stand here as a literal, so that a
 * compiled program carries the file.
 *
 * @module
 */
import type { CommandEntry } from "./command.ts";

/** Every command, in the order in which the help text lists them. */
export const REGISTRY: readonly CommandEntry[] = [
  { name: "help", load: () => import("./commands/help.ts") },
];

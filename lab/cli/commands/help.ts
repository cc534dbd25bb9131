/**
 * `failure-lab help [COMMAND…]`.
 *
 * @module
 */
import { EXIT_CODES } from "../../verdict.ts";
import type { Command } from "../command.ts";
import { helpFor } from "../dispatch.ts";
import { REGISTRY } from "../registry.ts";

/** Shows the help of the program or of one command. */
export const command: Command = {
  name: "help",
  summary: "Explain the program or one command",
  usage: "help [COMMAND]",
  description: "Prints what a command does, its flags with their units and defaults, and examples.",
  flags: [],
  positionals: [{
    name: "COMMAND",
    summary: "the command to explain, for example: repair lease",
    repeatable: true,
  }],
  examples: [
    { line: "failure-lab help", does: "All commands, and the exit codes" },
    { line: "failure-lab help help", does: "What one command does" },
  ],
  async run({ positionals, out }) {
    out.out(await helpFor(REGISTRY, positionals, out.width));
    return EXIT_CODES.pass;
  },
};

/**
 * `failure-lab list`.
 *
 * @module
 */
import { loadDrills } from "../../../drills/mod.ts";
import { EXIT_CODES } from "../../verdict.ts";
import type { Command } from "../command.ts";

/** Lists the drills. */
export const command: Command = {
  name: "list",
  summary: "List the drills, with their repair and the shapes of their failure",
  usage: "list [flags]",
  description:
    "One line for each drill: its id, its title, the repair that it practises. Below it " +
    "the variants: the shapes in which the failure can come.",
  flags: [{
    kind: "boolean",
    name: "json",
    summary: "Print the definitions as JSON",
  }],
  positionals: [],
  examples: [
    { line: "failure-lab list", does: "All drills" },
    { line: "failure-lab list --json", does: "The same for a program" },
  ],
  run({ flags, out }) {
    const drills = loadDrills();
    if (flags.boolean("json")) {
      out.out(JSON.stringify(drills, null, 2));
      return Promise.resolve(EXIT_CODES.pass);
    }
    const longest = Math.max(...drills.map((drill) => drill.id.length));
    const indent = " ".repeat(longest + 2);
    for (const { id, title, repair, fault } of drills) {
      out.out(`${out.style.bold(id.padEnd(longest))}  ${title}`);
      out.out(`${indent}repair: ${repair}`);
      out.out(`${indent}variants: ${fault.variants.map((variant) => variant.id).join(", ")}\n`);
    }
    out.out("failure-lab show ID explains one; failure-lab drills ID runs it.");
    return Promise.resolve(EXIT_CODES.pass);
  },
};

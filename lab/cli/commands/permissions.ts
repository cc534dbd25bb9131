/**
 * `failure-lab permissions`: the permission scope of a rehearsal, as Deno flags.
 *
 * @module
 */
import { scopeFlags } from "../../../rehearsal/mod.ts";
import { defaultReportDirs } from "../../report/mod.ts";
import { EXIT_CODES } from "../../verdict.ts";
import type { Command } from "../command.ts";
import { CONTRACT_FLAGS, PROJECT_FLAGS, REPORT_FLAGS } from "../flags.ts";
import { configOf, scopeOfConfig } from "../rehearsal_session.ts";
import { shellQuote } from "../shell_quote.ts";

/** Prints what a rehearsal with this contract may read, write and run. */
export const command: Command = {
  name: "permissions",
  summary: "Print what a rehearsal may read, write and run, as Deno flags",
  usage: "permissions [--project DIR] [--config failure-lab.json] [flags]",
  description:
    "Prints the scope in which the driver of a rehearsal runs. The same flags work for running " +
    "from source: deno run FLAGS main.ts rehearse. Before a run there is no lab yet, so the whole " +
    "temp dir stands for it; in the run only its own lab folder is allowed.",
  flags: [...PROJECT_FLAGS, ...CONTRACT_FLAGS, ...REPORT_FLAGS],
  positionals: [],
  examples: [
    { line: "failure-lab permissions", does: "For the contract in failure-lab.json" },
    { line: "failure-lab permissions --report out --json", does: "As a JSON list" },
  ],
  run({ flags, out, clock }) {
    const config = configOf({ flags });
    const [first = ""] = defaultReportDirs({
      env: (name) => Deno.env.get(name),
      timeIso: clock.wallIso(),
      command: "rehearse",
      label: null,
    });
    const named = flags.string("report");
    // Without --report a new folder is made at each run, so its parent is what must be allowed.
    const dir = named ?? first.slice(0, first.lastIndexOf("/"));
    const list = [
      ...scopeFlags(scopeOfConfig(config, dir)),
      "--allow-env",
      "--allow-sys=uid,hostname,osRelease",
      "--unstable-worker-options",
    ];
    out.out(flags.boolean("json") ? JSON.stringify(list, null, 2) : list.map(shellQuote).join(" "));
    return Promise.resolve(EXIT_CODES.pass);
  },
};

/**
 * `failure-lab repair MODULE`: the group of the seven repairs.
 *
 * @module
 */
import type { Command } from "../command.ts";

/** Wraps somebody's job in one of the repairs. */
export const command: Command = {
  name: "repair",
  summary: "Run your own job under one of the seven repairs",
  usage: "repair MODULE [flags] -- COMMAND…",
  description:
    "Changes exactly one thing about your own runner, so that you can compare. The job keeps its " +
    "stdin, stdout, stderr and exit code; messages of the repair go to stderr. A signal to the " +
    "repair (TERM, Ctrl-C, HUP) reaches the whole job.",
  flags: [],
  positionals: [],
  examples: [
    {
      line: "failure-lab repair deadline --idle 60s -- ./agent.sh",
      does: "End it when it hangs",
    },
    {
      line: "failure-lab repair lease --lock run.lock -- ./agent.sh",
      does: "One run at a time, also after a crash",
    },
  ],
  subcommands: [
    { name: "allowlist", load: () => import("./repair/allowlist.ts") },
    { name: "checkpoint", load: () => import("./repair/checkpoint.ts") },
    { name: "deadline", load: () => import("./repair/deadline.ts") },
    { name: "evidence", load: () => import("./repair/evidence.ts") },
    { name: "heartbeat", load: () => import("./repair/heartbeat.ts") },
    { name: "lease", load: () => import("./repair/lease.ts") },
    { name: "outbox", load: () => import("./repair/outbox.ts") },
  ],
  run() {
    // A group is never run: the dispatcher asks for one of its commands.
    return Promise.resolve(0);
  },
};

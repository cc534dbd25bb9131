/**
 * `failure-lab repair deadline`.
 *
 * @module
 */
import { DEADLINE_EXIT, NOT_PROVEN_EXIT, runWithDeadline } from "../../../../repairs/mod.ts";
import type { Command } from "../../command.ts";
import { UsageError } from "../../errors.ts";
import { runRepair, seconds, WRAPPER_FLAGS } from "./common.ts";

/** Runs a job within limits and ends all of it when one is reached. */
export const command: Command = {
  name: "deadline",
  summary: "End a job that hangs or leaves children behind, with proof, and start it afresh",
  usage: "repair deadline [--idle 60s] [--total 1h] [flags] -- COMMAND…",
  description:
    "Runs COMMAND. When it takes too long, or shows no progress for too long, all of it is " +
    "ended: TERM, a grace period, KILL, to its group and to whoever left that group; then a look " +
    "that nobody is left and nothing is written. Children that outlive COMMAND are ended, too. " +
    `The exit code is that of COMMAND (128 + n when signal n killed it), ${DEADLINE_EXIT} when a ` +
    `limit ended it, ${NOT_PROVEN_EXIT} when it cannot be shown that all of it is gone.`,
  flags: [
    seconds("idle", null, "Longest time without progress: growth of --progress files, or output", {
      defaultText: "no limit",
    }),
    seconds("total", null, "Longest time of one attempt", { defaultText: "no limit" }),
    {
      kind: "string",
      name: "progress",
      valueName: "GLOB",
      repeatable: true,
      summary: "Files whose growth is progress; quote it: 'out/*.md'",
      defaultText: "output of COMMAND on stdout and stderr",
    },
    {
      kind: "integer",
      name: "retries",
      min: 0,
      max: 100,
      default: 0,
      summary: "Start afresh this often after a limit ended it, with stdin from /dev/null",
    },
    {
      kind: "string",
      name: "stdin",
      choices: ["null", "inherit"],
      default: "null",
      summary: "What COMMAND reads: nothing, or what this command was given",
    },
    {
      kind: "string",
      name: "output",
      choices: ["pass", "hold"],
      summary: "Pass stdout on as it comes, or hold it until an attempt counts, so that only " +
        "that attempt's output appears",
      defaultText: "pass, or hold with --retries",
    },
    {
      kind: "boolean",
      name: "leave-children",
      summary: "Name children that outlive COMMAND, and leave them running",
    },
    seconds("quiet", 500, "Time after the end in which nothing may be written", { minMs: 0 }),
    seconds("settle", 1000, "Time that children have to end by themselves after COMMAND ended", {
      minMs: 0,
    }),
    ...WRAPPER_FLAGS,
  ],
  positionals: [],
  rest: { name: "COMMAND", summary: "the job to run, with its arguments", required: true },
  examples: [
    {
      line: "failure-lab repair deadline --idle 5m -- ./agent.sh",
      does: "End it when it prints nothing for five minutes",
    },
    {
      line:
        "failure-lab repair deadline --idle 60s --progress 'out/*.md' --retries 1 -- ./agent.sh",
      does: "Progress is a new or growing file; one fresh start after a hang",
    },
  ],
  run(context) {
    const { flags, rest, clock } = context;
    const idleMs = flags.durationMs("idle");
    const totalMs = flags.durationMs("total");
    if (idleMs === undefined && totalMs === undefined) {
      throw new UsageError("deadline needs a limit: --idle 60s, --total 1h, or both.");
    }
    const choice = flags.string("output");
    return runRepair(context, "deadline", async ({ say, stop, graceMs }) => {
      const result = await runWithDeadline({
        argv: rest,
        idleMs,
        totalMs,
        progress: flags.strings("progress"),
        retries: flags.integer("retries"),
        stdin: flags.string("stdin") === "inherit" ? "inherit" : "null",
        output: choice === "pass" || choice === "hold" ? choice : undefined,
        leaveChildren: flags.boolean("leave-children"),
        quietMs: flags.durationMs("quiet"),
        settleMs: flags.durationMs("settle"),
        graceMs,
        say,
        stop,
        clock,
      });
      return { exitCode: result.exitCode, result };
    });
  },
};

/**
 * `failure-lab repair lease`.
 *
 * @module
 */
import {
  clearStaleLock,
  LEASE_HELD_EXIT,
  LEASE_LOST_EXIT,
  LeaseHeldError,
  type LeaseOptions,
  runUnderLease,
} from "../../../../repairs/mod.ts";
import type { Command, CommandContext } from "../../command.ts";
import { UsageError } from "../../errors.ts";
import { type RepairTools, runRepair, runWrapped, seconds, WRAPPER_FLAGS } from "./common.ts";

function readOptions({ flags, clock }: CommandContext, { say, stop }: RepairTools): LeaseOptions {
  return {
    path: flags.string("lock") ?? "",
    shape: flags.string("shape") === "folder" ? "folder" : "file",
    waitMs: flags.durationMs("wait"),
    forceHost: flags.string("force-host"),
    ownerName: flags.string("owner-name"),
    staleAfterMs: flags.durationMs("stale-after"),
    progress: flags.strings("progress"),
    noProcess: flags.string("unless-running"),
    say,
    signal: stop.signal,
    clock,
  };
}

/** Runs a job when it has the lock, and only then. */
export const command: Command = {
  name: "lease",
  summary: "One run at a time, also after a crash: a lock whose owner is proven",
  usage: "repair lease --lock FILE [flags] -- COMMAND…",
  description:
    "Runs COMMAND while it holds the lock. A lock is taken over only when its owner is provably " +
    "gone: by host, boot, pid, start time and kernel lock, never by age alone; it is then kept " +
    "as FILE.stale-1. Where the owner lives, or cannot be known, COMMAND is not started and the " +
    "exit " +
    `code is ${LEASE_HELD_EXIT}. When the lock is lost while COMMAND runs, COMMAND is ended and ` +
    `the exit code is ${LEASE_LOST_EXIT}; otherwise it is that of COMMAND, which finds its ` +
    "generation in FAILURE_LAB_GENERATION. Reads locks of its own, bare pid files, " +
    "and 'host pid seconds'. FILE.fence stays beside the lock and belongs to it.",
  flags: [
    { kind: "string", name: "lock", valueName: "FILE", summary: "The lock; needed" },
    seconds("wait", 0, "Wait this long for an owner that lives", { minMs: 0 }),
    {
      kind: "boolean",
      name: "clear-only",
      summary: "COMMAND takes this lock by itself: only move it away first, when it is stale",
    },
    {
      kind: "string",
      name: "shape",
      choices: ["file", "folder"],
      default: "file",
      summary: "Make the lock a folder, for company that locks with mkdir",
    },
    {
      kind: "string",
      name: "force-host",
      valueName: "NAME",
      summary: "This host is gone, you know it: its locks may be taken over",
      group: "When the owner is not known",
    },
    {
      kind: "string",
      name: "owner-name",
      valueName: "PROGRAM",
      summary: "The pid in a pid file belongs to this program; another program is a stranger",
      group: "When the owner is not known",
    },
    {
      ...seconds(
        "stale-after",
        null,
        "A lock that names no owner is left behind when it is so old, " +
          "nobody has it open, and no --progress file changed for as long",
        { defaultText: "never" },
      ),
      group: "When the owner is not known",
    },
    {
      kind: "string",
      name: "progress",
      valueName: "GLOB",
      repeatable: true,
      summary: "Files that an owner which lives would change",
      group: "When the owner is not known",
    },
    {
      kind: "string",
      name: "unless-running",
      valueName: "PROGRAM",
      summary: "With --stale-after: not while a program of this name runs, for example git",
      group: "When the owner is not known",
    },
    ...WRAPPER_FLAGS,
  ],
  positionals: [],
  rest: { name: "COMMAND", summary: "the job to run, with its arguments", required: true },
  examples: [
    {
      line: "failure-lab repair lease --lock run.lock -- ./agent.sh",
      does: "Run it unless another run lives",
    },
    {
      line: "failure-lab repair lease --lock .git/index.lock --clear-only --stale-after 10m " +
        "--unless-running git -- git commit -am work",
      does: "Move a left-over lock of git away, with proof, then commit",
    },
  ],
  run(context) {
    const { flags } = context;
    if (!flags.given("lock")) throw new UsageError("lease needs the lock: --lock run.lock");
    if (!flags.given("stale-after") && (flags.given("unless-running") || flags.given("progress"))) {
      throw new UsageError(
        "--progress and --unless-running say when a lock is stale: add --stale-after.",
      );
    }
    return runRepair(context, "lease", async (tools) => {
      const options = readOptions(context, tools);
      if (flags.boolean("clear-only")) return await clearThenRun(context, tools, options);
      const result = await runUnderLease(options, { argv: context.rest, ...tools });
      return { exitCode: result.exitCode, result };
    });
  },
};

async function clearThenRun(context: CommandContext, tools: RepairTools, options: LeaseOptions) {
  try {
    const takenOver = await clearStaleLock(options);
    const job = await runWrapped(context, tools);
    return { exitCode: job.exitCode, result: { outcome: "ran", takenOver, job } };
  } catch (error) {
    if (!(error instanceof LeaseHeldError)) throw error;
    tools.say(`${error.message}.`);
    const { judgement } = error;
    return { exitCode: LEASE_HELD_EXIT, result: { outcome: "stood-down", judgement } };
  }
}

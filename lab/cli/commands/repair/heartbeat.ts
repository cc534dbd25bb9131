/**
 * `failure-lab repair heartbeat run|check`.
 *
 * @module
 */
import { checkBeat, DEADLINE_EXIT, runWithHeartbeat } from "../../../../repairs/mod.ts";
import { EXIT_CODES } from "../../../verdict.ts";
import type { Command, CommandContext, StringFlag } from "../../command.ts";
import { UsageError } from "../../errors.ts";
import { visible } from "../../output.ts";
import { RESULT_FLAG, runRepair, seconds, WRAPPER_FLAGS } from "./common.ts";

const BEAT_FLAG: StringFlag = {
  kind: "string",
  name: "beat",
  valueName: "FILE",
  summary: "Where the watcher writes its sign and what it saw; needed",
};

function neededBeat({ flags }: CommandContext): string {
  const beat = flags.string("beat");
  if (beat !== undefined) return beat;
  throw new UsageError("heartbeat needs the beat file: --beat job.beat");
}

const watch: Command = {
  name: "run",
  summary: "Run a job under two watchers that also watch each other",
  usage: "repair heartbeat run --beat FILE --progress GLOB --limit 60s [flags] -- COMMAND…",
  description:
    "Runs COMMAND. When the files of --progress do not grow for longer than --limit, it is ended " +
    "with proof and started afresh. A watcher of its own writes the beat file; when that one " +
    "dies, falls silent or beats what is not so, an alarm is given and another one started. The " +
    "exit " +
    `code is that of COMMAND, or ${DEADLINE_EXIT} when the last start made no progress either. ` +
    "From elsewhere, ask: failure-lab repair heartbeat check --beat FILE",
  flags: [
    BEAT_FLAG,
    {
      kind: "string",
      name: "progress",
      valueName: "GLOB",
      repeatable: true,
      summary: "Files whose growth is progress; quote it: 'out/*.md'; needed",
    },
    seconds("limit", null, "Longest time that a healthy COMMAND may show no progress; needed"),
    seconds("every", null, "Time between two looks of the watcher", {
      minMs: 100,
      defaultText: "a tenth of the limit, 0.2 s to 10 s",
    }),
    {
      kind: "integer",
      name: "restarts",
      min: 0,
      max: 100,
      default: 2,
      summary: "Fresh starts of COMMAND after it was ended, with stdin from /dev/null",
    },
    {
      kind: "string",
      name: "alarm-log",
      valueName: "FILE",
      summary: "Add each alarm to this file, as a line of JSON",
      defaultText: "alarms go to stderr only",
    },
    ...WRAPPER_FLAGS,
  ],
  positionals: [],
  rest: { name: "COMMAND", summary: "the job to run, with its arguments", required: true },
  examples: [{
    line: "failure-lab repair heartbeat run --beat job.beat --progress 'out/*.md' --limit 5m -- " +
      "./agent.sh",
    does: "Five minutes without a new or growing file count as hung",
  }],
  run(context) {
    const { flags, clock } = context;
    const beatFile = neededBeat(context);
    const progress = flags.strings("progress");
    const limitMs = flags.durationMs("limit");
    if (progress.length === 0 || limitMs === undefined) {
      throw new UsageError(
        "heartbeat needs to know what health is: --progress 'out/*.md' and --limit 60s. A " +
          "process that is merely alive is not healthy.",
      );
    }
    return runRepair(context, "heartbeat", async (tools) => {
      const result = await runWithHeartbeat({
        argv: context.rest,
        beatFile,
        progress,
        limitMs,
        everyMs: flags.durationMs("every"),
        restarts: flags.integer("restarts"),
        alarmLog: flags.string("alarm-log"),
        clock,
        ...tools,
      });
      return { exitCode: result.exitCode, result };
    });
  },
};

const check: Command = {
  name: "check",
  summary: "Ask from elsewhere whether somebody watches, and whether the job gets on",
  usage: "repair heartbeat check --beat FILE [--max-age 30s]",
  description:
    "For cron or another machine. Exit 0: the watcher lives and the job gets on, or it ended " +
    "with exit code 0. 1: alarm: nobody gives a sign, the job does not get on, or it failed. No " +
    "beat file is an alarm, too: silence is never good news.",
  flags: [
    BEAT_FLAG,
    seconds("max-age", null, "Oldest beat that is still a sign of life", {
      minMs: 1000,
      defaultText: "three beats and 2 s",
    }),
    RESULT_FLAG,
  ],
  positionals: [],
  examples: [{
    line: "failure-lab repair heartbeat check --beat job.beat",
    does: "Alarm when the watcher is silent",
  }],
  run(context) {
    const beat = neededBeat(context);
    return runRepair(context, "heartbeat", () => {
      const { clock, flags } = context;
      const { state, why, exitCode: ended } = checkBeat(beat, {
        clock,
        maxAgeMs: flags.durationMs("max-age"),
      });
      const isFine = state === "healthy" || (state === "finished" && ended === 0);
      context.out.out(visible(`${beat}: ${isFine ? "" : "ALARM, "}${state}: ${why}`));
      const exitCode = isFine ? EXIT_CODES.pass : EXIT_CODES.fail;
      return Promise.resolve({ exitCode, result: { outcome: state, why } });
    });
  },
};

/** Groups `run` and `check`. */
export const command: Command = {
  name: "heartbeat",
  summary: "Watch a job's progress, and the watcher, too",
  usage: "repair heartbeat run|check --beat FILE [flags]",
  description: "A watcher that is itself watched: silence is an alarm and never good news.",
  flags: [],
  positionals: [],
  examples: [...watch.examples, ...check.examples],
  subcommands: [watch, check].map((command) => ({
    name: command.name,
    load: () => Promise.resolve({ command }),
  })),
  run: () => Promise.resolve(EXIT_CODES.usage),
};

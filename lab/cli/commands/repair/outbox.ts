/**
 * `failure-lab repair outbox send|status|settle`.
 *
 * @module
 */
import {
  type Delivery,
  effectKey,
  Outbox,
  type OutboxPolicy,
  sendByJob,
  sentLogProbe,
  shellProbe,
} from "../../../../repairs/mod.ts";
import { formatDuration } from "../../../report/text.ts";
import { EXIT_CODES } from "../../../verdict.ts";
import type { Command, CommandContext, FlagSpec, StringFlag } from "../../command.ts";
import { reasonOf } from "../../../walk.ts";
import { UsageError } from "../../errors.ts";
import { visible } from "../../output.ts";
import { RESULT_FLAG, runRepair, seconds, WRAPPER_FLAGS } from "./common.ts";

const BOX_FLAG: StringFlag = {
  kind: "string",
  name: "box",
  valueName: "DIR",
  summary: "Folder that remembers every effect; needed, and made by the first send",
};

const KEY_FLAG: StringFlag = {
  kind: "string",
  name: "key",
  valueName: "KEY",
  summary:
    "Name of the effect, the same in each attempt: the unit, never a date or a number drawn; " +
    "needed",
};

function checkCodes(value: string): string | null {
  return /^\d{1,3}(,\d{1,3})*$/.test(value) ? null : "it takes exit codes, like 6,7,22.";
}

function codes(context: CommandContext, name: string): number[] {
  return (context.flags.string(name) ?? "").split(",").filter(Boolean).map(Number);
}

const SEND_FLAGS: readonly FlagSpec[] = [
  BOX_FLAG,
  KEY_FLAG,
  {
    kind: "string",
    name: "content",
    valueName: "FILE",
    summary: "What is sent: new content makes a new key",
    defaultText: "the key alone counts",
  },
  {
    kind: "string",
    name: "not-sent",
    valueName: "CODES",
    summary: "Exit codes of COMMAND that mean: surely not sent, try again (curl: 6,7)",
    defaultText: "75 always does",
    check: checkCodes,
  },
  {
    kind: "string",
    name: "refused",
    valueName: "CODES",
    summary: "Exit codes of COMMAND that mean: surely not sent, and never will be",
    defaultText: "65 always does",
    check: checkCodes,
  },
  {
    kind: "string",
    name: "probe",
    valueName: "COMMAND",
    summary: "For sh -c: was it sent? Exit 0: yes. 1: no. Else: not known. Gets FAILURE_LAB_KEY",
    group: "When an attempt has no known end",
  },
  {
    kind: "string",
    name: "sent-log",
    valueName: "FILE",
    summary: "A log of what was sent; a line that --match fits means: sent",
    group: "When an attempt has no known end",
  },
  {
    kind: "string",
    name: "match",
    valueName: "REGEX",
    summary: "How a line of --sent-log names the effect; {key} stands for the key",
    defaultText: "the key, as a word of its own",
    group: "When an attempt has no known end",
  },
  {
    kind: "string",
    name: "absent",
    choices: ["unknown", "not-sent"],
    default: "unknown",
    summary: "What it means when no line fits: not-sent only if the log is written with the effect",
    group: "When an attempt has no known end",
  },
  seconds("base-wait", 1000, "Wait after the first failed attempt; it doubles each time"),
  seconds("cap-wait", 300_000, "The doubling stops here; Retry-After is honoured beyond"),
  seconds("max-wait", 600_000, "All waits of this run together; a longer one parks", { minMs: 0 }),
  {
    kind: "integer",
    name: "attempts",
    min: 1,
    max: 10_000,
    default: 20,
    summary: "Attempts over all runs; after them a person decides",
  },
  ...WRAPPER_FLAGS,
];

function needed(context: CommandContext, name: "box" | "key"): string {
  const value = context.flags.string(name);
  if (value !== undefined) return value;
  const example = name === "box" ? "--box .outbox" : "--key unit-03";
  throw new UsageError(`outbox needs --${name}, for example ${example}.`);
}

const EXIT_BY_OUTCOME: Record<Delivery["outcome"], number> = {
  "done": EXIT_CODES.pass,
  "already-done": EXIT_CODES.pass,
  "parked": 75,
  "busy": 75,
  "stopped": 75,
  "given-up": EXIT_CODES.fail,
  "unknown": EXIT_CODES.unproven,
};

function sentenceOf(key: string, { outcome, why, record }: Delivery): string | null {
  switch (outcome) {
    case "done":
      return null;
    case "already-done":
      return `"${key}" was sent before (${why}); nothing is sent.`;
    case "parked":
      return `"${key}" is parked after ${record?.attempts} attempts: ${why}. The next run goes ` +
        "on " +
        "from there.";
    case "busy":
      return `"${key}" is left alone: ${why}.`;
    case "stopped":
      return `"${key}" was not sent: ${why}.`;
    case "given-up":
      return `"${key}" is not tried any more: ${why}. To try afresh: failure-lab repair outbox ` +
        "settle --not-sent";
    case "unknown":
      return `Whether "${key}" was sent is not known: ${why}. It is neither sent again nor ` +
        "marked " +
        "as sent. Find out, then: failure-lab repair outbox settle --sent, or --not-sent";
  }
}

function probeOf({ flags }: CommandContext) {
  const command = flags.string("probe");
  const log = flags.string("sent-log");
  if (command !== undefined && log !== undefined) {
    throw new UsageError("--probe and --sent-log exclude each other; give the more certain one.");
  }
  if (command !== undefined) return shellProbe(command);
  if (log === undefined) {
    if (flags.given("match") || flags.given("absent")) {
      throw new UsageError("--match and --absent say how to read a log: add --sent-log FILE.");
    }
    return undefined;
  }
  try {
    return sentLogProbe(log, flags.string("match"), flags.string("absent") === "not-sent");
  } catch (error) {
    throw new UsageError(
      `--match cannot be used: ${error instanceof Error ? error.message : error}`,
    );
  }
}

const send: Command = {
  name: "send",
  summary: "Run a command that sends something, so that it is sent once",
  usage: "repair outbox send --box DIR --key KEY [flags] -- COMMAND…",
  description:
    "Runs COMMAND unless its effect has happened, may have happened, or has to wait. Exit code " +
    "of COMMAND: 0 sent; 75 not sent, try again; 65 refused; anything else, or a signal: not " +
    "known, then the probe is asked. COMMAND finds the key in FAILURE_LAB_KEY (use it as " +
    "idempotency key), the attempt in FAILURE_LAB_ATTEMPT, and may write the value of a " +
    "Retry-After header into the file that FAILURE_LAB_RETRY_AFTER_FILE names. Exit: 0 sent, now " +
    "or before; 75 parked, to be tried by a later run; 1 given up; 3 not known whether it was " +
    "sent.",
  flags: SEND_FLAGS,
  positionals: [],
  rest: { name: "COMMAND", summary: "the command that sends", required: true },
  examples: [{
    line:
      "failure-lab repair outbox send --box .outbox --key unit-03 --sent-log sent.log -- ./send.sh",
    does: "Send unit-03 unless sent.log or the box says that it was",
  }],
  run(context) {
    const { flags } = context;
    const box = needed(context, "box");
    const unit = needed(context, "key");
    const wasSent = probeOf(context);
    const file = flags.string("content");
    const key = file === undefined ? unit : effectKey(unit, readContent(file));
    const policy: OutboxPolicy = {
      baseWaitMs: flags.durationMs("base-wait"),
      capWaitMs: flags.durationMs("cap-wait"),
      runWaitMs: flags.durationMs("max-wait"),
      attemptsMax: flags.integer("attempts"),
    };
    return runRepair(context, "outbox", async (tools) => {
      const outbox = new Outbox(box, { clock: context.clock });
      const { send, startError } = sendByJob({
        job: { argv: context.rest, ...tools },
        clock: context.clock,
        scratchDir: box,
        notSentCodes: [75, ...codes(context, "not-sent")],
        refusedCodes: [65, ...codes(context, "refused")],
      });
      const { say, stop: { signal } } = tools;
      const delivery = await outbox.deliver({ key, send, wasSent, policy, say, signal });
      if (startError() !== null) throw startError();
      const sentence = sentenceOf(key, delivery);
      if (sentence !== null) say(sentence);
      return { exitCode: EXIT_BY_OUTCOME[delivery.outcome], result: delivery };
    });
  },
};

function readContent(file: string): Uint8Array {
  try {
    return Deno.readFileSync(file);
  } catch (error) {
    const why = reasonOf(error);
    throw new UsageError(`--content is "${file}"; it cannot be read: ${why}`);
  }
}

function openBox(context: CommandContext): Outbox {
  const box = needed(context, "box");
  try {
    if (Deno.statSync(box).isDirectory) return new Outbox(box, { clock: context.clock });
  } catch {
    // Said below.
  }
  throw new UsageError(`--box is "${box}"; there is no such folder. The first send makes it.`);
}

const status: Command = {
  name: "status",
  summary: "Say what is known of every effect",
  usage: "repair outbox status --box DIR",
  description: "Lists the effects and their state. Exit 0: all are done. 3: of some it is not " +
    "known. 1: some are given up. 75: some wait for a later run.",
  flags: [BOX_FLAG, RESULT_FLAG],
  positionals: [],
  examples: [{ line: "failure-lab repair outbox status --box .outbox", does: "All effects" }],
  run(context) {
    const { records, damaged } = openBox(context).store.list();
    return runRepair(context, "outbox", () => {
      const nowMs = context.clock.wallMs();
      for (const record of records) {
        const next = record.notBeforeMs === null
          ? ""
          : `, next in ${formatDuration(Math.max(0, record.notBeforeMs - nowMs))}`;
        const line = `${
          record.state.padEnd(8)
        } ${record.key}  (${record.attempts} attempts${next}) ${record.note}`;
        context.out.out(visible(line));
      }
      for (const path of damaged) context.out.out(visible(`unknown  ${path} cannot be read`));
      const has = (...states: string[]) => records.some((each) => states.includes(each.state));
      const exitCode = damaged.length > 0 || has("intent", "unknown")
        ? EXIT_CODES.unproven
        : has("parked")
        ? EXIT_CODES.fail
        : has("waiting")
        ? 75
        : EXIT_CODES.pass;
      context.out.out(
        `${records.filter((each) => each.state === "done").length} of ${records.length} done`,
      );
      return Promise.resolve({ exitCode, result: { outcome: "listed", records, damaged } });
    });
  },
};

const settle: Command = {
  name: "settle",
  summary: "Tell the box what you found out about an effect",
  usage: "repair outbox settle --box DIR --key KEY --sent|--not-sent",
  description: "For an effect of which it was not known whether it happened, or that was given up.",
  flags: [
    BOX_FLAG,
    KEY_FLAG,
    { kind: "boolean", name: "sent", summary: "It was sent; it is never sent again" },
    { kind: "boolean", name: "not-sent", summary: "It was not sent; the next run tries afresh" },
    RESULT_FLAG,
  ],
  positionals: [],
  examples: [{
    line: "failure-lab repair outbox settle --box .outbox --key unit-03 --sent",
    does: "You saw that it arrived",
  }],
  run(context) {
    const { flags } = context;
    const key = needed(context, "key");
    const outbox = openBox(context);
    if (flags.boolean("sent") === flags.boolean("not-sent")) {
      throw new UsageError("settle needs one of --sent and --not-sent.");
    }
    return runRepair(context, "outbox", () => {
      const record = outbox.settle(key, flags.boolean("sent"));
      context.out.out(visible(`${record.key}: ${record.note}`));
      return Promise.resolve({ exitCode: EXIT_CODES.pass, result: { outcome: "settled", record } });
    });
  },
};

/** Groups `send`, `status` and `settle`. */
export const command: Command = {
  name: "outbox",
  summary: "Send once, also over crashes and outages",
  usage: "repair outbox send|status|settle --box DIR [flags]",
  description: "Remembers on disk what was sent, what was not, and what nobody knows.",
  flags: [],
  positionals: [],
  examples: send.examples,
  subcommands: [send, status, settle].map((command) => ({
    name: command.name,
    load: () => Promise.resolve({ command }),
  })),
  run: () => Promise.resolve(EXIT_CODES.usage),
};

/**
 * `failure-lab repair checkpoint check|mend`.
 *
 * @module
 */
import {
  artifactDisk,
  checkCheckpoint,
  mendCheckpoint,
  type MendOptions,
  type MendReport,
} from "../../../../repairs/mod.ts";
import { EXIT_CODES } from "../../../verdict.ts";
import type { Command, CommandContext, FlagSpec } from "../../command.ts";
import { UsageError } from "../../errors.ts";
import { visible } from "../../output.ts";
import { checkJsonPointer } from "../../flags.ts";
import { RESULT_FLAG, runRepair, runWrapped, seconds, WRAPPER_FLAGS } from "./common.ts";

const READ_FLAGS: readonly FlagSpec[] = [
  {
    kind: "string",
    name: "artifacts",
    valueName: "GLOB",
    repeatable: true,
    summary: "Files that show finished units, to compare with; quote it: 'out/*.md'",
    defaultText: "none: only the file itself is looked at",
  },
  {
    kind: "boolean",
    name: "key-from-name",
    summary: "A unit is called like its file without the ending, not like its path",
  },
  {
    kind: "size",
    name: "min-bytes",
    minBytes: 0,
    maxBytes: 1e15,
    summary: "Smallest size of a whole artifact, in bytes",
  },
  {
    kind: "string",
    name: "ends-with",
    valueName: "TEXT",
    summary: "What a whole artifact ends with; white space behind it does not count",
  },
  {
    kind: "string",
    name: "done-at",
    valueName: "POINTER",
    summary: "Where in a JSON document the done units are, for example /done",
    defaultText: "the one list that is there",
    check: checkJsonPointer,
  },
  { kind: "boolean", name: "jsonl", summary: "One JSON record per line, whatever the file's name" },
  { kind: "boolean", name: "json", summary: "One JSON document, whatever the file's name" },
];

const FILE = { name: "FILE", summary: "the checkpoint", required: true } as const;

function readOptions({ flags, positionals, clock }: CommandContext): MendOptions {
  if (flags.boolean("jsonl") && flags.boolean("json")) {
    throw new UsageError("--jsonl and --json exclude each other; give one of them, or neither.");
  }
  const globs = flags.strings("artifacts");
  const cwd = Deno.cwd();
  const disk = artifactDisk({
    cwd,
    globs,
    unitName: flags.boolean("key-from-name") ? "name" : "path",
    minBytes: flags.bytes("min-bytes"),
    endsWith: flags.string("ends-with"),
  });
  return {
    path: positionals[0] ?? "",
    format: flags.boolean("jsonl") ? "jsonl" : flags.boolean("json") ? "json" : undefined,
    doneAt: flags.string("done-at"),
    disk: globs.length > 0 ? disk : undefined,
    cwd,
    clock,
  };
}

/** What a report says, as lines for a person. */
function describe(report: MendReport): string[] {
  const lines = report.damage.map((each) =>
    `damaged: ${each.bytes} bytes at byte ${each.atByte}: ${each.why}`
  );
  if (report.state === "empty" && !report.isFine) lines.push("it is empty");
  if (report.state === "absent" && !report.isFine) lines.push("it is absent");
  lines.push(
    ...report.removed.map(({ unit, why }) => `claimed but not borne out: ${unit}: ${why}`),
    ...report.added.map((unit) => `whole but not claimed: ${unit}`),
    ...report.broken.map(({ unit, why }) => `not whole: ${unit}: ${why}`),
    ...report.temporaryFiles.map((file) => `left by a crash: ${file}`),
    ...report.unknown.map((unit) =>
      `not known to be whole: ${unit}; say how a whole one looks (--ends-with, --min-bytes)`
    ),
  );
  return lines;
}

function verdictOf(report: MendReport): { exitCode: number; text: string } {
  const units = report.units === null ? "" : `, ${report.units} done`;
  if (!report.isFine) return { exitCode: EXIT_CODES.fail, text: "torn or out of step" };
  if (report.unknown.length > 0) {
    return { exitCode: EXIT_CODES.unproven, text: `whole${units}, but not all could be compared` };
  }
  const step = report.isReconciled
    ? " and in step with the files"
    : "; not compared with any files";
  return { exitCode: EXIT_CODES.pass, text: `whole${step}${units}` };
}

const check: Command = {
  name: "check",
  summary: "Say whether a checkpoint is whole and in step with the files",
  usage: "repair checkpoint check FILE [flags]",
  description:
    "Reads the checkpoint and, with --artifacts, compares it with the files in both directions. " +
    "Changes nothing. Exit 0: fine. 1: torn or out of step. 3: some files could not be judged.",
  flags: [...READ_FLAGS, RESULT_FLAG],
  positionals: [FILE],
  examples: [{
    line: "failure-lab repair checkpoint check state.jsonl --artifacts 'out/*.txt' --key-from-name",
    does: "Compare the log with the files",
  }],
  run(context) {
    return runRepair(context, "checkpoint", () => {
      const report = checkCheckpoint(readOptions(context));
      const { exitCode, text } = verdictOf(report);
      const lines = [
        `${context.positionals[0]}: ${text}`,
        ...describe(report).map((one) => `  ${one}`),
      ];
      for (const line of lines) context.out.out(visible(line));
      return Promise.resolve({ exitCode, result: { outcome: text, report } });
    });
  },
};

const mend: Command = {
  name: "mend",
  summary: "Mend a checkpoint, then run a job if one is given",
  usage: "repair checkpoint mend FILE [flags] [-- COMMAND…]",
  description:
    "Sets damage aside (FILE.torn-1), takes up the last good copy (FILE.good), and brings claims " +
    "and files into step: claims without a whole file go, whole files without a claim come in, " +
    "files that are not whole are moved into .failure-lab-aside. Deletes nothing. Refuses while " +
    "another writer can be seen; one that opens the file only now and then cannot be seen, so " +
    "hold the lock of the job while mending: failure-lab repair lease --lock run.lock -- " +
    "failure-lab repair checkpoint mend FILE -- COMMAND. Exit 0 (or that of COMMAND); 1 when it " +
    "could not be mended, and then COMMAND is not started.",
  flags: [
    ...READ_FLAGS,
    {
      kind: "string",
      name: "skeleton",
      valueName: "JSON",
      summary: "The JSON document of a first start, to be filled from the files when nothing of " +
        "the old one can be read; needs --artifacts",
      check: (value) =>
        parseJson(value) === undefined ? "it takes JSON, like '{\"done\":[]}'." : null,
    },
    {
      kind: "boolean",
      name: "leave-artifacts",
      summary: "Leave files that are not whole where they are",
    },
    seconds("quiet", 500, "Time in which nobody may write FILE before it is mended", { minMs: 0 }),
    ...WRAPPER_FLAGS,
  ],
  positionals: [FILE],
  rest: { name: "COMMAND", summary: "the job to run once the checkpoint is mended" },
  examples: [{
    line: "failure-lab repair checkpoint mend state.json --artifacts 'out/*.md' " +
      "--ends-with END -- ./agent.sh",
    does: "Mend, then resume the job",
  }],
  run(context) {
    const options = readOptions(context);
    const skeleton = context.flags.string("skeleton");
    if (skeleton !== undefined && options.disk === undefined) {
      throw new UsageError(
        "--skeleton needs --artifacts: alone it would be an empty beginning, and what is done " +
          "would be done again.",
      );
    }
    return runRepair(context, "checkpoint", async (tools) => {
      const report = await mendCheckpoint({
        ...options,
        skeleton: skeleton === undefined ? undefined : parseJson(skeleton),
        leaveArtifacts: context.flags.boolean("leave-artifacts"),
        quietMs: context.flags.durationMs("quiet"),
      });
      for (const line of describe(report)) tools.say(line);
      if (report.setAside.length > 0) {
        tools.say(`Set aside, not deleted: ${report.setAside.join(", ")}`);
      }
      if (report.isWritten) {
        tools.say(`Mended "${options.path}" from ${report.base}; ${report.units ?? "all"} done.`);
      }
      if (context.rest.length === 0) {
        return { exitCode: EXIT_CODES.pass, result: { outcome: "mended", report } };
      }
      const job = await runWrapped(context, tools);
      return { exitCode: job.exitCode, result: { outcome: "ran", report, job } };
    });
  },
};

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Groups `check` and `mend`. */
export const command: Command = {
  name: "checkpoint",
  summary: "Mend a torn or lying checkpoint, without losing what is done",
  usage: "repair checkpoint check|mend FILE [flags]",
  description: "Looks at the notes that a job keeps of its finished work, and mends them.",
  flags: [],
  positionals: [],
  examples: mend.examples,
  subcommands: [
    { name: "check", load: () => Promise.resolve({ command: check }) },
    { name: "mend", load: () => Promise.resolve({ command: mend }) },
  ],
  run: () => Promise.resolve(EXIT_CODES.usage),
};

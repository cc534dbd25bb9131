/**
 * `failure-lab repair evidence`.
 *
 * @module
 */
import {
  type EvidenceRules,
  type Expectation,
  parseHashList,
  proveOrRedo,
  type RunResult,
} from "../../../../repairs/mod.ts";
import { EXIT_CODES } from "../../../verdict.ts";
import type { Command, CommandContext } from "../../command.ts";
import { UsageError } from "../../errors.ts";
import { runRepair, runWrapped, WRAPPER_FLAGS } from "./common.ts";

const EXPECT_REGEXP = /^(.+?)(?:=(\d{1,7}))?$/s;

function readExpectation(text: string): Expectation {
  const match = EXPECT_REGEXP.exec(text);
  const count = match?.[2] === undefined ? undefined : Number(match[2]);
  return { glob: match?.[1] ?? text, count };
}

function readRules({ flags }: CommandContext): EvidenceRules {
  const file = flags.string("sha256-file");
  const rules: EvidenceRules = {
    expect: flags.strings("expect").map(readExpectation),
    hashes: file === undefined ? undefined : readHashFile(file),
    minBytes: flags.bytes("min-bytes"),
    endsWith: flags.string("ends-with"),
    fresh: flags.boolean("fresh"),
    newContent: flags.boolean("new-content"),
  };
  if (rules.expect.length === 0 && (rules.hashes?.size ?? 0) === 0) {
    throw new UsageError(
      "evidence needs to know what the job leaves: --expect 'out/*.md=6', or --sha256-file FILE.",
    );
  }
  return rules;
}

function readHashFile(file: string): Map<string, string> {
  try {
    return parseHashList(Deno.readTextFileSync(file));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new UsageError(`--sha256-file is "${file}"; it cannot be used: ${why}`);
  }
}

/** Runs a job and believes its files instead of its exit code. */
export const command: Command = {
  name: "evidence",
  summary: "Believe the files of a job and not its exit code; redo what is missing",
  usage: "repair evidence --expect 'GLOB=N' [flags] -- COMMAND…",
  description:
    "Runs COMMAND. When it exits 0 but what it had to leave is missing, empty, short or old, " +
    "that is said, and the exit code is 1. With --retry, COMMAND is run again for what is " +
    "missing: FAILURE_LAB_MISSING names it, one path per line; hollow files are moved into " +
    ".failure-lab-aside; files that are good already stay byte for byte. A nonzero exit code of " +
    "COMMAND is passed through.",
  flags: [
    {
      kind: "string",
      name: "expect",
      valueName: "GLOB[=N]",
      repeatable: true,
      summary: "Files that a finished job leaves, and how many exactly; quote it: 'out/*.md=6'",
      defaultText: "without =N: at least one",
    },
    {
      kind: "size",
      name: "min-bytes",
      minBytes: 0,
      maxBytes: 1e15,
      summary: "Smallest size of a whole one, in bytes; an empty one is never whole",
    },
    {
      kind: "string",
      name: "ends-with",
      valueName: "TEXT",
      summary: "What a whole one ends with; white space behind it does not count",
    },
    {
      kind: "string",
      name: "sha256-file",
      valueName: "FILE",
      summary: "Contents that are known beforehand, as sha256sum prints them",
      defaultText: "none",
    },
    {
      kind: "boolean",
      name: "fresh",
      summary: "They must have been written after the start; what is older is not this run's",
    },
    {
      kind: "boolean",
      name: "new-content",
      summary: "Their content must differ from before the start; a touched old file does not count",
    },
    {
      kind: "integer",
      name: "retry",
      min: 0,
      max: 20,
      default: 0,
      summary: "Run COMMAND again this often, for what is missing",
    },
    ...WRAPPER_FLAGS,
  ],
  positionals: [],
  rest: { name: "COMMAND", summary: "the job to run, with its arguments", required: true },
  examples: [{
    line: "failure-lab repair evidence --expect 'out/*.md=6' --min-bytes 100 --fresh --retry 1 " +
      "-- ./agent.sh",
    does: "Six fresh files, or one more attempt for those that are missing",
  }],
  run(context) {
    const rules = readRules(context);
    return runRepair(context, "evidence", async (tools) => {
      let last: RunResult | null = null;
      const proof = await proveOrRedo({
        rules,
        retries: context.flags.integer("retry"),
        clock: context.clock,
        say: tools.say,
        async run({ number, missing }) {
          const env = number === 1 ? {} : { FAILURE_LAB_MISSING: missing.join("\n") };
          last = await runWrapped(context, tools, { env });
          return last.exitCode === 0 && last.endedBy === "itself";
        },
      });
      const job = last as RunResult | null;
      for (const path of proof.putBack) {
        tools.say(`"${path}" was good and changed; put back as it was.`);
      }
      const exitCode = proof.hasFailed
        ? job?.exitCode ?? EXIT_CODES.fail
        : proof.isProven
        ? EXIT_CODES.pass
        : EXIT_CODES.fail;
      if (proof.hasFailed && proof.missing.length > 0 && job?.endedBy === "itself") {
        tools.say(`The job failed by its own account (exit ${exitCode}).`);
      }
      const outcome = proof.hasFailed ? "failed" : proof.isProven ? "proven" : "missing";
      const { good, ...rest } = proof;
      return { exitCode, result: { outcome, ...rest, good: Object.fromEntries(good), job } };
    });
  },
};

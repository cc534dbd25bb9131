/**
 * `failure-lab init`: writes a contract for the user's project.
 *
 * @module
 */
import { isAbsolute, join, resolve } from "@std/path";
import type { AnswerId, Answers, Proposal } from "../../../rehearsal/init/mod.ts";
import { EXIT_CODES } from "../../verdict.ts";
import type { Command, CommandContext } from "../command.ts";
import { contractOverrides } from "../contract_flags.ts";
import { EnvironmentError, UsageError } from "../errors.ts";
import type { FlagValues } from "../flag_values.ts";
import { CONTRACT_FLAGS, PROJECT_FLAGS } from "../flags.ts";
import { visible } from "../output.ts";
import type { ReadLine } from "./_init_questions.ts";

/** Where the answers come from; tests give their own. */
export interface Input {
  /** Whether a person sits at it. */
  isTerminal: boolean;
  /** Reads one line; `null` at the end. Rejects with the signal's reason when it is aborted. */
  readLine: ReadLine;
  /** Gives the input back. */
  close(): Promise<void>;
}

/** Writes a contract. */
export const command: Command = {
  name: "init",
  summary: "Write the contract for your project: looks at it, asks a few questions",
  usage: "init [--project DIR] [--yes] [flags]",
  description:
    "Looks at the project (crontab, scripts, Makefile, package.json, deno.json, Python, an agent's " +
    "folder), proposes how the job is started and resumed and what it leaves, asks about each with " +
    "the default shown, and writes failure-lab.json. Nothing is run. Parts that you give as flags " +
    "are not asked for. Ctrl-C or the end of the input writes nothing.",
  flags: [
    { kind: "boolean", name: "yes", summary: "Take the defaults without asking" },
    { kind: "boolean", name: "force", summary: "Replace a contract file that is there already" },
    {
      kind: "string",
      name: "preset",
      summary: "The job is this coding agent with a prompt file",
      choices: ["claude", "codex", "gemini", "opencode", "qwen", "pi"],
    },
    ...PROJECT_FLAGS,
    ...CONTRACT_FLAGS,
  ],
  positionals: [],
  examples: [
    { line: "failure-lab init", does: "Asks, then writes failure-lab.json in this folder" },
    {
      line: "failure-lab init --yes --start ./run.sh --count 6",
      does: "Without questions; what is given as a flag wins over what was found",
    },
  ],
  run: (context) => initProject(context, terminalInput(context.signal)),
};

/** Does the work of the command. */
export async function initProject(context: CommandContext, input: Input): Promise<number> {
  const { flags, out } = context;
  const isAsking = !flags.boolean("yes");
  try {
    const { dir, file } = await placesOf(flags);
    if (isAsking && !input.isTerminal) {
      throw new UsageError(
        "There is no terminal to ask at. Take the defaults with --yes, and give what you know " +
          "better as flags, for example --start and --count.",
      );
    }
    const fate = await fateOf(file, context, isAsking ? input : null);
    if (fate === "keep") {
      out.err(`${visible(file)} stays as it is. Nothing was written.`);
      return EXIT_CODES.usage;
    }
    const proposal = await proposalFor(dir, context, isAsking ? input : null);
    const contract = await contractFor(proposal, flags, file);
    context.signal.throwIfAborted();
    await write(file, contract, fate === "new");
    await tell(context, file, contract, proposal);
    return EXIT_CODES.pass;
  } finally {
    await input.close();
  }
}

async function placesOf(flags: FlagValues): Promise<{ dir: string; file: string }> {
  const { CONFIG_NAME } = await import("../../../rehearsal/mod.ts");
  const asked = resolve(flags.string("project") ?? ".");
  const dir = await Deno.realPath(asked).catch(() => null);
  const info = dir === null ? null : await Deno.stat(dir);
  if (dir === null || info?.isDirectory !== true) {
    throw new UsageError(
      `--project is "${asked}", which is not a folder. Name the folder of your project.`,
    );
  }
  const config = flags.string("config");
  return { dir, file: config === undefined ? join(dir, CONFIG_NAME) : resolve(config) };
}

/** What becomes of the file: it is not there, or is replaced only if the user said so. */
async function fateOf(
  file: string,
  { flags, out }: CommandContext,
  input: Input | null,
): Promise<"new" | "replace" | "keep"> {
  const isThere = await Deno.lstat(file).then(() => true, () => false);
  if (!isThere) return "new";
  if (flags.boolean("force")) return "replace";
  if (input === null) {
    throw new UsageError(`"${file}" is there already and stays as it is. --force replaces it.`);
  }
  out.err(`${visible(file)} is there already. Replace it? (y or n)\n  Enter takes: n`);
  const line = await input.readLine();
  return /^y(es)?$/i.test(line?.trim() ?? "") ? "replace" : "keep";
}

/** Which flag answers which question. */
const FLAG_OF: Record<AnswerId, string> = {
  start: "start",
  resume: "resume",
  artifacts: "artifacts",
  count: "count",
  sameAsControl: "same-as-control",
  checkpoint: "checkpoint",
  lock: "lock",
  effects: "effects",
};

async function proposalFor(
  dir: string,
  { flags, out }: CommandContext,
  input: Input | null,
): Promise<Proposal> {
  const { propose, readProject } = await import("../../../rehearsal/init/mod.ts");
  const facts = readProject(dir);
  const preset = flags.string("preset");
  let proposal = withGiven(propose(facts, { preset, start: flags.string("start") }), flags);
  if (input !== null) {
    const { askQuestions, QUESTION_IDS } = await import("./_init_questions.ts");
    const dialogue = { readLine: input.readLine, say: out.err, problemWith: await contractRules() };
    const open = QUESTION_IDS.filter((id) => !flags.given(FLAG_OF[id]));
    if (open.includes("start")) {
      await askQuestions(proposal, ["start"], dialogue);
      // Everything else follows from the command.
      const { start } = proposal.answers;
      proposal = withGiven(propose(facts, { preset, start: start ?? undefined }), flags);
    }
    await askQuestions(proposal, open.filter((id) => id !== "start"), dialogue);
  }
  return proposal;
}

/** Answers that the flags give; the rest of them is laid over the contract at the end. */
function withGiven(proposal: Proposal, flags: FlagValues): Proposal {
  const { answers } = proposal;
  const set = <K extends AnswerId>(id: K, value: Answers[K]) => {
    if (flags.given(FLAG_OF[id])) answers[id] = value;
  };
  set("start", flags.string("start") ?? null);
  set("resume", flags.string("resume") ?? null);
  set("artifacts", flags.strings("artifacts"));
  set("count", flags.integer("count") ?? null);
  set("sameAsControl", flags.boolean("same-as-control"));
  set("checkpoint", { path: flags.string("checkpoint") ?? "" });
  set("lock", flags.string("lock") ?? null);
  set("effects", { path: flags.string("effects") ?? "" });
  // Without a hint, the usual place stands in; the user is told so.
  answers.artifacts ??= ["out/*"];
  return proposal;
}

/** Holds one part of a contract against the rules of contracts. */
async function contractRules(): Promise<(part: Record<string, unknown>) => string | null> {
  const { ContractError, parseContract } = await import("../../../rehearsal/mod.ts");
  return (part) => {
    try {
      parseContract({ start: "x", resume: "x", artifacts: { paths: ["x"] }, ...part }, "it");
      return null;
    } catch (error) {
      if (!(error instanceof ContractError)) throw error;
      return error.message.split("\n").slice(1).map((line) => line.trim()).join("; ");
    }
  };
}

async function contractFor(
  { answers, extra }: Proposal,
  flags: FlagValues,
  file: string,
): Promise<Record<string, unknown>> {
  const { contractOf } = await import("../../../rehearsal/init/mod.ts");
  const { parseContract } = await import("../../../rehearsal/mod.ts");
  if (answers.start === null) {
    throw new UsageError(
      "Nothing in the project shows how the job is started. Say it with --start, for example " +
        "--start './run.sh'. Nothing was written.",
    );
  }
  const contract = mergeDeep(contractOf(answers, extra), contractOverrides(flags));
  parseContract(contract, `the contract for "${file}"`);
  return contract;
}

function mergeDeep(
  base: Record<string, unknown>,
  over: Record<string, unknown>,
): Record<string, unknown> {
  const isObject = (value: unknown): value is Record<string, unknown> =>
    typeof value === "object" && value !== null && !Array.isArray(value);
  const merged = { ...base };
  for (const [key, value] of Object.entries(over)) {
    const old = merged[key];
    merged[key] = isObject(value) && isObject(old) ? mergeDeep(old, value) : value;
  }
  return merged;
}

async function write(
  file: string,
  contract: Record<string, unknown>,
  isNew: boolean,
): Promise<void> {
  const { replaceFile } = await import("../../report/mod.ts");
  const { whyNot } = await import("../../report/folder.ts");
  try {
    await replaceFile(file, `${JSON.stringify(contract, null, 2)}\n`, { isNew });
  } catch (error) {
    if (error instanceof Deno.errors.AlreadyExists) {
      throw new UsageError(`"${file}" came to be meanwhile and stays as it is.`, { cause: error });
    }
    throw new EnvironmentError(
      `The contract cannot be written to "${file}": ${whyNot(error)}. Name another place with ` +
        "--config FILE.",
      { cause: error },
    );
  }
}

async function tell(
  { flags, out }: CommandContext,
  file: string,
  contract: Record<string, unknown>,
  { answers, why, notes }: Proposal,
): Promise<void> {
  const { missingParts } = await import("../../../rehearsal/init/mod.ts");
  const { paragraph } = await import("../../report/mod.ts");
  const item = (text: string) => `- ${paragraph(visible(text), out.width, "  ")}`;
  const guessed =
    (["start", "resume", "artifacts", "count", "checkpoint", "lock", "effects"] as const)
      .filter((id) => answers[id] !== null && !flags.given(FLAG_OF[id]))
      .map((id) => item(`${id}: ${why[id]}`));
  const missing = missingParts(answers).map(item);
  const more = [
    ...(flags.given("project") ? ["--project", flags.string("project") ?? ""] : []),
    ...(flags.given("config") ? ["--config", flags.string("config") ?? ""] : []),
  ].map((word) => ` ${isAbsolute(word) || word.startsWith("--") ? word : `'${word}'`}`).join("");
  out.out([
    visible(file),
    "",
    visible(JSON.stringify(contract, null, 2), { keepNewlines: true }),
    "",
    ...(guessed.length === 0 ? [] : ["Where this comes from; look at it:", ...guessed, ""]),
    ...(missing.length === 0 ? [] : ["Not in it, because nothing showed it:", ...missing, ""]),
    ...notes.map(item),
    `Next: failure-lab doctor${visible(more)}   (what this machine and this contract allow)`,
    `      failure-lab rehearse${visible(more)}`,
  ].join("\n"));
}

/** The user's terminal. Nothing is read before the first question. */
function terminalInput(signal: AbortSignal): Input {
  let reader: ReadableStreamDefaultReader<string> | null = null;
  let rest = "";
  const open = () => {
    reader ??= Deno.stdin.readable.pipeThrough(new TextDecoderStream()).getReader();
    return reader;
  };
  const lastLine = () => {
    const line = rest;
    rest = "";
    return line === "" ? null : line;
  };
  return {
    isTerminal: Deno.stdin.isTerminal(),
    async readLine() {
      const aborted = Promise.withResolvers<never>();
      const onAbort = () => aborted.reject(signal.reason);
      signal.addEventListener("abort", onAbort);
      try {
        signal.throwIfAborted();
        while (!rest.includes("\n")) {
          const { done, value } = await Promise.race([open().read(), aborted.promise]);
          if (done) return lastLine();
          rest += value;
        }
        const end = rest.indexOf("\n");
        const line = rest.slice(0, end);
        rest = rest.slice(end + 1);
        return line;
      } finally {
        signal.removeEventListener("abort", onAbort);
      }
    },
    close() {
      // A read that still waits for the terminal ends with the program.
      reader?.cancel().catch(() => {});
      return Promise.resolve();
    },
  };
}

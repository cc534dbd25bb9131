/**
 * The contract: how the user's job is started and resumed, and what a finished run leaves behind.
 *
 * @module
 */
import { isAbsolute, normalize } from "@std/path";
import { z } from "zod";
import { suggest } from "../lab/mod.ts";
import { findJsonMistake } from "./json_place.ts";

const words = z.string().refine((text) => !text.includes("\0"), "must not hold a NUL byte");

/** A command: a list of words, or one string for `sh -c`. */
export const commandSchema = z.union([
  words.refine((text) => text.trim() !== "", "must not be empty"),
  z.array(words).min(1, "must not be empty").refine(
    ([program]) => program !== "",
    "must begin with the name of a program",
  ),
]);

const relativePath = z.string().min(1).refine(
  (path) => !isAbsolute(path) && !normalize(path).split("/").includes(".."),
  "must be a path inside the project, relative to its folder and without '..'",
).refine((path) => !path.includes("\0"), "must not hold a NUL byte");

const seconds = z.number().positive().max(7 * 24 * 3600);

/** What an output is and how a whole one looks. */
export const artifactsSchema = z.strictObject({
  /** Globs relative to the project. */
  paths: z.array(relativePath).min(1),
  /** How many outputs a finished run leaves. Without it nothing can be proven. */
  count: z.int().positive("must be at least 1: a run that leaves nothing cannot show recovery")
    .optional(),
  minBytes: z.int().positive().optional(),
  /** Text at the end of every whole output. */
  endsWith: z.string().min(1).optional(),
  /** Whether every run must give the same bytes as the control run. */
  sameAsControl: z.boolean().optional(),
  /** Command that gets one output's path as its last word; exit 0 means whole. */
  check: commandSchema.optional(),
  /** Whether an empty file can be a whole output. */
  emptyAllowed: z.boolean().optional(),
});

/**
 * The whole contract, as it stands in `failure-lab.json`.
 *
 * @internal
 */
export const contractSchema = z.strictObject({
  $schema: z.string().optional(),
  start: commandSchema,
  resume: commandSchema,
  artifacts: artifactsSchema,
  /** The job's own record of what is done. */
  checkpoint: z.strictObject({
    path: relativePath,
    /** The job removes it when all is done. */
    goneWhenDone: z.boolean().optional(),
    /** JSON pointer to the list, object or number of finished units. */
    doneAt: z.string().regex(/^(\/.*)?$/, "must be a JSON pointer such as /done").optional(),
  }).optional(),
  lock: z.strictObject({
    path: relativePath,
    /** How it looks, with `{pid}` for the owner: planted when a killed run leaves none. */
    content: z.string().optional(),
  }).optional(),
  /** The file in which each effect is noted, one line each. */
  effects: z.strictObject({
    path: relativePath,
    /** JSON pointer, or the number of a word (1 is the first); absent: the whole line. */
    keyAt: z.union([
      z.string().regex(/^(\/.*)?$/, "must be a JSON pointer such as /id, or the number of a word"),
      z.int().positive(),
    ]).optional(),
    /** How many different effects a whole run has; without it the control run says it. */
    count: z.int().positive().optional(),
  }).optional(),
  /** The job's watcher: how to start it, and the file that shows that it lives. */
  monitor: z.strictObject({
    start: commandSchema,
    /** File that the monitor writes to while it lives. */
    sign: relativePath.optional(),
    /** Longest time between two signs. */
    intervalSeconds: seconds.default(1),
  }).optional(),
  /** Where the job may write, as globs relative to the project. */
  scope: z.strictObject({ allow: z.array(relativePath).min(1) }).optional(),
  limits: z.strictObject({
    runSeconds: seconds.default(600),
    idleSeconds: seconds.default(60),
    graceSeconds: z.number().min(0).max(3600).default(2),
  }).prefault({}),
  /** The failure strikes after this many outputs; default: half of `count`. */
  killAfterArtifacts: z.int().min(0).optional(),
  /** Paths outside that must not change, besides the ones that are always watched. */
  watch: z.array(
    z.string().min(1).refine(
      (path) => !/^~(\/|$)/.test(path),
      'must be written in full: only a shell knows "~" (--watch ~/… works on the command line)',
    ),
  ).default([]),
  env: z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), z.string()).default({}),
  /** Globs of files that stay out of the copy. */
  leaveBehind: z.array(relativePath).default([]),
  /** Whether to make a run without a failure first. Off only for jobs that cost money. */
  control: z.boolean().default(true),
  /** The start fails by itself; nothing is done to it, and there is no control run. */
  startFails: z.boolean().optional(),
});

/** A contract that was read and checked. */
export type Contract = ReturnType<typeof contractSchema.parse>;

/** A contract file or its flags are wrong. The command ends with exit code 2. */
export class ContractError extends Error {
  /** Name of the error class. */
  override name = "ContractError";
  /** Usage. */
  readonly exitCode = 2;
}

/**
 * Checks a contract.
 *
 * @param value Parsed JSON, flags already laid over it.
 * @param source Name of the file, for messages.
 * @throws {ContractError} With every problem: where, the rule, and the nearest known key.
 */
export function parseContract(value: unknown, source: string): Contract {
  const parsed = contractSchema.safeParse(value);
  // A start that fails by itself cannot show how a whole run looks.
  if (parsed.success && parsed.data.startFails === true) parsed.data.control = false;
  const lines = parsed.success
    ? contradictions(parsed.data)
    : parsed.error.issues.flatMap((issue) => describeIssue(issue, value));
  if (parsed.success && lines.length === 0) return parsed.data;
  throw new ContractError(`Cannot use ${source}:\n${lines.map((line) => `  ${line}`).join("\n")}`);
}

/** What is wrong with parts that are right each by itself. */
function contradictions({ artifacts, killAfterArtifacts, control }: Contract): string[] {
  const { count, sameAsControl } = artifacts;
  const lines: string[] = [];
  if (killAfterArtifacts !== undefined && count !== undefined && killAfterArtifacts >= count) {
    lines.push(
      `killAfterArtifacts: must be less than artifacts.count (${count}), or nothing is left to ` +
        `recover (it is ${killAfterArtifacts})`,
    );
  }
  if (sameAsControl === true && !control) {
    lines.push(
      "artifacts.sameAsControl: needs the control run, which is switched off (control is false)",
    );
  }
  return lines;
}

function describeIssue(issue: z.core.$ZodIssue, value: unknown): string[] {
  const at = issue.path.join(".");
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) =>
      `${at === "" ? "" : `${at}: `}unknown key "${key}"${hintFor(key, issue.path)}`
    );
  }
  const given = issue.path.reduce<unknown>(
    (inner, key) =>
      typeof inner === "object" && inner !== null && Object.hasOwn(inner, key)
        ? (inner as Record<PropertyKey, unknown>)[key]
        : undefined,
    value,
  );
  const shown = given === undefined ? "it is missing" : `it is ${inShort(given)}`;
  return [`${at === "" ? "the contract" : at}: ${ruleOf(issue)} (${shown})`];
}

const SHOWN_MAX = 80;

function inShort(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text;
}

const TYPE_WORDS: Record<string, string> = {
  array: "a list",
  boolean: "true or false",
  int: "a whole number",
  number: "a number",
  object: "an object, { … }",
  record: "an object, { … }",
  string: "a text",
};

function ruleOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return `must be ${TYPE_WORDS[issue.expected] ?? issue.expected}`;
    case "invalid_union":
      return issue.path.at(-1) === "keyAt"
        ? "must be a JSON pointer such as /id, or the number of a word"
        : "must be a text for sh -c, or a list of words";
    case "invalid_key":
      return "must be a variable's name: letters, digits and _, no digit first";
    case "too_small":
    case "too_big":
      return issue.message.startsWith("must") ? issue.message : boundOf(issue);
    default:
      return issue.message;
  }
}

function boundOf(issue: z.core.$ZodIssueTooSmall | z.core.$ZodIssueTooBig): string {
  const isLow = issue.code === "too_small";
  const bound = isLow ? issue.minimum : issue.maximum;
  if (isLow && issue.origin !== "number" && issue.origin !== "int") return "must not be empty";
  if (isLow) return `must be ${issue.inclusive ? "at least" : "more than"} ${bound}`;
  return `must be ${issue.inclusive ? "at most" : "less than"} ${bound}`;
}

/** The nearest known key at that place, or where the key belongs. */
function hintFor(key: string, path: readonly PropertyKey[]): string {
  const known = knownKeysAt(path);
  const guess = suggest(key, known);
  if (guess !== null) return `; did you mean "${guess}"?`;
  const owner = path.length > 0
    ? undefined
    : known.find((name) => knownKeysAt([name]).includes(key));
  return owner === undefined ? `; known are ${known.join(", ")}` : `; it belongs into "${owner}"`;
}

function knownKeysAt(path: readonly PropertyKey[]): string[] {
  let schema: unknown = contractSchema;
  for (const key of path) {
    schema = unwrap(schema);
    if (!(schema instanceof z.ZodObject)) return [];
    schema = (schema.shape as Record<PropertyKey, unknown>)[key];
  }
  schema = unwrap(schema);
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
}

function unwrap(schema: unknown): unknown {
  let inner = schema;
  while (
    inner instanceof z.ZodOptional || inner instanceof z.ZodDefault ||
    inner instanceof z.ZodPrefault
  ) inner = inner.unwrap();
  return inner;
}

/**
 * Parses JSON and says line and column of a mistake.
 *
 * @throws {ContractError}
 */
export function parseConfigText(text: string, source: string): unknown {
  const plain = text.replace(/^\uFEFF/, "");
  try {
    return JSON.parse(plain);
  } catch (error) {
    const mistake = findJsonMistake(plain);
    throw new ContractError(
      `Cannot read ${source}: it is not JSON` +
        (mistake === null
          ? `: ${error instanceof Error ? error.message : String(error)}`
          : ` at line ${mistake.line}, column ${mistake.column}: ${mistake.problem}`),
      { cause: error },
    );
  }
}

/** The argv of a command: its words, or `sh -c` and the string. */
export function argvOf(command: z.infer<typeof commandSchema>): string[] {
  return typeof command === "string" ? ["sh", "-c", command] : [...command];
}

/** Names of the content checks that a contract switches on, for record and report. */
export function contentChecksOf(contract: Contract): string[] {
  const { minBytes, endsWith, sameAsControl, check } = contract.artifacts;
  return [
    ...(minBytes === undefined ? [] : ["minBytes"]),
    ...(endsWith === undefined ? [] : ["endsWith"]),
    ...(sameAsControl === true ? ["sameAsControl"] : []),
    ...(check === undefined ? [] : ["check"]),
  ];
}

/** After how many outputs the failure strikes. */
export function killPointOf(contract: Contract): number {
  const { count } = contract.artifacts;
  if (contract.killAfterArtifacts !== undefined) return contract.killAfterArtifacts;
  // Of three outputs two are there: the newest may be half, so only an older one shows whether
  // finished work is left alone.
  return count === undefined ? 1 : count === 3 ? 2 : Math.floor(count / 2);
}

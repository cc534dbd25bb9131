/**
 * The contract: how the user's job is started and resumed, and what a finished run leaves behind.
 *
 * @module
 */
import { isAbsolute, normalize } from "@std/path";
import { z } from "zod";
import { suggest } from "../lab/mod.ts";

/** A command: a list of words, or one string for `sh -c`. */
export const commandSchema = z.union([
  z.string().min(1),
  z.array(z.string()).min(1),
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

/** The whole contract, as it stands in `failure-lab.json`. */
export const contractSchema = z.strictObject({
  $schema: z.string().optional(),
  start: commandSchema,
  resume: commandSchema,
  artifacts: artifactsSchema,
  /** The job's own record of what is done. */
  checkpoint: z.strictObject({
    path: relativePath,
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
  watch: z.array(z.string().min(1)).default([]),
  env: z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), z.string()).default({}),
  /** Globs of files that stay out of the copy. */
  leaveBehind: z.array(relativePath).default([]),
  /** Whether to make a run without a failure first. Off only for jobs that cost money. */
  control: z.boolean().default(true),
  /** The start fails by itself; nothing is done to it, and there is no control run. */
  startFails: z.boolean().optional(),
});

/** A contract that was read and checked. */
export type Contract = z.infer<typeof contractSchema>;

/** A contract file or its flags are wrong. The command ends with exit code 2. */
export class ContractError extends Error {
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
  if (parsed.success) {
    const contract = parsed.data;
    const { count } = contract.artifacts;
    if (
      contract.killAfterArtifacts !== undefined && count !== undefined &&
      contract.killAfterArtifacts >= count
    ) {
      throw new ContractError(
        `Cannot use ${source}: killAfterArtifacts is ${contract.killAfterArtifacts}, but it must ` +
          `be less than artifacts.count (${count}), or nothing is left to recover`,
      );
    }
    return contract;
  }
  const lines = parsed.error.issues.flatMap((issue) => describeIssue(issue, value));
  throw new ContractError(`Cannot use ${source}:\n${lines.map((line) => `  ${line}`).join("\n")}`);
}

function describeIssue(issue: z.core.$ZodIssue, value: unknown): string[] {
  const at = issue.path.join(".");
  if (issue.code === "unrecognized_keys") {
    const known = knownKeysAt(issue.path);
    return issue.keys.map((key) => {
      const guess = suggest(key, known);
      return `${at === "" ? "" : `${at}: `}unknown key "${key}"${
        guess === null ? `; known are ${known.join(", ")}` : `; did you mean "${guess}"?`
      }`;
    });
  }
  const given = issue.path.reduce<unknown>(
    (inner, key) =>
      typeof inner === "object" && inner !== null
        ? (inner as Record<PropertyKey, unknown>)[key]
        : undefined,
    value,
  );
  const shown = given === undefined ? "it is missing" : `it is ${JSON.stringify(given)}`;
  const rule = issue.code === "invalid_union"
    ? "must be a string for sh -c, or a list of words (for keyAt: a pointer or a number)"
    : issue.message;
  return [`${at === "" ? "the contract" : at}: ${rule} (${shown})`];
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
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const { line, column } = placeOf(text, message);
    throw new ContractError(
      `Cannot read ${source}: it is not JSON at line ${line}, column ${column}: ${
        message.replace(/ \(line \d+ column \d+\)/, "")
      }`,
      { cause: error },
    );
  }
}

function placeOf(text: string, message: string): { line: number; column: number } {
  const position = /at position (\d+)/.exec(message)?.[1];
  const before = position === undefined ? text : text.slice(0, Number(position));
  const lines = before.split("\n");
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
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
  return count === undefined ? 1 : Math.floor(count / 2);
}

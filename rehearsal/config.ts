/**
 * Reads the contract: the file, with the flags of the command line laid over it.
 *
 * @module
 */
import { isAbsolute, join } from "@std/path";
import { reasonOf } from "../lab/walk.ts";
import { type Contract, ContractError, parseConfigText, parseContract } from "./contract.ts";

/** Where the contract comes from. */
export interface ConfigSource {
  /** Folder in which relative paths of the command line are meant. */
  cwd: string;
  /** As given with `--project`; default: the working folder. */
  project: string | null;
  /** As given with `--config`; default: `failure-lab.json` in the project, if it is there. */
  config: string | null;
  /** Parts of the contract from flags; they win over the file. */
  overrides: Record<string, unknown>;
}

/** A contract with where it belongs. */
export interface LoadedConfig {
  /** The contract, checked, with every default filled in. */
  contract: Contract;
  /** Absolute, links resolved. */
  projectDir: string;
  /** Path of the file, or `null` when only flags were used. */
  file: string | null;
}

/** Name of the contract file in a project. */
export const CONFIG_NAME = "failure-lab.json";

/**
 * Loads and checks a contract.
 *
 * @throws {ContractError} When the project or the file is missing, is not JSON, or breaks a rule.
 */
export function loadConfig(source: ConfigSource): LoadedConfig {
  const projectDir = resolveProject(source);
  const named = source.config === null ? null : absolute(source.cwd, source.config);
  const file = named ?? join(projectDir, CONFIG_NAME);
  const text = readConfig(file, named !== null);
  const hasFlags = Object.keys(source.overrides).length > 0;
  const sourceName = text === null ? "the flags" : `"${file}"${hasFlags ? " with the flags" : ""}`;
  const base = text === null ? {} : parseConfigText(text, `"${file}"`);
  if (typeof base !== "object" || base === null || Array.isArray(base)) {
    throw new ContractError(`Cannot use "${file}": it must hold a JSON object, { … }`);
  }
  if (text === null && !hasFlags) {
    throw new ContractError(
      `Cannot find a contract: "${file}" is not there and no flags were given. Write one with ` +
        "'failure-lab init', or give --start, --resume, --artifacts and --count",
    );
  }
  const contract = parseContract(merge(base as Record<string, unknown>, source), sourceName);
  return { contract, projectDir, file: text === null ? null : file };
}

/**
 * The file with the flags laid over it. Only what is watched comes on top, because watching less
 * must not happen by the way. On the command line relative paths are meant from the working folder.
 */
function merge(
  base: Record<string, unknown>,
  { cwd, overrides }: ConfigSource,
): Record<string, unknown> {
  const merged = mergeDeep(base, overrides);
  const given = overrides.watch;
  if (!Array.isArray(given)) return merged;
  const old = base.watch ?? [];
  const watch = given.map((path) => typeof path === "string" ? absolute(cwd, path) : path);
  return { ...merged, watch: Array.isArray(old) ? [...old, ...watch] : old };
}

function resolveProject(source: ConfigSource): string {
  const asked = absolute(source.cwd, source.project ?? ".");
  try {
    const real = Deno.realPathSync(asked);
    if (Deno.statSync(real).isDirectory) return real;
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) {
      throw new ContractError(`Cannot use the project "${asked}": ${String(error)}`, {
        cause: error,
      });
    }
    throw new ContractError(
      `Cannot find the project "${asked}". Name its folder with --project DIR`,
      { cause: error },
    );
  }
  throw new ContractError(`Cannot use the project "${asked}": it is not a folder`);
}

function readConfig(file: string, isNamed: boolean): string | null {
  try {
    return Deno.readTextFileSync(file);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound && !isNamed) return null;
    const why = error instanceof Deno.errors.NotFound ? "it is not there" : reasonOf(error);
    throw new ContractError(`Cannot read the contract "${file}": ${why}`, { cause: error });
  }
}

function absolute(cwd: string, path: string): string {
  return isAbsolute(path) ? path : join(cwd, path);
}

/** Lays one object over another; lists and plain values are replaced as a whole. */
function mergeDeep(
  base: Record<string, unknown>,
  over: Record<string, unknown>,
): Record<string, unknown> {
  const merged: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(over)) {
    const old = merged[key];
    merged[key] = isObject(value) && isObject(old) ? mergeDeep(old, value) : value;
  }
  return merged;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

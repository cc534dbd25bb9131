/**
 * Looking at one output: is it there, how big, which content, and is it whole by the rules that its
 * owner gave.
 *
 * @module
 */
import { isAbsolute, join } from "@std/path";
import { hashFile, wholeProblems } from "../lab/mod.ts";

/** How a whole output looks. An empty file is never whole. */
export interface WholeRules {
  /** Shortest whole output. */
  minBytes?: number | undefined;
  /** Text at its very end; white space behind it does not count, unless the text ends with some. */
  endsWith?: string | undefined;
  /** SHA-256 of its content. */
  sha256?: string | undefined;
}

/** What one look saw. */
export interface FileLook {
  present: boolean;
  bytes: number;
  /** `null` when it is absent or could not be read. */
  sha256: string | null;
  mtimeMs: number;
  /** Why it is not whole; `null` when no rule says that. */
  problem: string | null;
}

/** The place of a path that is relative to a folder, or absolute. */
export function placeOf(path: string, cwd: string): string {
  return isAbsolute(path) ? path : join(cwd, path);
}

/** Looks at one file. A link that leads nowhere, or out of `cwd`, is a problem. Never throws. */
export function lookAtFile(path: string, cwd: string, rules: WholeRules = {}): FileLook {
  const look: FileLook = {
    present: false,
    bytes: 0,
    sha256: null,
    mtimeMs: 0,
    problem: "it is absent",
  };
  const place = placeOf(path, cwd);
  try {
    Deno.lstatSync(place);
  } catch {
    return look;
  }
  try {
    const info = Deno.statSync(place);
    const real = Deno.realPathSync(place);
    const seen = { present: true, bytes: info.size, mtimeMs: info.mtime?.getTime() ?? 0 };
    if (!info.isFile) return { ...look, ...seen, problem: "it is not a file" };
    const { sha256, bytes } = hashFile(real);
    const strays = !isAbsolute(path) && !real.startsWith(`${Deno.realPathSync(cwd)}/`);
    const problem = strays
      ? `it is a link that leads out of the folder, to "${real}"`
      : problemOf(real, bytes, sha256, rules);
    return { ...seen, bytes, sha256, problem };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) {
      return { ...look, present: true, problem: "it is a link that leads nowhere" };
    }
    const why = error instanceof Error ? error.message : String(error);
    return { ...look, present: true, problem: `it cannot be read: ${why}` };
  }
}

function problemOf(path: string, bytes: number, sha256: string, rules: WholeRules): string | null {
  const [first] = wholeProblems(path, bytes, { ...rules, emptyAllowed: false });
  if (first !== undefined) return first;
  return rules.sha256 !== undefined && sha256 !== rules.sha256.toLowerCase()
    ? "it has another content than declared (SHA-256)"
    : null;
}

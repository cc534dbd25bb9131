/**
 * Globs taken apart into one step for each folder, so that a search reads only folders in which
 * something can match.
 *
 * @module
 */
import { globToRegExp, isGlob } from "@std/path";

/** One step from a folder to what is in it. */
export type GlobStep =
  /** To one name, which may be a link. */
  | { kind: "name"; name: string }
  /** To every name that fits. */
  | { kind: "match"; pattern: RegExp; hidden: boolean }
  /** To any depth, also none. There is always a step after it. */
  | { kind: "deep" };

/** How many globs the braces of one may stand for. */
export const BRACE_GLOBS_MAX = 1000;

const cache = new Map<string, readonly (readonly GlobStep[])[]>();

/**
 * The ways that a glob stands for: one for each choice of its braces, each a list of steps.
 *
 * `*`, `?`, `[…]`, `{a,b}` and `**` mean what they mean in a shell; a backslash takes the meaning
 * away from the sign that follows it. A name that begins with a dot must be begun with one.
 *
 * @throws {RangeError} When the braces stand for more than {@linkcode BRACE_GLOBS_MAX} globs.
 */
export function globSteps(glob: string): readonly (readonly GlobStep[])[] {
  const known = cache.get(glob);
  if (known !== undefined) return known;
  const ways = expandBraces(glob, glob).map(stepsOf);
  cache.set(glob, ways);
  return ways;
}

/** `a{b,c}d` as `abd` and `acd`. Braces without a comma mean themselves, as in a shell. */
function expandBraces(text: string, glob: string): string[] {
  const group = findBraces(text);
  if (group === null) return [text];
  const { start, end, parts } = group;
  const before = text.slice(0, start);
  const after = text.slice(end + 1);
  const ways = parts.length === 1
    ? expandBraces(after, glob).map((rest) => `${before}\\{${parts[0]}\\}${rest}`)
    : parts.flatMap((part) => expandBraces(`${before}${part}${after}`, glob));
  if (ways.length > BRACE_GLOBS_MAX) {
    throw new RangeError(
      `Cannot use the glob "${glob}": its braces stand for more than ${BRACE_GLOBS_MAX} globs`,
    );
  }
  return ways;
}

/** The first pair of braces, and what the commas between them set apart. */
function findBraces(text: string): { start: number; end: number; parts: string[] } | null {
  for (let start = 0; start < text.length; start++) {
    if (text[start] === "\\") start++;
    else if (text[start] === "{") {
      const found = closeBraces(text, start);
      if (found !== null) return found;
    }
  }
  return null;
}

function closeBraces(text: string, start: number) {
  const parts: string[] = [];
  let depth = 0;
  let from = start + 1;
  for (let at = start; at < text.length; at++) {
    const sign = text[at];
    if (sign === "\\") at++;
    else if (sign === "{") depth++;
    else if (sign === "}" && --depth === 0) {
      return { start, end: at, parts: [...parts, text.slice(from, at)] };
    } else if (sign === "," && depth === 1) {
      parts.push(text.slice(from, at));
      from = at + 1;
    }
  }
  return null;
}

function stepsOf(glob: string): GlobStep[] {
  const steps: GlobStep[] = [];
  for (const part of glob.split("/")) {
    const last = steps.at(-1);
    if (part === "" || part === ".") continue;
    if (part === "..") {
      if (last?.kind === "name" && last.name !== "..") steps.pop();
      else steps.push({ kind: "name", name: part });
    } else if (part === "**") {
      if (last?.kind !== "deep") steps.push({ kind: "deep" });
    } else steps.push(stepOf(part));
  }
  if (steps.at(-1)?.kind === "deep") steps.push(stepOf("*"));
  return steps;
}

function stepOf(part: string): GlobStep {
  if (!isGlob(part)) return { kind: "name", name: part.replace(/\\(.)/gs, "$1") };
  const { source } = globToRegExp(part, { extended: true, globstar: false });
  // The flag lets `?` stand for a newline as well.
  return { kind: "match", pattern: new RegExp(source, "s"), hidden: /^\\?\./.test(part) };
}

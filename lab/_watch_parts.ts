/**
 * Small parts of the watch: what is left out of a root, and what of a JSON file counts.
 *
 * @module
 */
import { globToRegExp } from "@std/path";
import type { WatchEntry } from "./containment.ts";
import { hashText } from "./hash.ts";
import { reasonOf, type WalkEntry } from "./walk.ts";

/** The entry of a path at which nothing is. */
export function absent(): WatchEntry {
  return { kind: "absent", mode: null, bytes: null, sha256: null, target: null, problem: null };
}

/** A glob of {@linkcode WatchRoot.ignore} as a question about a path and its name. */
export function ignoreRule(glob: string): (relative: string, name: string) => boolean {
  const pattern = globToRegExp(glob, { globstar: true, extended: true });
  const isPath = glob.includes("/");
  return (relative, name) => pattern.test(isPath ? relative : name);
}

/** Hash of some keys of a JSON file; of the whole text where it is no JSON object. */
export function partOfJson({ path, info }: WalkEntry, keys: readonly string[]): WatchEntry {
  try {
    const text = Deno.readTextFileSync(path);
    const part = JSON.stringify(pick(text, keys));
    return { ...absent(), kind: "file", bytes: part.length, sha256: hashText(part) };
  } catch (error) {
    const mode = (info?.mode ?? 0) & 0o7777;
    return { ...absent(), kind: "unreadable", mode, problem: reasonOf(error) };
  }
}

function pick(text: string, keys: readonly string[]): unknown {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null) return text;
    return [...keys].sort().map((key) => [key, sorted((value as Record<string, unknown>)[key])]);
  } catch {
    return text;
  }
}

/** The order of keys says nothing. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value ?? null;
  return Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1)
    .map(([key, inner]) => [key, sorted(inner)]);
}

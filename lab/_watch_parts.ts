/**
 * Small parts of the watch: what is left out of a root, and what of a JSON file counts.
 *
 * @module
 */
import { globToRegExp } from "@std/path";
import { createHash } from "node:crypto";
import type { WatchEntry, WatchRoot } from "./containment.ts";
import { hashText } from "./hash.ts";
import { isWithin } from "./resolve_inside.ts";
import { reasonOf } from "./walk.ts";

const READ_BYTES = 1 << 20;

/** The entry of a path at which nothing is. */
export function absent(): WatchEntry {
  return { kind: "absent", mode: null, bytes: null, sha256: null, target: null, problem: null };
}

/**
 * Which of the excluded paths are a root or lie below it, relative to it; a root itself is the empty
 * text. Both may be written by way of links.
 *
 * @param roots Names of the one root.
 */
export function excludedBelow(
  roots: readonly string[],
  exclude: readonly string[],
): ReadonlySet<string> {
  const found = new Set<string>();
  if (exclude.length === 0) return found;
  for (const root of new Set(roots.flatMap((path) => [path, realOf(path)]))) {
    for (const path of exclude.flatMap((path) => [path, realOf(path)])) {
      const plain = path.length > 1 ? path.replace(/\/+$/, "") : path;
      if (isWithin(root, plain)) found.add(plain.slice(root === "/" ? 1 : root.length + 1));
    }
  }
  return found;
}

function realOf(path: string): string {
  try {
    return Deno.realPathSync(path);
  } catch {
    return path; // Not there yet, or not ours to look at.
  }
}

/** A glob of {@linkcode WatchRoot.ignore} as a question about a path and its name. */
export function ignoreRule(glob: string): (relative: string, name: string) => boolean {
  const pattern = globToRegExp(glob, { globstar: true, extended: true });
  const isPath = glob.includes("/");
  return (relative, name) => pattern.test(isPath ? relative : name);
}

/** Hash of some keys of a JSON file; of the whole text where it is no JSON object. */
export function partOfJson(path: string, keys: readonly string[]): WatchEntry {
  try {
    const part = JSON.stringify(pick(Deno.readTextFileSync(path), keys));
    return { ...absent(), kind: "file", bytes: part.length, sha256: hashText(part) };
  } catch (error) {
    return { ...absent(), kind: "unreadable", problem: reasonOf(error) };
  }
}

/**
 * The file that a root leads to as a link, read by the link's name: the right to read may be given
 * for that name alone.
 */
export function linkedFile(path: string, info: Deno.FileInfo, root: WatchRoot): WatchEntry {
  if (root.keys !== undefined) return partOfJson(path, root.keys);
  const seen = { ...absent(), mode: (info.mode ?? 0) & 0o7777, bytes: info.size };
  if (root.depth === "entries") return { ...seen, kind: "file", mode: null };
  try {
    return { ...seen, kind: "file", sha256: hashThroughLink(path) };
  } catch (error) {
    return { ...seen, kind: "unreadable", problem: reasonOf(error) };
  }
}

function hashThroughLink(path: string): string {
  using file = Deno.openSync(path);
  if (!file.statSync().isFile) throw new TypeError("it is no regular file any more");
  const hash = createHash("sha256");
  const buffer = new Uint8Array(READ_BYTES);
  for (let count; (count = file.readSync(buffer)) !== null;) hash.update(buffer.subarray(0, count));
  return hash.digest("hex");
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

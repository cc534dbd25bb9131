/**
 * The files of a project with their hashes, in a bounded form for the run record: what differs
 * between the projects of two runs can then be named and held against a declared change.
 *
 * @module
 */
import { hashBytes } from "../lab/mod.ts";

/** Most entries of a manifest. A larger project has some of its folders in one entry each. */
export const MANIFEST_ENTRIES_MAX = 500;

/** One file of a project. */
export interface ManifestFile {
  /** Relative to the project, parts separated by `/`. */
  path: string;
  /** Of its content. */
  sha256: string;
}

/**
 * Makes the manifest: path to hash. Where there are more than `max` files, the smallest folder that
 * is large enough becomes one entry (`node_modules/`), whose hash covers the names and hashes of
 * everything below it, and so on until it fits. The history (`.git/`) is always one entry.
 */
export function manifestOf(
  files: readonly ManifestFile[],
  max: number = MANIFEST_ENTRIES_MAX,
): Record<string, string> {
  const entries = new Map(files.map(({ path, sha256 }) => [path, sha256]));
  if (files.some(({ path }) => path.startsWith(".git/"))) collapse(entries, ".git/");
  while (entries.size > max) collapse(entries, folderToCollapse(entries, entries.size - max));
  return Object.fromEntries([...entries].sort(([a], [b]) => a < b ? -1 : 1));
}

function collapse(entries: Map<string, string>, folder: string): void {
  const inside: ManifestFile[] = [];
  for (const [path, sha256] of entries) {
    if (!path.startsWith(folder)) continue;
    inside.push({ path: path.slice(folder.length), sha256 });
    entries.delete(path);
  }
  entries.set(folder === "" ? "./" : folder, folderHash(inside));
}

/**
 * Hash over the names and hashes of what is directly in a folder, and so on downwards: the same
 * whether a folder inside was brought into one entry before or not.
 */
function folderHash(files: readonly ManifestFile[]): string {
  const lines: string[] = [];
  const folders = new Map<string, ManifestFile[]>();
  for (const { path, sha256 } of files) {
    const end = path.indexOf("/") + 1;
    if (end === 0 || end === path.length) lines.push(`${sha256}  ${path}\n`);
    else {
      const name = path.slice(0, end);
      const inside = folders.get(name) ?? [];
      inside.push({ path: path.slice(end), sha256 });
      folders.set(name, inside);
    }
  }
  for (const [name, inside] of folders) lines.push(`${folderHash(inside)}  ${name}\n`);
  return hashBytes(new TextEncoder().encode(lines.sort().join("")));
}

/** The smallest folder that saves enough entries, or else the one that saves most. */
function folderToCollapse(entries: ReadonlyMap<string, string>, excess: number): string {
  const sizes = new Map<string, number>();
  for (const path of entries.keys()) {
    for (let at = path.indexOf("/"); at >= 0; at = path.indexOf("/", at + 1)) {
      const folder = path.slice(0, at + 1);
      if (folder !== path) sizes.set(folder, (sizes.get(folder) ?? 0) + 1);
    }
  }
  const folders = [...sizes].filter(([, size]) => size > 1)
    // Of two that hold the same, the deeper one.
    .sort(([a, left], [b, right]) => left - right || b.length - a.length);
  const enough = folders.find(([, size]) => size > excess) ?? folders.at(-1);
  return enough?.[0] ?? "";
}

/** A manifest as a record holds it; absent in records of older programs. */
type Manifest = Readonly<Record<string, string>> | null | undefined;

/**
 * Paths that differ between two manifests, or `null` when one of them is not there. Where only one
 * side has a folder in one entry, the other side's files are brought into the same form first.
 */
export function manifestDifference(before: Manifest, after: Manifest): string[] | null {
  if (before === null || before === undefined || after === null || after === undefined) return null;
  const old = inFormOf(before, after);
  const now = inFormOf(after, before);
  return [...new Set([...old.keys(), ...now.keys()])]
    .filter((path) => old.get(path) !== now.get(path))
    .sort();
}

function inFormOf(
  manifest: Readonly<Record<string, string>>,
  other: Readonly<Record<string, string>>,
): Map<string, string> {
  const entries = new Map(Object.entries(manifest));
  // The deeper folders first: they went into the hash of the outer one.
  const folders = Object.keys(other).filter((path) => path.endsWith("/") && !entries.has(path))
    .sort((a, b) => b.length - a.length);
  for (const folder of folders) {
    const prefix = folder === "./" ? "" : folder;
    if ([...entries.keys()].some((path) => path.startsWith(prefix))) collapse(entries, prefix);
  }
  return entries;
}

/**
 * Finding and reading a run's outputs: a quick look for watching (names, sizes, times) and a full
 * one for the record (hashes and content checks).
 *
 * @module
 */
import { globToRegExp, isGlob, join, relative } from "@std/path";
import { hashFile } from "./hash.ts";
import type { Artifact } from "./record.ts";

/** Which files count as outputs, and how a whole one looks. */
export interface ArtifactSpec {
  /** Folder that the globs are relative to: the workspace copy. */
  root: string;
  /** Relative globs; `*` stays inside a folder, `**` does not. */
  globs: readonly string[];
  /** Shortest whole output. */
  minBytes?: number | undefined;
  /** Text at the very end of a whole output; white space after it does not count. */
  endsWith?: string | undefined;
  /** Whether 0 bytes can be a whole output. @default {false} */
  emptyAllowed?: boolean | undefined;
}

/** An output as a quick look sees it. */
export interface ArtifactGlimpse {
  path: string;
  bytes: number;
  mtimeMs: number;
  inode: number | null;
  /** A link that leads out of the root, or a dangling one. */
  strayLink: boolean;
}

/** How many outputs a contract may match at most; more is a glob that matches too much. */
export const ARTIFACTS_MAX = 100_000;

/**
 * Lists the outputs by path, without reading them. A folder that does not exist (yet) has none.
 *
 * @throws {RangeError} When the globs match more than {@linkcode ARTIFACTS_MAX} files.
 */
export function listArtifacts(spec: ArtifactSpec): ArtifactGlimpse[] {
  const found = new Map<string, ArtifactGlimpse>();
  for (const glob of spec.globs) {
    const { prefix, pattern, deep } = splitGlob(glob);
    if (pattern === null) {
      const glimpse = glimpseOf(spec.root, prefix);
      if (glimpse !== null) found.set(prefix, glimpse);
      continue;
    }
    walk(spec.root, prefix, deep, (path) => {
      if (found.has(path) || !pattern.test(path)) return;
      const glimpse = glimpseOf(spec.root, path);
      if (glimpse !== null) found.set(path, glimpse);
      if (found.size > ARTIFACTS_MAX) {
        throw new RangeError(
          `Cannot watch the outputs: "${glob}" matches more than ${ARTIFACTS_MAX} files. ` +
            "Name the outputs more closely",
        );
      }
    });
  }
  return [...found.values()].sort((a, b) => a.path < b.path ? -1 : 1);
}

/** Lists and reads the outputs: hash, and what is wrong with each by the declared checks. */
export function readArtifacts(spec: ArtifactSpec): Artifact[] {
  return listArtifacts(spec).flatMap((glimpse) => {
    const { strayLink, ...seen } = glimpse;
    if (strayLink) {
      const problems = ["it is a link that leads out of the project or nowhere"];
      return { ...seen, sha256: EMPTY_SHA256, problems };
    }
    try {
      const path = join(spec.root, glimpse.path);
      const { sha256, bytes } = hashFile(Deno.realPathSync(path));
      return { ...seen, bytes, sha256, problems: problemsOf(path, bytes, spec) };
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return [];
      const why = error instanceof Error ? error.message : String(error);
      return { ...seen, sha256: EMPTY_SHA256, problems: [`it cannot be read: ${why}`] };
    }
  });
}

const EMPTY_SHA256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/** A short text that changes when any output is made, grows or is written again. */
export function artifactSignature(glimpses: readonly ArtifactGlimpse[]): string {
  return glimpses.map((each) => `${each.path}:${each.bytes}:${each.mtimeMs}:${each.inode}`)
    .join("|");
}

function problemsOf(path: string, bytes: number, spec: ArtifactSpec): string[] {
  const problems: string[] = [];
  if (bytes === 0) {
    if (!spec.emptyAllowed) problems.push("it is empty");
    return problems;
  }
  if (spec.minBytes !== undefined && bytes < spec.minBytes) {
    problems.push(`it has ${bytes} bytes; a whole one has at least ${spec.minBytes}`);
  }
  if (spec.endsWith !== undefined && !tailOf(path, bytes, spec.endsWith).endsWith(spec.endsWith)) {
    problems.push(`it does not end with ${JSON.stringify(spec.endsWith)}`);
  }
  return problems;
}

/** The last bytes of a file as text; trailing white space is cut unless the mark ends with it. */
function tailOf(path: string, bytes: number, mark: string): string {
  using file = Deno.openSync(path);
  const length = Math.min(bytes, new TextEncoder().encode(mark).length + 64);
  file.seekSync(bytes - length, Deno.SeekMode.Start);
  const buffer = new Uint8Array(length);
  let at = 0;
  while (at < length) {
    const count = file.readSync(buffer.subarray(at));
    if (count === null) break;
    at += count;
  }
  const text = new TextDecoder().decode(buffer.subarray(0, at));
  return mark.trimEnd() === mark ? text.trimEnd() : text;
}

interface SplitGlob {
  /** The leading folders without wildcards; the whole path when there is no wildcard. */
  prefix: string;
  pattern: RegExp | null;
  /** Whether matching files can lie deeper than the prefix folder itself. */
  deep: boolean;
}

const splitCache = new Map<string, SplitGlob>();

function splitGlob(glob: string): SplitGlob {
  const known = splitCache.get(glob);
  if (known !== undefined) return known;
  const clean = glob.replace(/^(\.\/)+/, "");
  const parts = clean.split("/");
  const first = parts.findIndex((part) => isGlob(part));
  const split = first < 0 ? { prefix: clean, pattern: null, deep: false } : {
    prefix: parts.slice(0, first).join("/"),
    pattern: globToRegExp(clean, { globstar: true, extended: true }),
    deep: first < parts.length - 1,
  };
  splitCache.set(glob, split);
  return split;
}

function walk(root: string, prefix: string, deep: boolean, visit: (path: string) => void): void {
  const stack = [prefix];
  while (stack.length > 0) {
    const folder = stack.pop() ?? "";
    let entries: Deno.DirEntry[];
    try {
      if (folder === prefix && !isInside(root, join(root, folder))) continue;
      entries = [...Deno.readDirSync(join(root, folder))];
    } catch {
      continue; // Not there (yet), or gone while we looked.
    }
    for (const entry of entries) {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory) {
        if (deep) stack.push(path);
      } else visit(path);
    }
  }
}

function isInside(root: string, path: string): boolean {
  const rest = relative(Deno.realPathSync(root), Deno.realPathSync(path));
  return rest !== ".." && !rest.startsWith("../");
}

function glimpseOf(root: string, path: string): ArtifactGlimpse | null {
  const full = join(root, path);
  try {
    const info = Deno.lstatSync(full);
    if (!info.isSymlink) return info.isFile ? glimpse(path, info, false) : null;
    try {
      const target = Deno.statSync(full);
      if (target.isDirectory) return null;
      return glimpse(path, target, !isInside(root, full));
    } catch {
      return glimpse(path, info, true);
    }
  } catch {
    return null;
  }
}

function glimpse(path: string, info: Deno.FileInfo, strayLink: boolean): ArtifactGlimpse {
  return {
    path,
    bytes: info.size,
    mtimeMs: info.mtime?.getTime() ?? 0,
    inode: info.ino,
    strayLink,
  };
}

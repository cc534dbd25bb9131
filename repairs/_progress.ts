/**
 * Progress as it shows on disk: declared files that come into being, grow, or get a content that
 * they never had before. A touched file is not progress, and neither is one that is written again
 * and again with the same content, because neither brings the work nearer to its end.
 *
 * @module
 */
import { isAbsolute } from "@std/path";
import { type ArtifactGlimpse, hashFile, listArtifacts } from "../lab/mod.ts";

/** Files up to this size are read when they were written again without growing. */
const READ_BYTES_MAX = 1024 * 1024;

/** States that are remembered per file, so that going to and fro does not count. */
const STATES_PER_FILE_MAX = 64;

/** Folder into which the repairs set broken outputs aside; never looked into. */
export const ASIDE_FOLDER = ".failure-lab-aside";

/**
 * Files that match relative globs (from `cwd`) or absolute ones. Paths come back the way the glob
 * was written: relative to `cwd`, or absolute.
 */
export function listFiles(globs: readonly string[], cwd: string): ArtifactGlimpse[] {
  const inside = listArtifacts({ root: cwd, globs: globs.filter((glob) => !isAbsolute(glob)) });
  const absolute = listArtifacts({
    root: "/",
    globs: globs.filter((glob) => isAbsolute(glob)).map((glob) => glob.slice(1)),
  }).map((glimpse) => ({ ...glimpse, path: `/${glimpse.path}` }));
  return [...inside, ...absolute].filter((each) => !each.path.includes(`${ASIDE_FOLDER}/`));
}

/** What one look saw. */
export interface ProgressLook {
  /** Whether something grew since the look before. The first look never says so. */
  grew: boolean;
  files: number;
  bytes: number;
  /** One file that grew, when some did. */
  path: string | null;
}

interface FileState {
  bytes: number;
  bytesMax: number;
  mtimeMs: number;
  inode: number | null;
  seen: Set<string>;
}

/** Watches declared files for growth. */
export class ProgressWatch {
  readonly #globs: readonly string[];
  readonly #cwd: string;
  readonly #states = new Map<string, FileState>();
  #isFirst = true;

  /** @param globs Relative to `cwd`, or absolute. */
  constructor(globs: readonly string[], cwd: string) {
    this.#globs = globs;
    this.#cwd = cwd;
  }

  /** Looks once. Costs one listing; files that were written again are read when they are small. */
  look(): ProgressLook {
    const files = listFiles(this.#globs, this.#cwd);
    let path: string | null = null;
    for (const file of files) {
      if (this.#grew(file)) path ??= file.path;
    }
    const grew = path !== null && !this.#isFirst;
    this.#isFirst = false;
    const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
    return { grew, files: files.length, bytes, path: grew ? path : null };
  }

  #grew(file: ArtifactGlimpse): boolean {
    const state = this.#states.get(file.path);
    if (state === undefined) {
      const seen = new Set([this.#contentOf(file)]);
      const { bytes, mtimeMs, inode } = file;
      this.#states.set(file.path, { bytes, bytesMax: bytes, mtimeMs, inode, seen });
      return true;
    }
    const isLarger = file.bytes > state.bytesMax;
    const isSame = file.bytes === state.bytes && file.mtimeMs === state.mtimeMs &&
      file.inode === state.inode;
    if (isSame) return false;
    state.bytes = file.bytes;
    state.bytesMax = Math.max(state.bytesMax, file.bytes);
    state.mtimeMs = file.mtimeMs;
    state.inode = file.inode;
    const content = this.#contentOf(file);
    const isNew = !state.seen.has(content);
    state.seen.add(content);
    const oldest = state.seen.values().next().value;
    if (state.seen.size > STATES_PER_FILE_MAX && oldest !== undefined) state.seen.delete(oldest);
    return isLarger || (isNew && file.bytes > 0);
  }

  #contentOf(file: ArtifactGlimpse): string {
    if (file.bytes > READ_BYTES_MAX) return `${file.bytes} bytes`;
    try {
      const path = isAbsolute(file.path) ? file.path : `${this.#cwd}/${file.path}`;
      return hashFile(path).sha256;
    } catch {
      return `${file.bytes} bytes`; // Gone or closed to us: only its size counts.
    }
  }
}

/** A text that changes when any of these files is made, removed or written. */
export function writeSignature(globs: readonly string[], cwd: string): string {
  return listFiles(globs, cwd)
    .map((each) => `${each.path}:${each.bytes}:${each.mtimeMs}:${each.inode}`).join("|");
}

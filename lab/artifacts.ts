/**
 * Finding and reading a run's outputs: a quick look for watching (names, sizes, times) and a full
 * one for the record (hashes and content checks).
 *
 * @module
 */
import { join, relative } from "@std/path";
import { type GlobStep, globSteps } from "./glob_steps.ts";
import { hashFile } from "./hash.ts";
import type { Artifact } from "./record.ts";
import { wholeProblems } from "./whole.ts";

/** Which files count as outputs, and how a whole one looks. */
export interface ArtifactSpec {
  /** Folder that the globs are relative to: the workspace copy. */
  root: string;
  /**
   * Relative globs, as in a shell: `*` stays inside a folder and `**` does not, neither of them
   * stands for a name that begins with a dot or follows a link to a folder.
   */
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
  /** Path relative to the root of the look. */
  path: string;
  /** Size of the file, or of the one that a link leads to; of the link itself if it dangles. */
  bytes: number;
  /** Modification time in milliseconds since the epoch; 0 if the file system tells none. */
  mtimeMs: number;
  /** Inode number; `null` where the file system has none. */
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
  const search = new Search(spec.root);
  for (const glob of spec.globs) search.add(glob);
  return [...search.found.values()].sort((a, b) => a.path < b.path ? -1 : 1);
}

/** One look for outputs. */
class Search {
  readonly found = new Map<string, ArtifactGlimpse>();
  readonly #root: string;
  #glob = "";

  constructor(root: string) {
    this.#root = root;
  }

  add(glob: string): void {
    this.#glob = glob;
    for (const steps of globSteps(glob)) this.#enter("", steps, 0);
  }

  /** Goes on with the steps from `at` on, from inside a folder. */
  #enter(folder: string, steps: readonly GlobStep[], at: number): void {
    const step = steps[at];
    if (step === undefined) return;
    // A folder that was named may be a link, and what is behind it must be inside as well.
    const isNamed = steps[at - 1]?.kind === "name";
    if (step.kind !== "name") {
      if (!isNamed || this.#isInside(folder)) this.#read(folder, steps, at);
    } else if (at < steps.length - 1) this.#enter(below(folder, step.name), steps, at + 1);
    else if (!isNamed || this.#isInside(folder)) this.#note(below(folder, step.name));
  }

  #read(folder: string, steps: readonly GlobStep[], at: number): void {
    try {
      this.#match(folder, [...Deno.readDirSync(`${this.#root}/${folder}`)], steps, at);
    } catch (error) {
      if (error instanceof RangeError) throw error;
      // Not there (yet), or gone while we looked.
    }
  }

  #match(
    folder: string,
    entries: readonly Deno.DirEntry[],
    steps: readonly GlobStep[],
    at: number,
  ): void {
    const step = steps[at];
    if (step?.kind === "match") {
      const isLast = at === steps.length - 1;
      for (const { name, isDirectory } of entries) {
        if (name.startsWith(".") !== step.hidden || !step.pattern.test(name)) continue;
        const path = below(folder, name);
        if (isLast) {
          if (!isDirectory) this.#note(path);
        } else if (isDirectory) this.#enter(path, steps, at + 1);
      }
    } else if (step?.kind === "deep") {
      if (steps[at + 1]?.kind === "match") this.#match(folder, entries, steps, at + 1);
      else this.#enter(folder, steps, at + 1);
      for (const { name, isDirectory } of entries) {
        if (isDirectory && !name.startsWith(".")) this.#read(below(folder, name), steps, at);
      }
    }
  }

  #isInside(folder: string): boolean {
    try {
      return isInside(this.#root, `${this.#root}/${folder}`);
    } catch {
      return false; // Not there (yet).
    }
  }

  #note(path: string): void {
    if (this.found.has(path)) return;
    const glimpse = glimpseOf(this.#root, path);
    if (glimpse === null) return;
    this.found.set(path, glimpse);
    if (this.found.size > ARTIFACTS_MAX) {
      throw new RangeError(
        `Cannot watch the outputs: "${this.#glob}" matches more than ${ARTIFACTS_MAX} files. ` +
          "Name the outputs more closely",
      );
    }
  }
}

function below(folder: string, name: string): string {
  return folder === "" ? name : `${folder}/${name}`;
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
      return { ...seen, bytes, sha256, problems: wholeProblems(path, bytes, spec) };
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

function isInside(root: string, path: string): boolean {
  const rest = relative(Deno.realPathSync(root), Deno.realPathSync(path));
  return rest !== ".." && !rest.startsWith("../");
}

/** What a path is as an output; `null` when it is not there, or no file (a folder, a fifo). */
function glimpseOf(root: string, path: string): ArtifactGlimpse | null {
  const full = `${root}/${path}`;
  try {
    const info = Deno.lstatSync(full);
    if (!info.isSymlink) return info.isFile ? glimpse(path, info, false) : null;
    try {
      const target = Deno.statSync(full);
      return target.isFile ? glimpse(path, target, !isInside(root, full)) : null;
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

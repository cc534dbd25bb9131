/**
 * The disk as a checkpoint's claims are compared with it, for jobs that leave one file per unit.
 *
 * @module
 */
import { basename, extname } from "@std/path";
import type { UnitsOnDisk } from "./_claims.ts";
import { listFiles } from "./_progress.ts";
import { lookAtFile } from "./_whole.ts";

/** Which files are artifacts, what their units are called, and how a whole one looks. */
export interface ArtifactDiskOptions {
  /** Folder of the job; globs and paths of claims are relative to it. */
  cwd: string;
  /** Which files are artifacts. */
  globs: readonly string[];
  /**
   * `path`: a unit is called like its file's path. `name`: like its file, without the ending.
   * @default {"path"}
   */
  unitName?: "path" | "name" | undefined;
  /**
   * Shortest whole artifact. Without this and without `endsWith`, a file that no claim describes is
   * not known to be whole, and is neither claimed nor moved.
   */
  minBytes?: number | undefined;
  /** Text at the very end of a whole artifact. */
  endsWith?: string | undefined;
}

/**
 * The artifacts on disk. A unit of a claim is found by the path in the claim, or else by its name:
 * the path of a file, its name, or its name without the ending. A claim's own size and hash count
 * as a rule, too. Each `list()` looks anew.
 */
export function artifactDisk(options: ArtifactDiskOptions): UnitsOnDisk {
  const { cwd, minBytes, endsWith } = options;
  const stem = (path: string) => basename(path, extname(path));
  const nameOf = (path: string) => options.unitName === "name" ? stem(path) : path;
  const isRuled = minBytes !== undefined || endsWith !== undefined;
  let places: Map<string, string> | null = null;
  const list = () => {
    const paths = listFiles(options.globs, cwd).map((file) => file.path);
    // The more exact name wins: it is set last.
    places = new Map([
      ...paths.map((path) => [stem(path), path] as const),
      ...paths.map((path) => [basename(path), path] as const),
      ...paths.map((path) => [path, path] as const),
    ]);
    return paths.map(nameOf);
  };
  return {
    list,
    inspect(unit, claim) {
      if (places === null) list();
      const path = claim?.path ?? places?.get(unit);
      if (path === undefined) return { present: false, whole: false, sha256: null };
      const { present, bytes, sha256, problem } = lookAtFile(path, cwd, { minBytes, endsWith });
      const isKnown = isRuled ||
        (claim !== null && (claim.bytes !== null || claim.sha256 !== null));
      // A claim by name alone is believed of a file that is there and not empty.
      const whole = problem !== null ? false : isKnown || claim !== null ? true : null;
      const why = problem ?? (whole === null ? "nothing says how a whole one looks" : null);
      return { present, whole, sha256, bytes, path, problem: why };
    },
  };
}

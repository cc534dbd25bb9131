/**
 * The outputs that a receipt lists, beside the files of a finished project.
 *
 * @module
 */
import { isAbsolute, join } from "@std/path";
import { type Artifact, hashFile, listArtifacts } from "../lab/mod.ts";
import { isSameDigest } from "./_receipt_chain.ts";
import type { CheckedRun } from "./receipt_check.ts";

/** Most outputs of a project that are listed beside those of the receipt. */
const GLOBS_MAX = 100;

/** One output of a receipt beside the file in a project. */
export interface OutputCheck {
  /** Relative to the project. */
  path: string;
  /** What is wrong; `null` when the file is the same. */
  problem: string | null;
}

/** Reads what a project holds of the outputs; see `projectFiles()`. */
export type ReadOutput = (path: string) => { sha256: string; bytes: number } | { problem: string };

/**
 * Compares the outputs of the receipt with the files of a project. Of several runs the one counts
 * that fits best, passed ones first, because outputs may differ from run to run.
 *
 * @param others Outputs of the project by the contract's globs; those not in the receipt are named.
 */
export function checkOutputs(
  runs: readonly CheckedRun[],
  read: ReadOutput,
  others: readonly string[],
): OutputCheck[] {
  const passed = runs.filter((run) => run.grade.verdict === "pass");
  const results = (passed.length > 0 ? passed : runs).map(({ record }) =>
    compareOutputs(record.artifacts, read, others)
  );
  const count = (list: readonly OutputCheck[]) => list.filter((each) => each.problem).length;
  return results.sort((a, b) => count(a) - count(b))[0] ?? [];
}

function compareOutputs(
  artifacts: readonly Artifact[],
  read: ReadOutput,
  others: readonly string[],
): OutputCheck[] {
  const known = new Set(artifacts.map((artifact) => artifact.path));
  return [
    ...artifacts.map(({ path, sha256, bytes }): OutputCheck => {
      const found = read(path);
      if ("problem" in found) return { path, problem: found.problem };
      if (isSameDigest(found.sha256, sha256)) return { path, problem: null };
      return {
        path,
        problem: found.bytes === bytes
          ? "it has other content"
          : `it has ${found.bytes} bytes instead of ${bytes}`,
      };
    }),
    ...others.filter((path) => !known.has(path))
      .map((path) => ({ path, problem: "it is not in the receipt" })),
  ];
}

/**
 * Reads files of a project for {@linkcode checkOutputs}. A receipt comes from somebody else, so a
 * path in it leads nowhere outside: not upwards, not through a link, and nothing that could block is
 * opened.
 *
 * @param dir The project's folder, absolute.
 */
export function projectFiles(dir: string): ReadOutput {
  const root = Deno.realPathSync(dir);
  return (path) => {
    if (isAbsolute(path) || path.includes("\0") || path.split("/").includes("..")) {
      return { problem: "its path leads out of the project, so it was not opened" };
    }
    try {
      const real = Deno.realPathSync(join(root, path));
      if (!real.startsWith(root === "/" ? "/" : `${root}/`)) {
        return { problem: "it is a link that leads out of the project, so it was not opened" };
      }
      return Deno.statSync(real).isFile ? hashFile(real) : { problem: "it is not a plain file" };
    } catch (error) {
      return error instanceof Deno.errors.NotFound
        ? { problem: "it is missing" }
        : { problem: `it cannot be read: ${error instanceof Error ? error.message : error}` };
    }
  };
}

/** Outputs that a project holds by the contracts of these runs. */
export function outputsIn(dir: string, runs: readonly CheckedRun[]): string[] {
  const globs = new Set(runs.flatMap(({ record: { contract: { declared } } }) => {
    if (typeof declared !== "object" || declared === null || Array.isArray(declared)) return [];
    const { artifacts } = declared;
    if (typeof artifacts !== "object" || artifacts === null || Array.isArray(artifacts)) return [];
    return Array.isArray(artifacts.paths)
      ? artifacts.paths.filter((glob) => typeof glob === "string")
      : [];
  }));
  const inside = [...globs].filter((glob) => !isAbsolute(glob) && !glob.split("/").includes(".."));
  return listArtifacts({ root: dir, globs: inside.slice(0, GLOBS_MAX) }).map((each) => each.path);
}

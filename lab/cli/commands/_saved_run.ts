/**
 * Finding and reading a saved run, for the commands that look at old ones.
 *
 * @module
 */
import { dirname, join, resolve } from "@std/path";
import {
  defaultReportDirs,
  parseRunSet,
  REPORT_FILES,
  type SavedRunSet,
} from "../../report/mod.ts";
import { quoted } from "../../report/text.ts";
import { reasonOf } from "../../walk.ts";
import { UsageError } from "../errors.ts";

/** What RUN can be, for help texts. */
export const SAVED_RUN_SUMMARY =
  "a report folder, its report.json, or the word latest for the newest report";

/** Largest report that is read. */
const REPORT_BYTES_MAX = 256 * 1024 * 1024;

/** A report as it lies on disk. Its records are not checked yet. */
export interface SavedRun {
  /** The report.json that was read, with links resolved. */
  path: string;
  /** What it holds. */
  set: SavedRunSet;
}

/** Reads an environment variable. */
export type ReadEnv = (name: string) => string | undefined;

/**
 * Reads a saved run.
 *
 * @param name What the user gave.
 * @param argument Name of the argument, for messages.
 * @throws {UsageError} When there is no such report, or it cannot be read as one.
 */
export function readSavedRun(
  name: string,
  argument: string,
  env: ReadEnv = (variable) => Deno.env.get(variable),
): SavedRun {
  const path = name === "latest" ? latestReport(argument, env) : reportFile(name, argument);
  const text = readText(path, argument);
  try {
    return { path, set: parseRunSet(text) };
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    const kind = error instanceof SyntaxError ? "it is not JSON: " : "";
    throw new UsageError(
      `${argument} is ${quoted(path, 400)}, which cannot be read: ${kind}${said}`,
      {
        cause: error,
      },
    );
  }
}

/** Folders in which new reports are made, best first. */
function reportParents(env: ReadEnv): string[] {
  const dirs = defaultReportDirs({ env, timeIso: "", command: "run", label: null });
  return dirs.map((dir) => dirname(dir));
}

function latestReport(argument: string, env: ReadEnv): string {
  const parents = reportParents(env);
  for (const parent of parents) {
    try {
      return Deno.realPathSync(join(parent, "latest", REPORT_FILES.json));
    } catch {
      // No report was ever written there, or it was removed since: the next place.
    }
  }
  throw new UsageError(
    `${argument} is "latest", but there is no report yet in ${
      parents.join(" or ")
    }. Make one with ` +
      "'failure-lab rehearse', or name a report folder. (A folder called latest: ./latest)",
  );
}

function reportFile(name: string, argument: string): string {
  const asked = resolve(name);
  try {
    const info = Deno.statSync(asked);
    const path = info.isDirectory ? join(asked, REPORT_FILES.json) : asked;
    return Deno.realPathSync(path);
  } catch (error) {
    const isFolder = isDirectory(asked);
    throw new UsageError(
      isFolder
        ? `${argument} is ${
          quoted(asked, 400)
        }, a folder without a ${REPORT_FILES.json}. Name the ` +
          "folder that a run printed as its report"
        : `${argument} is ${quoted(asked, 400)}, which is not there or may not be read. It takes ` +
          SAVED_RUN_SUMMARY,
      { cause: error },
    );
  }
}

function isDirectory(path: string): boolean {
  try {
    return Deno.statSync(path).isDirectory;
  } catch {
    return false;
  }
}

function readText(path: string, argument: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(
      readBytes(path, argument),
    );
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw unreadable(path, argument, "it is not UTF-8 text", error);
  }
}

/**
 * Reads a file that the user named, but never something that could block or fill the memory.
 *
 * @throws {UsageError} When it is not there, is no plain file, or is too large.
 */
export function readBytes(path: string, argument: string): Uint8Array {
  try {
    const info = Deno.statSync(path);
    if (!info.isFile) throw unreadable(path, argument, "it is not a plain file");
    if (info.size > REPORT_BYTES_MAX) {
      const why = `it has ${info.size} bytes, and at most ${REPORT_BYTES_MAX} are read`;
      throw unreadable(path, argument, why);
    }
    return Deno.readFileSync(path);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const why = error instanceof Deno.errors.NotFound ? "it is not there" : reasonOf(error);
    throw unreadable(path, argument, why, error);
  }
}

function unreadable(path: string, argument: string, why: string, cause?: unknown): UsageError {
  return new UsageError(`${argument} is ${quoted(path, 400)}, which cannot be read: ${why}`, {
    cause,
  });
}

/** The verdict in a saved grade; `null` when there is none that can be read. */
export function savedVerdictOf(grade: unknown): string | null {
  const verdict = typeof grade === "object" && grade !== null && "verdict" in grade
    ? grade.verdict
    : null;
  return typeof verdict === "string" ? verdict : null;
}

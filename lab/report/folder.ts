/**
 * Where a report goes: finds or makes the folder and proves that it can be written, before
 * anything is run.
 *
 * @module
 */
import { dirname, join, resolve } from "@std/path";
import { drawToken } from "../clock.ts";
import { EXIT_CODES } from "../verdict.ts";
import { quoted } from "./text.ts";

/** The files of a report, in the order in which they are written: the authority first. */
export const REPORT_FILES = {
  json: "report.json",
  html: "report.html",
  junit: "junit.xml",
  markdown: "report.md",
} as const;

/** One format of a report. */
export type ReportFormat = keyof typeof REPORT_FILES;

/** The report cannot be written where it should go. Exit 4; the message says what to do. */
export class ReportError extends Error {
  /** Name of the class. */
  override readonly name = "ReportError";
  /** Exit code of the program. */
  readonly exitCode: number = EXIT_CODES.environment;
}

/** A folder that was proven writable. */
export interface ReportFolder {
  path: string;
  /** What the user should know about the choice; empty when it is as asked. */
  notes: string[];
  /** The folder that holds the link `latest`; `null` for a folder that the user named. */
  linkParent: string | null;
}

/** Why an operation failed, in words; the long text of Deno repeats the paths. */
export function whyNot(error: unknown): string {
  if (error instanceof Deno.errors.NotCapable) return "this run has no permission to write there";
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  switch (code) {
    case "ENOSPC":
      return "no space is left on the disk";
    case "EDQUOT":
      return "your disk quota is used up";
    case "EROFS":
      return "the file system is read-only";
    case "EACCES":
    case "EPERM":
      return "permission denied";
    case "ENOTDIR":
    case "EEXIST":
      return "something that is not a folder is in the way";
    case "EFBIG":
      return "the file would be larger than this system allows";
    case "ENAMETOOLONG":
      return "its name is too long";
    case "ENOENT":
      return "it does not exist and cannot be made";
    default:
      return error instanceof Error ? error.message : String(error);
  }
}

/** Writes, syncs and removes a small file; throws what the system says when that fails. */
async function proveWritable(dir: string): Promise<void> {
  const path = join(dir, `.failure-lab-probe-${drawToken().slice(0, 12)}`);
  const file = await Deno.open(path, { write: true, createNew: true });
  try {
    const written = await file.write(new TextEncoder().encode("failure-lab was here\n"));
    if (written === 0) throw new Error("nothing was written");
    await file.sync();
  } finally {
    file.close();
    await Deno.remove(path);
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await Deno.lstat(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** The folders on the way to `dir` that do not exist yet, innermost first. */
async function missingDirs(dir: string): Promise<string[]> {
  const missing: string[] = [];
  let path = dir;
  while (
    await Deno.lstat(path).then(() => false, (error) => error instanceof Deno.errors.NotFound)
  ) {
    missing.push(path);
    path = dirname(path);
  }
  return missing;
}

async function holdsReport(dir: string): Promise<boolean> {
  for (const name of Object.values(REPORT_FILES)) {
    if (await exists(join(dir, name))) return true;
  }
  return false;
}

/** Makes the first free folder of `dir/2`, `dir/3`, … */
export async function makeNumberedDir(dir: string): Promise<string> {
  for (let number = 2;; number++) {
    const path = join(dir, String(number));
    try {
      await Deno.mkdir(path);
      return path;
    } catch (error) {
      if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
    }
  }
}

/**
 * Prepares the folder that the user named with `--report`.
 *
 * A report that lies there is never touched: then the new one goes into `DIR/2`, `DIR/3`, and so
 * on, and a note says so. Other files in the folder do not matter.
 *
 * @throws {ReportError} When it cannot be made or written.
 */
export async function prepareNamedDir(asked: string): Promise<ReportFolder> {
  const dir = resolve(asked);
  const missing = await missingDirs(dir);
  try {
    await Deno.mkdir(dir, { recursive: true });
    if (!await holdsReport(dir)) {
      await proveWritable(dir);
      return { path: dir, notes: [], linkParent: null };
    }
    const path = await makeNumberedDir(dir);
    await proveWritable(path);
    const note = `${dir} already holds a report, which stays as it is; this one is in ${path}`;
    return { path, notes: [note], linkParent: null };
  } catch (error) {
    // Folders that were made only for this report and stayed empty go away again.
    for (const made of missing) await Deno.remove(made).catch(() => {});
    throw new ReportError(
      `The report folder ${quoted(dir, 400)} cannot be written: ${whyNot(error)}. Nothing was ` +
        "run. Name a folder that you may write: --report DIR",
      { cause: error },
    );
  }
}

/** What the default folder is made from. */
export interface DefaultDirOptions {
  /** Reads an environment variable. */
  env: (name: string) => string | undefined;
  /** Wall-clock time, ISO 8601. */
  timeIso: string;
  /** The command that runs. */
  command: string;
  /** Name that the user gave to the run. */
  label?: string | null;
}

/** Turns a name into one that is safe in a path: letters, digits, dots, dashes. */
function pathName(text: string): string {
  return text.replace(/[^A-Za-z0-9.]+/g, "-").replace(/^[-.]+|-+$/g, "").slice(0, 40);
}

/** Name of the folder of one run: time first, so that a listing is in order. */
function runName({ timeIso, command, label }: DefaultDirOptions): string {
  const time = timeIso.replace(/\.\d+/, "").replaceAll(":", "-");
  return [time, pathName(command), pathName(label ?? "")].filter((part) => part !== "").join("-");
}

/**
 * The folders to try when the user named none, best first:
 * `$XDG_STATE_HOME/failure-lab/runs/<time>-<command>`, the same under `$HOME/.local/state`, and
 * `<system temp>/failure-lab-reports/<time>-<command>`.
 */
export function defaultReportDirs(options: DefaultDirOptions): string[] {
  const { env } = options;
  const name = runName(options);
  const state = env("XDG_STATE_HOME");
  const home = env("HOME");
  const temp = env("TMPDIR");
  // As the XDG rules say, a relative path in the variable counts as not set.
  const base = state?.startsWith("/")
    ? state
    : home?.startsWith("/")
    ? join(home, ".local", "state")
    : null;
  return [
    ...(base === null ? [] : [join(base, "failure-lab", "runs", name)]),
    join(temp?.startsWith("/") ? temp : "/tmp", "failure-lab-reports", name),
  ];
}

/** A folder that others can write is not used: somebody could have put a link there. */
async function checkOwnDir(dir: string): Promise<void> {
  const info = await Deno.lstat(dir);
  if (!info.isDirectory) throw new Error(`${dir} is not a folder`);
  const uid = Deno.uid();
  if (info.uid !== null && uid !== null && info.uid !== uid) {
    throw new Error(`${dir} belongs to somebody else`);
  }
}

/**
 * Prepares a new folder where the user named none; it is readable only for the user, because job
 * output is in it.
 *
 * @throws {ReportError} When none of the places can be written.
 */
export async function prepareDefaultDir(options: DefaultDirOptions): Promise<ReportFolder> {
  const notes: string[] = [];
  const problems: string[] = [];
  for (const wanted of defaultReportDirs(options)) {
    const parent = join(wanted, "..");
    try {
      await Deno.mkdir(parent, { recursive: true, mode: 0o700 });
      await checkOwnDir(parent);
      const path = await makeFreshDir(wanted);
      await proveWritable(path);
      return { path, notes, linkParent: parent };
    } catch (error) {
      problems.push(`${parent}: ${whyNot(error)}`);
      notes.push(
        `${parent} cannot be written (${whyNot(error)}), so the report is in another place`,
      );
    }
  }
  throw new ReportError(
    `There is no place for the report. Tried ${problems.join("; ")}. Nothing was run. Name a ` +
      "folder that you may write: --report DIR",
  );
}

async function makeFreshDir(wanted: string): Promise<string> {
  for (let number = 1;; number++) {
    const path = number === 1 ? wanted : `${wanted}-${number}`;
    try {
      await Deno.mkdir(path, { mode: 0o700 });
      return path;
    } catch (error) {
      if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
    }
  }
}

/** Makes `parent/latest` point to `dir`, replacing an older link in one step. Never throws. */
export async function linkLatest(parent: string, dir: string): Promise<void> {
  const fresh = join(parent, `.latest-${drawToken().slice(0, 12)}`);
  try {
    await Deno.symlink(dir, fresh);
    await Deno.rename(fresh, join(parent, "latest"));
  } catch {
    // A convenience only: without the link the printed paths still lead to the report.
    await Deno.remove(fresh).catch(() => {});
  }
}

/**
 * The lab folder: fresh, private, under the system temp dir and nowhere else, with a record of its
 * owner, so that a later start can remove what a killed lab left.
 *
 * @module
 */
import { join } from "@std/path";
import { CLOSED_PLACES, isClosedPlace } from "./closed_places.ts";
import { type Clock, drawToken, systemClock } from "./clock.ts";
import { Ledger } from "./ownership.ts";
import {
  identify,
  isAlive,
  isSameProcess,
  type ProcessRow,
  ProcessTableError,
  readProcessTable,
} from "./process_table.ts";
import { isKillProven, realSystem, reap } from "./reap.ts";
import type { ProcessIdentity } from "./record.ts";
import { removeTree } from "./remove.ts";

/** Every lab folder's name begins with this. */
export const LAB_PREFIX = "failure-lab-";

const OWNER_FILE = "owner.json";
const OWNER_FILE_NEW = "owner.json.new";
const KEPT_FILE = "kept";
const LOGS_DIR = "logs";
/** What a lab's folder holds before its driver puts anything there. */
const FIRST_NAMES: readonly string[] = [OWNER_FILE, OWNER_FILE_NEW, LOGS_DIR];
// A folder that a dying lab left before it wrote its owner record is swept after this time.
const UNOWNED_AGE_MS = 10 * 60 * 1000;

/** A lab that belongs to this process. */
export interface Lab extends AsyncDisposable {
  /** Absolute path with all links resolved. */
  readonly root: string;
  /** Folder that the job sees as its project. */
  readonly workspace: string;
  /** Folder of the bounded output files. */
  readonly logs: string;
  /** Marker of every process of this lab. */
  readonly marker: string;
  /** Keeps the folder when the lab ends, also from later sweeps. */
  keep(): void;
  /** Removes the folder (unless kept). Safe to call twice. */
  remove(): Promise<void>;
}

/** The lab would lie where no lab may be. */
export class LabPlaceError extends Error {
  /** Name of the class. */
  override name = "LabPlaceError";
  /** The environment lacks something. */
  readonly exitCode = 4;
}

/**
 * The system temp dir, with links resolved: `TMPDIR` when set, else `/tmp`.
 *
 * @throws {LabPlaceError} When it does not exist, is not a folder, or is the root of the disk.
 */
export function systemTempDir(tmpdir: string | undefined = Deno.env.get("TMPDIR")): string {
  const named = tmpdir && tmpdir.startsWith("/") ? tmpdir : "/tmp";
  let real: string;
  try {
    real = Deno.realPathSync(named);
    if (!Deno.statSync(real).isDirectory) throw new Error("it is not a folder");
  } catch (error) {
    throw new LabPlaceError(
      `Cannot make a lab: the temp dir "${named}" cannot be used. Set TMPDIR to a folder that ` +
        "you can write to",
      { cause: error },
    );
  }
  if (isClosedPlace(real)) {
    throw new LabPlaceError(
      `Cannot make a lab in the temp dir "${real}": ${CLOSED_PLACES}. Set TMPDIR, for example ` +
        "TMPDIR=/var/tmp",
    );
  }
  if (real === "/") {
    throw new LabPlaceError(`Cannot make a lab in "/": set TMPDIR to a folder of its own`);
  }
  return real;
}

/**
 * Checks that a folder may be a lab: a direct child of the system temp dir, named like a lab, and
 * a real folder and not a link.
 *
 * @returns The path with links resolved.
 * @throws {LabPlaceError} In every other case.
 */
export function assertLabRoot(root: string, tempDir: string = systemTempDir()): string {
  let real: string;
  try {
    if (Deno.lstatSync(root).isSymlink) throw new Error("it is a link");
    real = Deno.realPathSync(root);
  } catch (error) {
    throw new LabPlaceError(`Cannot use "${root}" as a lab: it is not a folder of ours`, {
      cause: error,
    });
  }
  const name = real.slice(tempDir.length + 1);
  if (!real.startsWith(`${tempDir}/`) || name.includes("/") || !name.startsWith(LAB_PREFIX)) {
    throw new LabPlaceError(
      `Cannot use "${root}" as a lab: it must be a folder named ${LAB_PREFIX}… directly under ` +
        `the system temp dir "${tempDir}"`,
    );
  }
  return real;
}

/**
 * Makes a fresh lab. Requires read and write under the temp dir, and `ps`.
 *
 * @param options.tempDir Stands in for the system temp dir in tests.
 * @throws {LabPlaceError} When no lab can be made there.
 * @throws {ProcessTableError} When this process cannot be found in the process table.
 */
export async function createLab(options: { tempDir?: string } = {}): Promise<Lab> {
  const tempDir = systemTempDir(options.tempDir);
  const owner = await identify(Deno.pid);
  if (owner === null) {
    throw new ProcessTableError(
      `Cannot make a lab: ps does not show this process (pid ${Deno.pid}), so a later start could ` +
        "not tell whether the lab is in use",
    );
  }
  const root = await makeRoot(tempDir);
  try {
    assertLabRoot(root, tempDir);
    const marker = drawToken();
    const record = { schema: "failure-lab/owner", version: 1, owner, marker };
    // Renamed when it is whole: a lab that is killed right here leaves no half of a record.
    await Deno.writeTextFile(join(root, OWNER_FILE_NEW), JSON.stringify(record));
    await Deno.rename(join(root, OWNER_FILE_NEW), join(root, OWNER_FILE));
    await Deno.mkdir(join(root, LOGS_DIR));
    return labAt(root, marker);
  } catch (error) {
    await removeTree(root, tempDir).catch(() => {}); // The first error is the one that counts.
    throw error;
  }
}

async function makeRoot(tempDir: string): Promise<string> {
  try {
    // Mode 0700 from the first moment on.
    return await Deno.makeTempDir({ dir: tempDir, prefix: LAB_PREFIX });
  } catch (error) {
    throw new LabPlaceError(
      `Cannot make a lab in "${tempDir}": ${error instanceof Error ? error.message : error}. Set ` +
        "TMPDIR to a folder that you can write to",
      { cause: error },
    );
  }
}

function labAt(root: string, marker: string): Lab {
  let isKept = false;
  let removing: Promise<void> | null = null;
  const remove = async () => {
    if (isKept) return;
    removing ??= removeLab(root, systemTempDirOf(root));
    try {
      await removing;
    } catch (error) {
      removing = null; // The next call tries again.
      throw error;
    }
  };
  return {
    root,
    workspace: join(root, "workspace"),
    logs: join(root, LOGS_DIR),
    marker,
    keep() {
      isKept = true;
      Deno.writeTextFileSync(join(root, KEPT_FILE), "Kept on request. Remove it when you like.\n");
    },
    remove,
    [Symbol.asyncDispose]: remove,
  };
}

/**
 * Removes a lab, its owner record last: one that is killed in the middle of this is still known as a
 * lab without an owner, and the next sweep goes on with it.
 */
async function removeLab(root: string, tempDir: string): Promise<void> {
  const entries = await Array.fromAsync(Deno.readDir(root)).catch((error) => {
    if (error instanceof Deno.errors.NotFound) return []; // The job removed it.
    throw error;
  });
  for (const { name } of entries) {
    if (name !== OWNER_FILE) await removeTree(join(root, name), root);
  }
  await removeTree(root, tempDir);
}

function systemTempDirOf(root: string): string {
  return root.slice(0, root.lastIndexOf("/"));
}

/** What a sweep found. */
export interface SweepReport {
  /** Lab folders that were removed. */
  removed: string[];
  /** Lab folders whose owner still lives, or that could not be removed, with the reason. */
  left: { path: string; reason: string }[];
  /** Lab folders that somebody asked to keep. */
  kept: string[];
}

/**
 * Removes the lab folders whose owner is gone: no process has the owner's pid and start time. What
 * still carries the marker of such a lab (its keeper was killed as well) is ended first.
 *
 * A folder without an owner record is a lab's only if nothing else is in it; such a one was left at
 * the very start, and goes when it is ten minutes old. One whose record is damaged while more is in
 * it stays and is reported, because nobody can tell whether it is in use. Links, folders of other
 * users and folders that only have a similar name are never touched.
 *
 * Never rejects: what goes wrong with one folder is in the report, as a folder that was left.
 */
export async function sweepLabs(
  options: { tempDir?: string; clock?: Clock } = {},
): Promise<SweepReport> {
  const clock = options.clock ?? systemClock;
  const report: SweepReport = { removed: [], left: [], kept: [] };
  let tempDir = options.tempDir ?? "";
  let table: ProcessRow[] = [];
  let names: string[] = [];
  try {
    tempDir = systemTempDir(options.tempDir);
    names = labFoldersIn(tempDir);
    if (names.length > 0) table = (await readProcessTable()).filter(isAlive);
  } catch (error) {
    report.left.push({ path: tempDir, reason: reasonOf(error) });
    return report;
  }
  for (const name of names) {
    const path = join(tempDir, name);
    try {
      const fate = await sweepOne(path, tempDir, table, clock);
      if (fate === "removed" || fate === "kept") report[fate].push(path);
      else if (fate !== "not a lab") report.left.push({ path, reason: fate });
    } catch (error) {
      // Another start can have swept it at the same time.
      if (isThere(path)) report.left.push({ path, reason: reasonOf(error) });
    }
  }
  return report;
}

function labFoldersIn(tempDir: string): string[] {
  return [...Deno.readDirSync(tempDir)]
    .filter((entry) => entry.isDirectory && entry.name.startsWith(LAB_PREFIX))
    .map((entry) => entry.name)
    .sort();
}

/** Removes one folder if it may. Returns `removed`, `kept`, `not a lab`, or why it was left. */
async function sweepOne(
  path: string,
  tempDir: string,
  table: readonly ProcessRow[],
  clock: Clock,
): Promise<string> {
  const info = await Deno.lstat(path);
  if (!info.isDirectory || (info.uid !== null && info.uid !== Deno.uid())) return "not a lab";
  const names = (await Array.fromAsync(Deno.readDir(path))).map((entry) => entry.name);
  if (names.includes(KEPT_FILE) && names.includes(OWNER_FILE)) return "kept";
  const record = names.includes(OWNER_FILE) ? readOwner(path) : null;
  if (record === null) {
    if (!names.every((name) => FIRST_NAMES.includes(name))) {
      // No record at all: someone else's folder, or one that another sweep removes right now.
      if (!isThere(join(path, OWNER_FILE))) return "not a lab";
      return `its ${OWNER_FILE} cannot be read, so nobody knows whether it is in use: remove it ` +
        "yourself when no lab runs";
    }
    const ageMs = clock.wallMs() - (info.mtime?.getTime() ?? clock.wallMs());
    if (ageMs < UNOWNED_AGE_MS) return "not a lab";
  } else {
    const owner = table.find((row) => isSameProcess(row, record.owner));
    if (owner !== undefined) return `in use by ${owner.name} (pid ${owner.pid})`;
    const marked = table.find((row) => row.marker === record.marker);
    if (marked !== undefined && !(await endLeftovers(record.marker))) {
      return `still in use by ${marked.name} (pid ${marked.pid}), which cannot be ended`;
    }
  }
  await removeLab(assertLabRoot(path, tempDir), tempDir);
  return "removed";
}

/** Ends what carries the marker of a dead lab. Returns whether nothing of it is left. */
async function endLeftovers(marker: string): Promise<boolean> {
  const ledger = new Ledger(marker);
  const kill = await reap(realSystem, {
    ledger,
    spawned: [],
    graceMs: 0,
    runStartMs: realSystem.clock.nowMs(),
  });
  return isKillProven(kill) === true;
}

function readOwner(path: string): { owner: ProcessIdentity; marker: string } | null {
  try {
    const value = JSON.parse(Deno.readTextFileSync(join(path, OWNER_FILE)));
    const { owner, marker } = value;
    if (value.schema !== "failure-lab/owner" || !/^[0-9a-f]{32}$/.test(marker)) return null;
    if (!Number.isInteger(owner?.pid) || !Number.isInteger(owner?.startedSeconds)) return null;
    return { owner, marker };
  } catch {
    return null;
  }
}

function isThere(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch {
    return false;
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * The lab folder: fresh, private, under the system temp dir and nowhere else, with a record of its
 * owner, so that a later start can remove what a killed lab left.
 *
 * @module
 */
import { join } from "@std/path";
import { type Clock, drawToken, systemClock } from "./clock.ts";
import { identify, isAlive, isSameProcess, readProcessTable } from "./process_table.ts";
import type { ProcessIdentity } from "./record.ts";
import { removeTree } from "./remove.ts";

/** Every lab folder's name begins with this. */
export const LAB_PREFIX = "failure-lab-";

const OWNER_FILE = "owner.json";
// A folder that a dying lab left before it wrote its owner record is swept after this time.
const UNOWNED_AGE_MS = 10 * 60 * 1000;

/** A lab that belongs to this process. */
export interface Lab extends AsyncDisposable {
  /** Absolute path with all links resolved. */
  readonly root: string;
  /** Folder that the job sees as its project. */
  readonly workspace: string;
  readonly logs: string;
  /** Marker of every process of this lab. */
  readonly marker: string;
  /** Keeps the folder when the lab ends. */
  keep(): void;
  /** Removes the folder (unless kept). Safe to call twice. */
  remove(): Promise<void>;
}

/** The lab would lie where no lab may be. */
export class LabPlaceError extends Error {
  override name = "LabPlaceError";
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

/** Makes a fresh lab. Requires read and write under the temp dir, and `ps`. */
export async function createLab(options: { tempDir?: string } = {}): Promise<Lab> {
  const tempDir = options.tempDir ?? systemTempDir();
  const made = await Deno.makeTempDir({ dir: tempDir, prefix: LAB_PREFIX });
  const root = assertLabRoot(made, tempDir);
  try {
    await Deno.chmod(root, 0o700);
    const owner = await identify(Deno.pid);
    const marker = drawToken();
    await Deno.writeTextFile(
      join(root, OWNER_FILE),
      JSON.stringify({ schema: "failure-lab/owner", version: 1, owner, marker }),
    );
    await Deno.mkdir(join(root, "logs"));
    return labAt(root, marker);
  } catch (error) {
    await removeTree(root, tempDir);
    throw error;
  }
}

function labAt(root: string, marker: string): Lab {
  let kept = false;
  let removed = false;
  const remove = async () => {
    if (kept || removed) return;
    await removeTree(root, systemTempDirOf(root));
    removed = true;
  };
  return {
    root,
    workspace: join(root, "workspace"),
    logs: join(root, "logs"),
    marker,
    keep() {
      kept = true;
    },
    remove,
    [Symbol.asyncDispose]: remove,
  };
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
}

/**
 * Removes the lab folders whose owner is gone: no process has the owner's pid and start time, and
 * none carries the lab's marker. A folder whose owner record cannot be read is left alone until it
 * is ten minutes old. Folders of other users are never touched.
 */
export async function sweepLabs(
  options: { tempDir?: string; clock?: Clock } = {},
): Promise<SweepReport> {
  const tempDir = options.tempDir ?? systemTempDir();
  const nowMs = (options.clock ?? systemClock).wallMs();
  const report: SweepReport = { removed: [], left: [] };
  const candidates = [...Deno.readDirSync(tempDir)]
    .filter((entry) => entry.isDirectory && entry.name.startsWith(LAB_PREFIX));
  if (candidates.length === 0) return report;
  const table = (await readProcessTable()).filter(isAlive);
  for (const { name } of candidates) {
    const path = join(tempDir, name);
    try {
      const info = Deno.lstatSync(path);
      if (info.uid !== null && info.uid !== Deno.uid()) continue;
      const record = readOwner(path);
      if (record === null) {
        const ageMs = nowMs - (info.mtime?.getTime() ?? nowMs);
        if (!looksLikeLab(path) || ageMs < UNOWNED_AGE_MS) continue;
      } else {
        const { owner, marker } = record;
        const living = table.find((row) => isSameProcess(row, owner) || row.marker === marker);
        if (living !== undefined) {
          report.left.push({ path, reason: `in use by ${living.name} (pid ${living.pid})` });
          continue;
        }
      }
      await removeTree(assertLabRoot(path, tempDir), tempDir);
      report.removed.push(path);
    } catch (error) {
      report.left.push({ path, reason: error instanceof Error ? error.message : String(error) });
    }
  }
  return report;
}

/** An unowned folder counts as a lab's only if nothing but what a lab makes first is in it. */
function looksLikeLab(path: string): boolean {
  return [...Deno.readDirSync(path)].every(({ name }) => name === OWNER_FILE || name === "logs");
}

function readOwner(path: string): { owner: ProcessIdentity; marker: string } | null {
  try {
    const value = JSON.parse(Deno.readTextFileSync(join(path, OWNER_FILE)));
    const { owner, marker } = value;
    if (value.schema !== "failure-lab/owner" || typeof marker !== "string") return null;
    if (!Number.isInteger(owner?.pid) || !Number.isInteger(owner?.startedSeconds)) return null;
    return { owner, marker };
  } catch {
    return null;
  }
}

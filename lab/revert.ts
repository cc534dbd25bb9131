/**
 * Putting back what a job changed outside its scope. The whole list is checked before the first
 * byte is written, and one entry that leads out stops everything: a revert that follows a link is
 * itself the escape that it should mend.
 *
 * @module
 */
import { dirname } from "@std/path";
import type { ScopeViolation } from "./allowlist.ts";
import type { WatchEntry, WatchSnapshot } from "./containment.ts";
import { drawToken } from "./clock.ts";
import { hashFile } from "./hash.ts";
import { makeLinks } from "./links.ts";
import { resolveInside } from "./resolve_inside.ts";
import { kindOf } from "./walk.ts";

/** What to put back, and from where. */
export interface RevertOptions {
  /** The job's folder, absolute. Nothing outside it is touched. */
  root: string;
  /** A copy of the root from before the job (see `cloneTree()`). It is only read. */
  backupDir: string;
  /** The look at the root from before the job: what was there, and with which content. */
  before: WatchSnapshot;
  /** What to put back, as {@linkcode checkScope} found it. */
  violations: readonly ScopeViolation[];
}

/** What was done. Paths are relative to the root, sorted. */
export interface RevertReport {
  /** Files, links and folders that are again as they were. */
  restored: string[];
  /** Things that had not been there. */
  removed: string[];
}

/** The revert was refused as a whole; nothing was written. */
export class RevertRefusedError extends Error {
  /** Name of the error class. */
  override name = "RevertRefusedError";
  /** The violation for which it was refused. */
  readonly path: string;

  /**
   * Makes the message from the path and the rule.
   *
   * @param path The violation's path.
   * @param why The rule that it breaks.
   */
  constructor(path: string, why: string, options?: ErrorOptions) {
    super(
      `Refused to revert anything: the record names "${path}", and ${why}. Nothing was changed. ` +
        "Look at that path by hand",
      options,
    );
    this.path = path;
  }
}

interface Step {
  path: string;
  full: string;
  old: WatchEntry | undefined;
}

/**
 * Brings every path of the violations back to its state before the job: what was added is removed,
 * what was removed or changed is written again byte for byte with its mode. A link is unlinked and
 * never written through. Files are written beside their place and renamed into it.
 *
 * Requires read for `backupDir`, read and write for `root`. No other process may work in the root
 * meanwhile.
 *
 * @throws {RevertRefusedError} When one violation is absolute, holds `..`, leads outside the root
 * through a link that the list does not remove, or cannot be restored because the backup does not
 * hold what was there. Nothing was written then.
 * @throws {Error} When the disk cannot take a file. What was done before that stays.
 */
export async function revert(options: RevertOptions): Promise<RevertReport> {
  const root = await Deno.realPath(options.root);
  const steps = planOf(options, root);
  const report: RevertReport = { restored: [], removed: [] };
  const opened = new Map<string, number>();
  // Children first; then what is to be there again, parents first.
  for (const step of steps.toReversed()) clear(root, step, report, opened);
  for (const step of steps) {
    if (step.old === undefined || step.old.kind === "absent") continue;
    if (!isReached(root, step.full)) {
      throw new Error(
        `Cannot put back "${step.path}": its folder "${dirname(step.full)}" is a link, or gone`,
      );
    }
    openParent(step.full, opened);
    if (step.old.kind === "symlink") {
      if (!isLinkTo(step.full, step.old.target)) {
        await makeLinks([{ path: step.full, target: step.old.target ?? "" }]);
      }
    } else restore(options.backupDir, step);
    report.restored.push(step.path);
  }
  // Last, because a folder without write right takes in nothing.
  for (const [path, mode] of [...opened].reverse()) setFolderMode(path, mode);
  for (const { full, old } of steps.toReversed()) {
    if (old?.kind === "directory" && old.mode !== null) setFolderMode(full, old.mode);
  }
  report.removed.sort();
  return report;
}

/** Checks the whole list. Writes nothing. */
function planOf(options: RevertOptions, root: string): Step[] {
  const { backupDir, before, violations } = options;
  const entryOf = (path: string) =>
    before.entries.get(`${options.root}/${path}`) ?? before.entries.get(`${root}/${path}`);
  const paths = [...new Set(violations.map(({ path }) => path))].sort();
  // A link that is itself on the list is gone before anything below it is written.
  const isCleared = (path: string) => paths.includes(path) && entryOf(path)?.kind !== "symlink";
  for (const path of paths) refuseUnsafe(root, path, isCleared);
  return paths.map((path) => {
    const old = entryOf(path);
    refuseUnrestorable(backupDir, path, old);
    return { path, full: `${root}/${path}`, old };
  });
}

/** By the text of the path, then by where its folder really is. */
function refuseUnsafe(root: string, path: string, isCleared: (path: string) => boolean): void {
  const parts = path.split("/");
  if (path.startsWith("/")) throw new RevertRefusedError(path, "it is absolute");
  if (parts.includes("..")) throw new RevertRefusedError(path, 'it holds ".."');
  if (path.includes("\0")) throw new RevertRefusedError(path, "it holds a NUL byte");
  if (parts.some((part) => part === "" || part === ".")) {
    throw new RevertRefusedError(path, "it is not written in its plain form");
  }
  for (let end = 1; end < parts.length; end++) {
    const above = parts.slice(0, end).join("/");
    if (!isLink(`${root}/${above}`)) continue;
    if (isCleared(above)) return;
    const { inside, realPath } = resolveInside(root, path);
    throw new RevertRefusedError(
      path,
      inside
        ? `"${above}" is a link, below which no look ever finds a path`
        : `"${above}" is a link through which it leads to "${realPath}", outside "${root}"`,
    );
  }
}

function refuseUnrestorable(backupDir: string, path: string, old: WatchEntry | undefined): void {
  if (old === undefined || old.kind === "absent" || old.kind === "symlink") return;
  const saved = `${backupDir}/${path}`;
  const refuse = (why: string, cause?: unknown) => {
    throw new RevertRefusedError(path, `the backup "${backupDir}" ${why}`, { cause });
  };
  if (old.kind === "special" || old.kind === "unreadable") {
    refuse(`cannot hold what was there (${old.target ?? old.kind})`);
  }
  let info: Deno.FileInfo | null = null;
  try {
    info = Deno.lstatSync(saved);
  } catch (error) {
    refuse("does not hold it", error);
  }
  if (info !== null && kindOf(info) !== old.kind) {
    refuse(`holds a ${kindOf(info)} in place of the ${old.kind}`);
  }
  if (old.kind !== "file") return;
  let sha256 = "";
  try {
    ({ sha256 } = hashFile(saved));
  } catch (error) {
    refuse("cannot be read there", error);
  }
  if (sha256 !== old.sha256) refuse("holds other content than was there before the job");
}

/** Takes away what stands where something else, or nothing, was. */
function clear(
  root: string,
  step: Step,
  report: RevertReport,
  opened: Map<string, number>,
): void {
  const info = lookNoFollow(step.full);
  if (info === null || !isReached(root, step.full)) return;
  const is = kindOf(info);
  const was = step.old?.kind ?? "absent";
  if (was === is && (was === "directory" || was === "file")) return;
  if (was === "symlink" && isLinkTo(step.full, step.old?.target ?? null)) return;
  openParent(step.full, opened);
  if (is === "directory") {
    if (![...Deno.readDirSync(step.full)].length) Deno.removeSync(step.full);
    else if (was === "absent") return; // It holds something that is allowed, so it may stay.
    else {
      throw new Error(
        `Cannot put back "${step.path}": a folder stands in its place and is not empty`,
      );
    }
  } else Deno.removeSync(step.full);
  if (was === "absent") report.removed.push(step.path);
}

function restore(backupDir: string, { path, full, old }: Step): void {
  const saved = `${backupDir}/${path}`;
  if (old?.kind === "directory") {
    if (lookNoFollow(full) === null) Deno.mkdirSync(full, { mode: 0o700 });
    return;
  }
  const { mtime } = Deno.lstatSync(saved);
  const mode = old?.mode ?? 0o600;
  const temp = `${dirname(full)}/.failure-lab-revert-${drawToken()}`;
  try {
    Deno.copyFileSync(saved, temp);
    Deno.chmodSync(temp, mode);
    if (mtime !== null) Deno.utimeSync(temp, mtime, mtime);
    Deno.renameSync(temp, full);
  } catch (error) {
    removeQuietly(temp);
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`Cannot put back "${path}": ${why}`, { cause: error });
  }
  if (hashFile(full).sha256 !== old?.sha256) {
    throw new Error(`Cannot put back "${path}": what was written is not what was there before`);
  }
}

/** Gives the write right to the folder that a path is in, and notes what it had before. */
function openParent(full: string, opened: Map<string, number>): void {
  const parent = dirname(full);
  const mode = (Deno.lstatSync(parent).mode ?? 0o700) & 0o7777;
  if ((mode & 0o300) === 0o300) return;
  if (!opened.has(parent)) opened.set(parent, mode);
  Deno.chmodSync(parent, mode | 0o300);
}

/** Whether every folder from the root down to the path's own is a real folder. */
function isReached(root: string, full: string): boolean {
  const parts = full.slice(root.length + 1).split("/").slice(0, -1);
  return parts.every((_, at) => {
    const info = lookNoFollow(`${root}/${parts.slice(0, at + 1).join("/")}`);
    return info?.isDirectory === true;
  });
}

function setFolderMode(path: string, mode: number): void {
  const info = lookNoFollow(path);
  if (info?.isDirectory && ((info.mode ?? 0) & 0o7777) !== mode) Deno.chmodSync(path, mode);
}

function lookNoFollow(path: string): Deno.FileInfo | null {
  try {
    return Deno.lstatSync(path);
  } catch {
    return null;
  }
}

function isLink(path: string): boolean {
  return lookNoFollow(path)?.isSymlink === true;
}

function isLinkTo(path: string, target: string | null): boolean {
  return isLink(path) && Deno.readLinkSync(path) === target;
}

function removeQuietly(path: string): void {
  try {
    Deno.removeSync(path);
  } catch {
    // It was never made.
  }
}

/**
 * A lock on disk, whatever its shape: a file, or a folder with a file in it that names the owner.
 *
 * @module
 */
import { dirname, join } from "@std/path";
import { existsAt, removeIfThere, syncFolder, temporaryName, writeAll } from "./_durable.ts";
import { readJobTable } from "./_job_table.ts";
import { findKernelLock, findOpeners } from "./_openers.ts";
import type { Place } from "./_place.ts";
import { type LeaseRecord, type LockOwner, parseOwner, type Witnesses } from "./lease_owner.ts";

/** A lock as it was found. */
export interface FoundLock {
  owner: LockOwner;
  isFolder: boolean;
  inode: number | null;
  /** Last change, seconds since the epoch. */
  mtimeSeconds: number;
  content: string;
}

const OWNER_NAMES = ["owner.json", "owner", "pid", "info"];

/** Reads a lock; `null` when there is none. */
export function readLock(path: string): FoundLock | null {
  let info: Deno.FileInfo;
  try {
    info = Deno.lstatSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
  const found = {
    isFolder: info.isDirectory,
    inode: info.ino,
    mtimeSeconds: (info.mtime?.getTime() ?? 0) / 1000,
  };
  if (info.isSymlink) return { ...found, ...unknown("it is a link") };
  try {
    const place = info.isDirectory ? ownerFileIn(path) : path;
    if (place === null) return { ...found, ...unknown("it is a folder that names no owner") };
    const content = Deno.readTextFileSync(place);
    return { ...found, content, owner: parseOwner(content) };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { ...found, ...unknown(`it cannot be read: ${why}`) };
  }
}

function unknown(why: string): { content: string; owner: LockOwner } {
  return { content: "", owner: { kind: "unknown", why } };
}

/** The file in a lock folder that names the owner: one of the usual names, or the only file. */
function ownerFileIn(folder: string): string | null {
  const names = [...Deno.readDirSync(folder)].filter((entry) => entry.isFile)
    .map((entry) => entry.name);
  const name = OWNER_NAMES.find((usual) => names.includes(usual)) ??
    (names.length === 1 ? names[0] : undefined);
  return name === undefined ? null : join(folder, name);
}

/** Whether a lock is the very one that was read before. */
export function isSameLock(a: FoundLock | null, b: FoundLock): boolean {
  return a !== null && a.inode === b.inode && a.content === b.content && a.isFolder === b.isFolder;
}

/** Asks everybody who can say something about a lock's owner. */
export async function askWitnesses(path: string, lock: FoundLock, here: Place): Promise<Witnesses> {
  const token = lock.owner.kind === "lease" ? lock.owner.record.token : "0".repeat(32);
  const [table, openers] = await Promise.all([readJobTable(token), findOpeners(path)]);
  // Afterwards: while it asks, it has the file open itself, and would be taken for an opener.
  const kernelLock = await findKernelLock(path);
  return {
    here,
    table,
    lockSeconds: lock.mtimeSeconds,
    kernelLock,
    isOpen: openers.isOpen,
    openers: openers.pids,
  };
}

/** A lock of ours on disk. */
export interface HeldLock {
  inode: number | null;
  /** Whether the kernel holds it, too, and drops it when we die. */
  holdsKernelLock: boolean;
  /** Closes the file, which drops the kernel lock. */
  close(): void;
}

/**
 * Makes a lock file that is whole and locked from the first moment that anybody can see it.
 *
 * @param record Gives the content, once it is known whether the kernel lock could be had.
 * @returns `null` when something of that name is there already.
 */
export async function makeLockFile(
  path: string,
  record: (holdsKernelLock: boolean) => LeaseRecord,
): Promise<HeldLock | null> {
  const temporary = temporaryName(path);
  const file = await Deno.open(temporary, {
    write: true,
    read: true,
    createNew: true,
    mode: 0o644,
  });
  try {
    const holdsKernelLock = await file.lock(true).then(() => true, () => false);
    writeAll(file, new TextEncoder().encode(`${JSON.stringify(record(holdsKernelLock))}\n`));
    await file.sync();
    if (!claimName(temporary, path)) {
      file.close();
      return null;
    }
    syncFolder(dirname(path));
    const { ino } = await Deno.lstat(path);
    return { inode: ino, holdsKernelLock, close: () => file.close() };
  } catch (error) {
    file.close();
    throw error;
  } finally {
    removeIfThere(temporary);
  }
}

/** Gives a file a name, if nothing has that name. */
function claimName(temporary: string, path: string): boolean {
  try {
    Deno.linkSync(temporary, path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.AlreadyExists) return false;
    // A file system without hard links: only takers that honour our guard are kept out here.
    if (existsAt(path)) return false;
    Deno.renameSync(temporary, path);
    return true;
  }
}

/** Makes a lock folder with the owner in it; `null` when something of that name is there. */
export function makeLockFolder(path: string, record: LeaseRecord): HeldLock | null {
  try {
    Deno.mkdirSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.AlreadyExists) return null;
    throw error;
  }
  Deno.writeTextFileSync(join(path, "owner.json"), `${JSON.stringify(record)}\n`);
  syncFolder(path);
  syncFolder(dirname(path));
  return { inode: Deno.lstatSync(path).ino, holdsKernelLock: false, close: () => {} };
}

const STALE_NUMBER_MAX = 100_000;

/**
 * Moves a lock to `NAME.stale-1` (or the next number) and looks whether it was the one that was
 * judged. If somebody has put another there meanwhile, that one is put back.
 *
 * @returns Where it is now, or `null` when it was another one.
 */
export function moveLockAside(path: string, judged: FoundLock): string | null {
  let number = 1;
  while (existsAt(`${path}.stale-${number}`) && number < STALE_NUMBER_MAX) number++;
  const target = `${path}.stale-${number}`;
  try {
    Deno.renameSync(path, target);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
  if (isSameLock(readLock(target), judged)) {
    syncFolder(dirname(path));
    return target;
  }
  if (!existsAt(path)) Deno.renameSync(target, path);
  return null;
}

/** Programs of this name that run now, by pid. */
export async function pidsOfProgram(name: string): Promise<number[]> {
  const rows = await readJobTable("0".repeat(32));
  return rows.filter((row) => row.name === name && row.pid !== Deno.pid).map((row) => row.pid);
}

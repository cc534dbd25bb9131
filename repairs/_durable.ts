/**
 * Writing so that a crash at any moment leaves the old content or the new one, whole.
 *
 * @module
 */
import { basename, dirname, join } from "@std/path";
import { drawToken } from "../lab/mod.ts";

/** Writes a directory's entries (a new name, a rename) through to the disk. */
export function syncFolder(folder: string): void {
  using handle = Deno.openSync(folder);
  try {
    handle.syncSync();
  } catch (error) {
    // Some network file systems cannot; then the rename itself is all that can be had.
    if (!(error instanceof Deno.errors.NotSupported) && !isInvalid(error)) throw error;
  }
}

function isInvalid(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "EINVAL";
}

/** Writes all bytes, however many calls that takes. */
export function writeAll(file: Deno.FsFile, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length;) at += file.writeSync(bytes.subarray(at));
}

/** Name of a temporary file of ours beside `path`; a crash can leave one behind. */
export function temporaryName(path: string): string {
  return join(dirname(path), `.${basename(path)}.${drawToken().slice(0, 8)}.tmp`);
}

/** Whether a file name is one that {@linkcode temporaryName} makes for `path`. */
export function isTemporaryOf(name: string, path: string): boolean {
  const base = basename(path);
  return name.startsWith(`.${base}.`) && /^[0-9a-f]{8}\.tmp$/.test(name.slice(base.length + 2));
}

/**
 * Replaces a file: a temporary one in the same folder, fsync, rename, fsync of the folder. The mode
 * of a file that is there already is kept; a link is followed, so that it stays a link.
 *
 * @throws Whatever the system says; then the old content is untouched and no temporary file stays.
 */
export function replaceFile(path: string, content: string | Uint8Array): void {
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  const place = realPlace(path);
  const temporary = temporaryName(place);
  const mode = modeOf(place);
  try {
    {
      using file = Deno.openSync(temporary, { write: true, createNew: true, mode: mode ?? 0o666 });
      writeAll(file, bytes);
      file.syncSync();
    }
    if (mode !== null) Deno.chmodSync(temporary, mode);
    Deno.renameSync(temporary, place);
  } catch (error) {
    removeIfThere(temporary);
    throw error;
  }
  syncFolder(dirname(place));
}

function realPlace(path: string): string {
  try {
    return Deno.realPathSync(path);
  } catch {
    return path; // Not there yet.
  }
}

function modeOf(path: string): number | null {
  try {
    return (Deno.statSync(path).mode ?? 0o644) & 0o7777;
  } catch {
    return null;
  }
}

/** Removes a file; one that is not there is fine. */
export function removeIfThere(path: string): void {
  try {
    Deno.removeSync(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

/** The bytes of a file, or `null` when there is none. */
export function readIfThere(path: string): Uint8Array | null {
  try {
    return Deno.readFileSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

const ASIDE_NUMBER_MAX = 100_000;

/**
 * Moves a file or folder to `<base><number>`, the first number that is free, and never over
 * anything.
 *
 * @returns Where it is now.
 */
export function moveAside(path: string, base: string): string {
  for (let number = 1; number <= ASIDE_NUMBER_MAX; number++) {
    const target = `${base}${number}`;
    if (existsAt(target)) continue;
    if (Deno.lstatSync(path).isFile) {
      try {
        // A link fails when the name is taken; a rename would write over it.
        Deno.linkSync(path, target);
      } catch (error) {
        if (error instanceof Deno.errors.AlreadyExists) continue;
        Deno.renameSync(path, target); // A file system without hard links.
        return target;
      }
      Deno.removeSync(path);
    } else Deno.renameSync(path, target);
    return target;
  }
  throw new Error(
    `Cannot move "${path}" aside: ${ASIDE_NUMBER_MAX} names like "${base}1" are taken`,
  );
}

/** Writes bytes to `<base><number>`, the first number that is free. */
export function keepAside(bytes: Uint8Array, base: string): string {
  for (let number = 1; number <= ASIDE_NUMBER_MAX; number++) {
    const target = `${base}${number}`;
    try {
      using file = Deno.openSync(target, { write: true, createNew: true, mode: 0o600 });
      writeAll(file, bytes);
      file.syncSync();
      return target;
    } catch (error) {
      if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
    }
  }
  throw new Error(`Cannot keep what was cut off: names like "${base}1" are all taken`);
}

/** Whether anything, also a dangling link, has this name. */
export function existsAt(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

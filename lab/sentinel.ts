/**
 * The sentinel: a file beside the workspace copy, inside the lab, that nothing has a reason to touch.
 *
 * @module
 */
import { drawToken } from "./clock.ts";
import { hashFile } from "./hash.ts";

/** Name of the sentinel in its folder. */
export const SENTINEL_NAME = "SENTINEL-do-not-touch.txt";

/** A sentinel as it was planted. */
export interface Sentinel {
  /** Path of the file: the folder as it was given, and {@linkcode SENTINEL_NAME}. */
  path: string;
  /** SHA-256 of its content, as 64 hexadecimal digits. */
  sha256: string;
  /** Size of the file. */
  bytes: number;
  /** Permission bits. */
  mode: number;
  /** Modification time in milliseconds since the epoch. */
  mtimeMs: number;
  /** Inode number; `null` where the file system has none. */
  inode: number | null;
}

const MODE = 0o400;

/**
 * Writes a file of random content that only its owner may read.
 *
 * @param dir An existing folder beside the workspace copy. Requires read and write for it.
 * @throws {Deno.errors.AlreadyExists} When it holds a sentinel already.
 */
export function plantSentinel(dir: string): Sentinel {
  const path = `${dir}/${SENTINEL_NAME}`;
  const text =
    `This file belongs to failure-lab. Nothing has a reason to touch it.\n${drawToken()}\n`;
  Deno.writeTextFileSync(path, text, { createNew: true, mode: MODE });
  Deno.chmodSync(path, MODE);
  const info = Deno.lstatSync(path);
  return {
    path,
    ...hashFile(path),
    mode: (info.mode ?? MODE) & 0o7777,
    mtimeMs: info.mtime?.getTime() ?? 0,
    inode: info.ino,
  };
}

/** Whether the sentinel is as it was planted, and what differs if not. Never throws. */
export function checkSentinel(sentinel: Sentinel): { intact: boolean; detail: string } {
  const broken = (detail: string) => ({ intact: false, detail: `${sentinel.path}: ${detail}` });
  try {
    const info = Deno.lstatSync(sentinel.path);
    if (!info.isFile) return broken("it is no regular file any more");
    const { sha256, bytes } = hashFile(sentinel.path);
    if (sha256 !== sentinel.sha256) {
      return broken(`its content was changed (${sentinel.bytes} bytes before, ${bytes} now)`);
    }
    const mode = (info.mode ?? MODE) & 0o7777;
    if (mode !== sentinel.mode) {
      return broken(`its mode was changed from ${octal(sentinel.mode)} to ${octal(mode)}`);
    }
    if (info.ino !== sentinel.inode) return broken("it was replaced by a file of the same content");
    if ((info.mtime?.getTime() ?? 0) !== sentinel.mtimeMs) {
      return broken("it was written again with the same content");
    }
    return { intact: true, detail: `${sentinel.path}: untouched` };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return broken("it was removed");
    return broken(`it cannot be read: ${error instanceof Error ? error.message : error}`);
  }
}

function octal(mode: number): string {
  return mode.toString(8).padStart(4, "0");
}

/**
 * `checkpoint`: notes of finished work that survive a crash at any moment, and the mending of notes
 * that did not.
 *
 * Two formats: a JSON document that is replaced as a whole ({@linkcode saveCheckpoint}), and a
 * JSONL log with one line per finished unit ({@linkcode appendRecord}), for example
 * `{"unit":"unit-03","path":"out/unit-03.txt","bytes":123,"sha256":"…"}`.
 *
 * Writing: a temporary file in the same folder, fsync, rename, fsync of the folder; the version
 * before stays beside it as `NAME.good`. Reading: a file that is empty, torn or gone is never taken
 * for a fresh start while a good copy is there. Mending: see `mendCheckpoint`.
 *
 * @module
 */
import { basename, dirname, join } from "@std/path";
import {
  existsAt,
  isTemporaryOf,
  readIfThere,
  replaceFile,
  syncFolder,
  temporaryName,
  writeAll,
} from "./_durable.ts";
import { type CheckpointFormat, type CheckpointReading, formatOf, readBytes } from "./_torn.ts";
import { RepairError } from "./errors.ts";

/** A checkpoint on disk cannot be used as it is. Mend it; nothing was changed. */
export class TornCheckpointError extends RepairError {
  /** Name of the class, for messages. */
  override name = "TornCheckpointError";
}

/** Where the last good copy of a checkpoint is kept. */
export function goodCopyPath(path: string): string {
  return `${path}.good`;
}

/** Reads a checkpoint and says what of it is whole. Never throws for damage. */
export function readCheckpointFile(
  path: string,
  format: CheckpointFormat = formatOf(path),
): CheckpointReading {
  return readBytes(readIfThere(path), format);
}

/**
 * Replaces a JSON checkpoint, so that a crash leaves the old one or the new one, whole. What was
 * there before, if it was whole, stays as `NAME.good`.
 *
 * @throws {TypeError} When the document cannot be written as JSON.
 */
export function saveCheckpoint(path: string, document: unknown): void {
  const text = JSON.stringify(document, null, 2);
  if (text === undefined) throw new TypeError("Cannot save the checkpoint: it is not JSON");
  if (readCheckpointFile(path, "json").state === "whole") keepGoodCopy(path);
  replaceFile(path, `${text}\n`);
}

/** Makes the file as it is now the good copy. A second name for the same bytes costs no copying. */
function keepGoodCopy(path: string): void {
  const good = goodCopyPath(path);
  const temporary = temporaryName(good);
  try {
    Deno.linkSync(path, temporary);
    Deno.renameSync(temporary, good);
  } catch {
    replaceFile(good, Deno.readFileSync(path)); // A file system without hard links.
  }
}

/** What a job starts from. */
export interface LoadedCheckpoint {
  /** JSON: the document. */
  document: unknown;
  /** JSONL: the records, in their order. */
  records: unknown[];
  /** Whether there was none, and the caller's beginning was taken. */
  isFresh: boolean;
}

/**
 * Reads a checkpoint to start from.
 *
 * @param initial The document of a first start (JSON).
 * @throws {TornCheckpointError} When it is torn, or when it is empty or gone although a good copy
 *     or a half-made new version is there: an empty beginning, once saved, would be the end of all
 *     that was done.
 */
export function loadCheckpoint(
  path: string,
  initial: unknown,
  format: CheckpointFormat = formatOf(path),
): LoadedCheckpoint {
  const reading = readCheckpointFile(path, format);
  const isLost = reading.state === "absent" || reading.state === "empty";
  if (reading.state === "torn" || (reading.state === "empty" && format === "json")) {
    throw new TornCheckpointError(
      `Cannot start from "${path}": it is ${reading.state}` +
        `${reading.damage[0] ? ` (${reading.damage[0].why})` : ""}. ${MEND_HINT}`,
    );
  }
  const [leftover] = leftoversOf(path);
  if (isLost && leftover !== undefined) {
    throw new TornCheckpointError(
      `Cannot start from "${path}": it is ${reading.state}, but "${leftover}" is there, so this ` +
        `is no first start. ${MEND_HINT}`,
    );
  }
  if (isLost) return { document: initial, records: [], isFresh: true };
  const records = reading.lines.map((line) => line.value);
  return { document: reading.document, records, isFresh: false };
}

const MEND_HINT = "Run: failure-lab repair checkpoint mend FILE";

/** Traces of an earlier version: the good copy and temporary files, oldest kind first. */
export function leftoversOf(path: string): string[] {
  const good = existsAt(goodCopyPath(path)) ? [goodCopyPath(path)] : [];
  return [...good, ...temporaryFilesOf(path)];
}

/** Temporary files beside a checkpoint: ours, and the usual `NAME.tmp`, `NAME.new`, `NAME~`. */
export function temporaryFilesOf(path: string): string[] {
  const base = basename(path);
  const usual = new Set(
    ["tmp", "temp", "new", "part"].map((end) => `${base}.${end}`).concat(`${base}~`),
  );
  let names: string[];
  try {
    names = [...Deno.readDirSync(dirname(path))].filter((entry) => entry.isFile)
      .map((entry) => entry.name);
  } catch {
    return [];
  }
  return names
    .filter((name) =>
      usual.has(name) || isTemporaryOf(name, path) ||
      (name.startsWith(`${base}.tmp.`) || name.startsWith(`.${base}.tmp`))
    )
    .sort().map((name) => join(dirname(path), name));
}

/**
 * Adds one record to a JSONL log and writes it through to the disk.
 *
 * @throws {TornCheckpointError} When the log does not end with a whole line: the new record would
 *     be glued to the torn one, and both would be lost.
 */
export function appendRecord(path: string, record: unknown): void {
  const text = JSON.stringify(record);
  if (text === undefined) throw new TypeError("Cannot add the record: it is not JSON");
  const isNew = !existsAt(path);
  if (isNew && leftoversOf(path).length > 0) loadCheckpoint(path, null, "jsonl");
  using file = Deno.openSync(path, { read: true, append: true, create: true });
  if (!endsWithNewline(file)) {
    throw new TornCheckpointError(
      `Cannot add to "${path}": its last line has no end, so the new record would be glued to ` +
        "it. " +
        MEND_HINT,
    );
  }
  writeAll(file, new TextEncoder().encode(`${text}\n`));
  file.syncSync();
  if (isNew) syncFolder(dirname(path));
}

function endsWithNewline(file: Deno.FsFile): boolean {
  const { size } = file.statSync();
  if (size === 0) return true;
  file.seekSync(size - 1, Deno.SeekMode.Start);
  const last = new Uint8Array(1);
  return file.readSync(last) === 1 && last[0] === 10;
}

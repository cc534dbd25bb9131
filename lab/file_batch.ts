/**
 * Hashing and copying of many files, on two threads where that pays (see file_crew.ts).
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { createHash, hash } from "node:crypto";
import fs from "node:fs";
import {
  type FileBatch,
  type FileJob,
  type FileKit,
  KIT_CHUNK_BYTES,
  makeFileKit,
  workOn,
} from "./_file_kit.ts";
import { type FileCrew, HELPER, HELPER_WORKS, openFileCrew, STOP } from "./file_crew.ts";
import { Slices } from "./slices.ts";

export type { FileBatch };

/** Number of files from which on a helper is worth its start. */
export const CREW_FILES_MIN = 3000;

const SHA256_DIGITS = 64;
/** Place of the next file in a job's counters. */
const NEXT = 0;
/** A file's state when it is done; 0 is not done, 2 is failed. */
const FILE_DONE = 1;

/** What became of a batch. */
export interface FileBatchResult {
  /** SHA-256 for each file; the empty text where it failed or no hash was wanted. */
  sha256: string[];
  /** Place of a file in the batch, and why it failed. */
  failed: Map<number, unknown>;
}

/** Options of {@linkcode runFileBatch}. */
export interface FileBatchOptions {
  /** A helper that is open already; without one, a big batch opens its own. */
  crew?: FileCrew | undefined;
  /** Files from which on a batch is big. @default {CREW_FILES_MIN} */
  crewFilesMin?: number;
  signal?: AbortSignal | undefined;
}

/**
 * Hashes or copies a batch of regular files, as they were seen by lstat a moment before.
 *
 * Requires read for the files, and write for the places of copies, which must not exist yet.
 *
 * @returns Every file is in `sha256` or in `failed`. A file that fails stops nothing.
 * @throws The signal's reason when it is aborted.
 */
export async function runFileBatch(
  batch: FileBatch,
  options: FileBatchOptions = {},
): Promise<FileBatchResult> {
  const isBig = batch.from.length >= (options.crewFilesMin ?? CREW_FILES_MIN);
  if (options.crew === undefined && isBig) {
    using crew = openFileCrew();
    return await runFileBatch(batch, { ...options, crew });
  }
  const first = jobOf(batch);
  if (isBig) options.crew?.share(first);
  let result: FileBatchResult;
  try {
    result = await workAlong(first, options.signal);
  } catch (error) {
    Atomics.store(first.counters, STOP, 1);
    throw error;
  } finally {
    // Also when it was aborted: nobody may write any more once this has returned.
    Atomics.store(first.counters, NEXT, batch.from.length);
    while (Atomics.load(first.counters, HELPER) === HELPER_WORKS && options.crew?.hasHelper) {
      await new Promise<void>((resolve) => setTimeout(resolve, 1));
    }
  }
  collectDigests(first, result.sha256);
  // What the helper could not do, or had begun when it ended, is done here, also for the reason.
  const left = [...first.states.keys()].filter((index) =>
    first.states[index] !== FILE_DONE && !result.failed.has(index)
  );
  if (left.length === 0) return result;
  for (const index of left) removeBegun(batch, index);
  const second = jobOf(pick(batch, left));
  const redone = await workAlong(second, options.signal);
  collectDigests(second, redone.sha256);
  for (const [place, index] of left.entries()) {
    result.sha256[index] = redone.sha256[place] ?? "";
    if (redone.failed.has(place)) result.failed.set(index, redone.failed.get(place));
  }
  return result;
}

const kits = new Map<number, FileKit>();

/** This thread's own kit; there is one for each umask, which in practice is one. */
export function localFileKit(umask = 0): FileKit {
  const known = kits.get(umask);
  if (known !== undefined) return known;
  const kit = makeFileKit(fs, { createHash, hash }, { umask, chunkBytes: KIT_CHUNK_BYTES });
  kits.set(umask, kit);
  return kit;
}

function jobOf(batch: FileBatch): FileJob {
  const count = batch.from.length;
  return {
    batch,
    counters: new Int32Array(new SharedArrayBuffer(12)),
    states: new Uint8Array(new SharedArrayBuffer(count)),
    digits: new Uint8Array(new SharedArrayBuffer(count * SHA256_DIGITS)),
    chunkBytes: KIT_CHUNK_BYTES,
  };
}

/** This thread's part of the work, in slices. */
async function workAlong(job: FileJob, signal: AbortSignal | undefined): Promise<FileBatchResult> {
  const failed = new Map<number, unknown>();
  const kit = localFileKit(job.batch.copy?.umask);
  const slices = new Slices(signal);
  for (const _ of workOn(kit, job, (index, error) => failed.set(index, error))) {
    if (slices.isOver) await slices.rest();
  }
  return { sha256: job.batch.from.map(() => ""), failed };
}

function collectDigests(job: FileJob, sha256: string[]): void {
  const all = Buffer.from(job.digits.buffer);
  for (const index of job.states.keys()) {
    const start = index * SHA256_DIGITS;
    if (job.states[index] !== FILE_DONE || all[start] === 0) continue;
    sha256[index] = all.toString("latin1", start, start + SHA256_DIGITS);
  }
}

function pick(batch: FileBatch, places: readonly number[]): FileBatch {
  const of = <T>(list: readonly T[]) => places.map((place) => list[place] as T);
  const { copy } = batch;
  return {
    from: of(batch.from),
    bytes: of(batch.bytes),
    copy: copy === null ? null : {
      ...copy,
      to: of(copy.to),
      mode: of(copy.mode),
      mtimeMs: of(copy.mtimeMs),
      sparse: of(copy.sparse),
    },
  };
}

function removeBegun(batch: FileBatch, index: number): void {
  const path = batch.copy?.to[index];
  if (path === undefined) return;
  try {
    Deno.removeSync(path);
  } catch {
    // Not begun yet, which is what we want.
  }
}

/**
 * Hashing and copying of many files, on two threads where that pays (see file_crew.ts).
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { createHash, hash } from "node:crypto";
import fs from "node:fs";
import { type FileBatch, type FileJob, FileKit, KIT_CHUNK_BYTES, workOn } from "./_file_kit.ts";
import { ALONE, type FileCrew, HELPER, HELPER_WORKS, openFileCrew, STOP } from "./file_crew.ts";
import { Slices } from "./slices.ts";

export { type FileBatch, FileKit };

/** Number of files from which on a helper is worth its start. */
export const CREW_FILES_MIN = 2000;

/** The same for a helper that runs already. */
const WARM_FILES_MIN = 64;
/** A file of this size is worth the help of one that runs. */
const WARM_BYTES_MIN = 8 * 1024 * 1024;
/** Files of a queue that are handed over together. */
const QUEUE_PART_FILES = 500;
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
  /** Ends the work at its next rest when it is aborted. */
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
  const isBig = batch.from.length >= filesMinOf(options);
  if (options.crew === undefined && isBig) {
    using crew = openFileCrew();
    return await runFileBatch(batch, { ...options, crew });
  }
  const job = jobOf(batch);
  if (isBig) options.crew?.share(job);
  return await finishJobs([job], options);
}

function filesMinOf({ crew, crewFilesMin }: FileBatchOptions): number {
  return crewFilesMin ?? (crew?.isWarm === true ? WARM_FILES_MIN : CREW_FILES_MIN);
}

/** Files that are hashed while more of them are still being found. */
export class HashQueue implements Disposable {
  readonly #options: FileBatchOptions;
  readonly #jobs: FileJob[] = [];
  #batch: FileBatch = { from: [], bytes: [], copy: null };
  #count = 0;
  #bytes = 0;
  #shared = 0;
  readonly #own: FileCrew | null;
  readonly #crew: FileCrew;

  /**
   * Makes an empty queue. Without a crew in the options it opens one of its own.
   *
   * @param options See {@linkcode FileBatchOptions}.
   */
  constructor(options: FileBatchOptions = {}) {
    this.#options = options;
    this.#own = options.crew === undefined ? openFileCrew() : null;
    this.#crew = options.crew ?? this.#own ?? ALONE;
  }

  /** Adds a regular file with the size that it was seen to have. Files keep their order. */
  add(path: string, bytes: number): void {
    this.#batch.from.push(path);
    this.#batch.bytes.push(bytes);
    this.#count++;
    this.#bytes += bytes;
    const isBig = this.#crew.isWarm && bytes >= WARM_BYTES_MIN;
    if (isBig || this.#batch.from.length === QUEUE_PART_FILES) this.#closePart();
  }

  #closePart(): void {
    this.#jobs.push(jobOf(this.#batch));
    this.#batch = { from: [], bytes: [], copy: null };
    // Only now it is known whether there is enough to do for two.
    const isMuch = this.#crew.isWarm && this.#bytes >= WARM_BYTES_MIN;
    if (!isMuch && this.#count < filesMinOf({ ...this.#options, crew: this.#crew })) return;
    for (; this.#shared < this.#jobs.length; this.#shared++) {
      this.#crew.share(this.#jobs[this.#shared]);
    }
  }

  /**
   * Hashes what is left. Call it once.
   *
   * @returns As {@linkcode runFileBatch}, in the order in which the files were added.
   * @throws The signal's reason when it is aborted.
   */
  async finish(): Promise<FileBatchResult> {
    this.#closePart();
    return await finishJobs(this.#jobs, { ...this.#options, crew: this.#crew });
  }

  /** Ends the helper that the queue opened by itself. */
  [Symbol.dispose](): void {
    for (const { counters } of this.#jobs) Atomics.store(counters, STOP, 1);
    this.#own?.close();
  }
}

/** This thread's part of the jobs, and the end of all of them. */
async function finishJobs(
  jobs: readonly FileJob[],
  options: FileBatchOptions,
): Promise<FileBatchResult> {
  const all: FileBatchResult = { sha256: [], failed: new Map() };
  try {
    const failures: Map<number, unknown>[] = [];
    for (const job of jobs) failures.push(await workAlong(job, options.signal));
    for (const [at, job] of jobs.entries()) {
      await untilHelperIsDone(job, options.crew);
      const done = await redo(job, failures[at] ?? new Map(), options.signal);
      for (const [index, error] of done.failed) all.failed.set(all.sha256.length + index, error);
      // One by one: a spread of so many would be more arguments than a call can have.
      for (const sha256 of done.sha256) all.sha256.push(sha256);
    }
    return all;
  } catch (error) {
    for (const { counters } of jobs) Atomics.store(counters, STOP, 1);
    throw error;
  } finally {
    // Also when it was aborted: nobody may write any more once this has returned.
    for (const job of jobs) {
      Atomics.store(job.counters, NEXT, job.batch.from.length);
      await untilHelperIsDone(job, options.crew);
    }
  }
}

async function untilHelperIsDone(job: FileJob, crew: FileCrew | undefined): Promise<void> {
  while (Atomics.load(job.counters, HELPER) === HELPER_WORKS && crew?.hasHelper) {
    await new Promise<void>((resolve) => setTimeout(resolve, 1));
  }
}

/** What the helper could not do, or had begun when it ended, is done here, also for the reason. */
async function redo(
  job: FileJob,
  failed: Map<number, unknown>,
  signal: AbortSignal | undefined,
): Promise<FileBatchResult> {
  const sha256 = digestsOf(job);
  const left = [...job.states.keys()].filter((index) =>
    job.states[index] !== FILE_DONE && !failed.has(index)
  );
  if (left.length === 0) return { sha256, failed };
  for (const index of left) removeBegun(job.batch, index);
  const again = jobOf(pick(job.batch, left));
  const failedAgain = await workAlong(again, signal);
  const digests = digestsOf(again);
  for (const [place, index] of left.entries()) {
    sha256[index] = digests[place] ?? "";
    if (failedAgain.has(place)) failed.set(index, failedAgain.get(place));
  }
  return { sha256, failed };
}

const kits = new Map<number, FileKit>();

/** This thread's own kit; there is one for each umask, which in practice is one. */
export function localFileKit(umask = 0): FileKit {
  const known = kits.get(umask);
  if (known !== undefined) return known;
  const kit = new FileKit(fs, { createHash, hash }, { umask, chunkBytes: KIT_CHUNK_BYTES });
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

/** This thread's part of one job, in slices. Gives what failed here. */
async function workAlong(
  job: FileJob,
  signal: AbortSignal | undefined,
): Promise<Map<number, unknown>> {
  const failed = new Map<number, unknown>();
  const kit = localFileKit(job.batch.copy?.umask);
  const slices = new Slices(signal);
  for (const _ of workOn(kit, job, (index, error) => failed.set(index, error))) {
    if (slices.isOver) await slices.rest();
  }
  return failed;
}

/** The hash of each file; the empty text where there is none. */
function digestsOf(job: FileJob): string[] {
  const all = Buffer.from(job.digits.buffer);
  return job.batch.from.map((_, index) => {
    const start = index * SHA256_DIGITS;
    if (job.states[index] !== FILE_DONE || all[start] === 0) return "";
    return all.toString("latin1", start, start + SHA256_DIGITS);
  });
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

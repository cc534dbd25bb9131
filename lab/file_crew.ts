/**
 * Hashing and copying of many files on two threads: this one, and a helper of the same rights.
 *
 * One thread alone is slower than `find | xargs sha256sum`, because Deno resolves every path that it
 * opens (8 of 14 µs for a path seven folders deep) unless the program has all rights. Both threads
 * take the next file from one shared counter, so a helper that starts late, or not at all, costs
 * nothing but its own work. In a worker of a worker, Deno 2.9.6 wakes a thread only every half
 * second (2.4.2 and a worker of the main thread: about 40 ms); there a helper pays only when it was
 * opened a second before.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { createHash, hash } from "node:crypto";
import fs from "node:fs";
import { type FileKit, KIT_CHUNK_BYTES, makeFileKit } from "./_file_kit.ts";
import { Slices } from "./slices.ts";

/** Number of files from which on a helper is worth its start. */
export const CREW_FILES_MIN = 3000;

const SHA256_DIGITS = 64;
/** Place of the helper's state in the shared counters; place 0 is the next file. */
const HELPER = 1;
/** Values at {@linkcode HELPER}. */
const HELPER_WORKS = 1;
const HELPER_DONE = 2;
/** A file's state when it is done; 0 is not done, 2 is failed. */
const FILE_DONE = 1;

/** Files to hash, or to copy and hash. The lists run side by side, one place for each file. */
export interface FileBatch {
  from: string[];
  bytes: number[];
  /** `null` when nothing is copied. */
  copy: {
    to: string[];
    mode: number[];
    /** Milliseconds since the epoch; NaN when not known. */
    mtimeMs: number[];
    sparse: boolean[];
    /** Bits that the system takes away from the mode of a new file. */
    umask: number;
    wantsHash: boolean;
  } | null;
}

/** What became of a batch. */
export interface FileBatchResult {
  /** SHA-256 for each file; the empty text where it failed or no hash was wanted. */
  sha256: string[];
  /** Place of a file in the batch, and why it failed. */
  failed: Map<number, unknown>;
}

interface Job {
  batch: FileBatch;
  counters: Int32Array<SharedArrayBuffer>;
  states: Uint8Array<SharedArrayBuffer>;
  digits: Uint8Array<SharedArrayBuffer>;
  chunkBytes: number;
}

/** A helper thread for file work. Close it, or the program does not end. */
export interface FileCrew extends Disposable {
  /** Whether there is a helper; without one everything is done by the calling thread. */
  readonly hasHelper: boolean;
  /** Hands a batch to the helper. Use {@linkcode runFileBatch}. */
  share(job: unknown): void;
  /** Ends the helper. Closing it twice does no harm. */
  close(): void;
}

/**
 * Starts a helper. Without a second core, or where none can be started, there is none, and
 * everything works all the same.
 */
export function openFileCrew(): FileCrew {
  let worker: Worker | null = null;
  const close = () => {
    worker?.terminate();
    worker = null;
  };
  if (navigator.hardwareConcurrency > 1) {
    try {
      worker = new Worker(helperUrl(), { type: "module", name: "failure-lab files" });
      worker.onerror = (event) => {
        event.preventDefault();
        close();
      };
    } catch {
      worker = null; // No right or no memory for one: the calling thread does it alone.
    }
  }
  return {
    get hasHelper() {
      return worker !== null;
    },
    share: (job) => worker?.postMessage(job),
    close,
    [Symbol.dispose]: close,
  };
}

/** The helper as a data URL: a file would have to be readable inside a narrowed permission. */
function helperUrl(): string {
  const source = `
    import fs from "node:fs";
    import { createHash, hash } from "node:crypto";
    const makeFileKit = ${makeFileKit};
    const workOn = ${workOn};
    // Keeps the thread awake where Deno would not wake it for a message (see file_crew.ts).
    setInterval(() => {}, 1);
    self.onmessage = ({ data: job }) => {
      Atomics.store(job.counters, ${HELPER}, ${HELPER_WORKS});
      try {
        const umask = job.batch.copy?.umask ?? 0;
        const kit = makeFileKit(fs, { createHash, hash }, { umask, chunkBytes: job.chunkBytes });
        for (const _ of workOn(kit, job, () => {})) { /* to the end */ }
      } finally {
        Atomics.store(job.counters, ${HELPER}, ${HELPER_DONE});
      }
    };`;
  return `data:text/javascript,${encodeURIComponent(source)}`;
}

/**
 * Takes files one by one until none is left. Yields after each, and after each step of a big one.
 * Must stay self-contained: the helper gets it as source text.
 */
function* workOn(
  kit: FileKit,
  job: Job,
  onFailure: (index: number, error: unknown) => void,
): Generator<void> {
  const { from, bytes, copy } = job.batch;
  const put = (index: number, text: string) => {
    for (let i = 0; i < text.length; i++) job.digits[index * 64 + i] = text.charCodeAt(i);
  };
  for (let i; (i = Atomics.add(job.counters, 0, 1)) < from.length;) {
    try {
      const path = from[i] ?? "";
      const size = bytes[i] ?? 0;
      if (copy === null) {
        put(i, kit.hashSmall(path, size) ?? (yield* kit.hashInSteps(path)).sha256);
      } else {
        const file = {
          from: path,
          to: copy.to[i] ?? "",
          bytes: size,
          mode: copy.mode[i] ?? 0,
          mtimeMs: copy.mtimeMs[i] ?? NaN,
          sparse: copy.sparse[i] ?? false,
        };
        put(
          i,
          kit.copySmall(file, copy.wantsHash) ?? (yield* kit.copyInSteps(file, copy.wantsHash)),
        );
      }
      Atomics.store(job.states, i, 1);
    } catch (error) {
      Atomics.store(job.states, i, 2);
      onFailure(i, error);
    }
    yield;
  }
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
  const result = await workAlong(first, options.signal);
  while (first.counters[HELPER] === HELPER_WORKS && options.crew?.hasHelper) {
    await new Promise<void>((resolve) => setTimeout(resolve, 1));
    options.signal?.throwIfAborted();
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

function jobOf(batch: FileBatch): Job {
  const count = batch.from.length;
  return {
    batch,
    counters: new Int32Array(new SharedArrayBuffer(8)),
    states: new Uint8Array(new SharedArrayBuffer(count)),
    digits: new Uint8Array(new SharedArrayBuffer(count * SHA256_DIGITS)),
    chunkBytes: KIT_CHUNK_BYTES,
  };
}

/** This thread's part of the work, in slices. */
async function workAlong(job: Job, signal: AbortSignal | undefined): Promise<FileBatchResult> {
  const failed = new Map<number, unknown>();
  const kit = localFileKit(job.batch.copy?.umask);
  const slices = new Slices(signal);
  for (const _ of workOn(kit, job, (index, error) => failed.set(index, error))) {
    if (slices.isOver) await slices.rest();
  }
  return { sha256: job.batch.from.map(() => ""), failed };
}

function collectDigests(job: Job, sha256: string[]): void {
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

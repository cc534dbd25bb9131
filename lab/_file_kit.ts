/**
 * The reading, hashing and copying of single files, as a class that uses nothing but its
 * parameters and the globals of Deno: a helper thread gets it as source text (file_crew.ts), so that
 * both threads do exactly the same.
 *
 * What is not a regular file is never read: the callers look first (lstat), the opening does not
 * follow a link and does not wait for the other end of a fifo, and unless a file gives exactly as
 * many bytes as it was seen to have, the slow way is taken, which asks again what it has opened.
 * Where Deno ignores these flags of the opening (2.4 does, 2.9 does not), the kit looks once more
 * right before it.
 *
 * @module
 */
import type fs from "node:fs";
import type { createHash, hash } from "node:crypto";

/** The part of `node:fs` that a kit uses. */
export type KitFs = Pick<
  typeof fs,
  "closeSync" | "constants" | "fstatSync" | "openSync" | "readSync"
>;

/** The part of `node:crypto` that a kit uses. */
export interface KitCrypto {
  createHash: typeof createHash;
  hash: typeof hash;
}

/** A file to copy, as it was seen. Times in milliseconds since the epoch; NaN when not known. */
export interface KitCopy {
  from: string;
  to: string;
  bytes: number;
  mode: number;
  mtimeMs: number;
  /** Fewer blocks than bytes: it has holes, which the copy gets as well. */
  sparse: boolean;
}

/** Bytes that a kit reads at once, and the size up to which a file is small. */
export const KIT_CHUNK_BYTES = 1 << 20;

/** Reads, hashes and copies single files. Must stay self-contained: see the module's text. */
export class FileKit {
  readonly #fs: KitFs;
  readonly #crypto: KitCrypto;
  readonly #umask: number;
  readonly #buffer: Uint8Array<ArrayBuffer>;
  readonly #words: Int32Array;
  readonly #ignoresFlags: boolean;
  readonly #flags: number;

  /** @param options.umask Bits that the system takes away from the mode of a new file. */
  constructor(fs: KitFs, crypto: KitCrypto, options: { umask: number; chunkBytes: number }) {
    this.#fs = fs;
    this.#crypto = crypto;
    this.#umask = options.umask;
    this.#buffer = new Uint8Array(options.chunkBytes);
    this.#words = new Int32Array(this.#buffer.buffer);
    // Deno 2.4 has the flags of macOS on Linux as well and takes no notice of the two that count.
    const [major = 0, minor = 0] = Deno.version.deno.split(".").map(Number);
    this.#ignoresFlags = major < 2 || (major === 2 && minor < 9);
    const { O_RDONLY, O_NONBLOCK, O_NOFOLLOW } = fs.constants;
    this.#flags = O_RDONLY | O_NONBLOCK | O_NOFOLLOW;
  }

  /** SHA-256 of a file that was seen with `bytes` bytes; `null` when it must be read in steps. */
  hashSmall(path: string, bytes: number): string | null {
    const count = this.#readSmall(path, bytes);
    return count < 0 ? null : this.#hashOfBuffer(count);
  }

  /** SHA-256 in steps of one chunk, for big files and for those that changed since they were seen. */
  *hashInSteps(path: string): Generator<void, { sha256: string; bytes: number }> {
    const file = this.#openRegular(path);
    try {
      const hash = this.#crypto.createHash("sha256");
      let bytes = 0;
      for (let count; (count = this.#read(file, this.#buffer)) > 0;) {
        hash.update(this.#buffer.subarray(0, count));
        bytes += count;
        yield;
      }
      return { sha256: hash.digest("hex"), bytes };
    } finally {
      this.#close(file);
    }
  }

  /**
   * Copies with content, mode and time. Gives the SHA-256 of what was copied, or the empty text when
   * no hash is wanted; `null` (and nothing done) when it must be done in steps.
   */
  copySmall(file: KitCopy, wantsHash: boolean): string | null {
    if (file.sparse) return null;
    if (!wantsHash) {
      this.#copyWhole(file);
      return "";
    }
    const count = this.#readSmall(file.from, file.bytes);
    if (count < 0) return null;
    const out = this.#create(file);
    try {
      this.#write(out, 0, count);
      this.#finish(out, file);
    } finally {
      out.close();
    }
    return this.#hashOfBuffer(count);
  }

  /** The same in steps of one chunk; holes stay holes. */
  *copyInSteps(file: KitCopy, wantsHash: boolean): Generator<void, string> {
    const from = this.#openRegular(file.from);
    try {
      const out = this.#create(file);
      try {
        const hash = wantsHash ? this.#crypto.createHash("sha256") : null;
        let position = 0;
        for (let count; (count = this.#read(from, this.#buffer)) > 0;) {
          hash?.update(this.#buffer.subarray(0, count));
          if (file.sparse) this.#writeSparse(out, position, count);
          else this.#write(out, 0, count);
          position += count;
          yield;
        }
        if (file.sparse) out.truncateSync(position);
        this.#finish(out, file);
        return hash?.digest("hex") ?? "";
      } finally {
        out.close();
      }
    } finally {
      this.#close(from);
    }
  }

  /** A number of node:fs, or, where its flags are ignored, a file of Deno, which is faster there. */
  #open(path: string): number | Deno.FsFile {
    if (!this.#ignoresFlags) return this.#fs.openSync(path, this.#flags);
    if (!Deno.lstatSync(path).isFile) this.#refuse(path);
    return Deno.openSync(path);
  }

  #read(file: number | Deno.FsFile, into: Uint8Array): number {
    if (typeof file !== "number") return file.readSync(into) ?? 0;
    return this.#fs.readSync(file, into, 0, into.length, null);
  }

  #close(file: number | Deno.FsFile): void {
    if (typeof file === "number") this.#fs.closeSync(file);
    else file.close();
  }

  #refuse(path: string): never {
    throw new TypeError(`Cannot read "${path}": it is no regular file any more`);
  }

  /** Bytes read into the buffer when they are as many as expected, else -1. */
  #readSmall(path: string, bytes: number): number {
    if (bytes >= this.#buffer.length) return -1;
    const file = this.#open(path);
    try {
      // One more than expected, so that a file that grew is noticed.
      return this.#read(file, this.#buffer.subarray(0, bytes + 1)) === bytes ? bytes : -1;
    } finally {
      this.#close(file);
    }
  }

  #openRegular(path: string): number | Deno.FsFile {
    const file = this.#open(path);
    const info = typeof file === "number" ? this.#fs.fstatSync(file) : file.statSync();
    if (typeof info.isFile === "function" ? info.isFile() : info.isFile) return file;
    this.#close(file);
    return this.#refuse(path);
  }

  #hashOfBuffer(count: number): string {
    return this.#crypto.hash("sha256", this.#buffer.subarray(0, count), "hex");
  }

  /** One call instead of six; it carries the mode over by itself. It would wait at a fifo. */
  #copyWhole({ from, to, mtimeMs }: KitCopy): void {
    if (!Deno.lstatSync(from).isFile) this.#refuse(from);
    Deno.copyFileSync(from, to);
    if (Number.isNaN(mtimeMs)) return;
    const mtime = new Date(mtimeMs);
    Deno.utimeSync(to, mtime, mtime);
  }

  #create(file: KitCopy): Deno.FsFile {
    return Deno.openSync(file.to, { write: true, createNew: true, mode: file.mode & 0o777 });
  }

  #write(out: Deno.FsFile, start: number, end: number): void {
    for (let at = start; at < end;) at += out.writeSync(this.#buffer.subarray(at, end));
  }

  /** Writes what is not zero, and leaves out the rest, so that the copy has holes there. */
  #writeSparse(out: Deno.FsFile, position: number, end: number): void {
    const holeBytes = 65536;
    for (let start = 0; start < end; start += holeBytes) {
      const stop = Math.min(end, start + holeBytes);
      if (this.#isZero(start, stop)) continue;
      out.seekSync(position + start, 0);
      this.#write(out, start, stop);
    }
  }

  #isZero(start: number, end: number): boolean {
    const words = this.#words;
    let at = start;
    for (; at + 16 <= end; at += 16) {
      const word = at >> 2;
      const a = (words[word] ?? 0) | (words[word + 1] ?? 0);
      const b = (words[word + 2] ?? 0) | (words[word + 3] ?? 0);
      if ((a | b) !== 0) return false;
    }
    for (; at < end; at++) if (this.#buffer[at] !== 0) return false;
    return true;
  }

  #finish(out: Deno.FsFile, file: KitCopy): void {
    if (!Number.isNaN(file.mtimeMs)) {
      // As a Date: a number of seconds would lose the last millisecond to rounding.
      const mtime = new Date(file.mtimeMs);
      out.utimeSync(mtime, mtime);
    }
    if ((file.mode & (this.#umask | 0o7000)) !== 0) Deno.chmodSync(file.to, file.mode & 0o7777);
  }
}

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

/** A batch with the counters that both threads share. */
export interface FileJob {
  batch: FileBatch;
  /** Place 0 is the next file; for the others see file_crew.ts. */
  counters: Int32Array<SharedArrayBuffer>;
  /** For each file: 0 not done, 1 done, 2 failed. */
  states: Uint8Array<SharedArrayBuffer>;
  /** For each file its SHA-256 as 64 letters. */
  digits: Uint8Array<SharedArrayBuffer>;
  chunkBytes: number;
}

/**
 * Takes files one by one until none is left. Yields after each, and after each step of a big one.
 * Must stay self-contained: the helper gets it as source text.
 */
export function* workOn(
  kit: FileKit,
  job: FileJob,
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

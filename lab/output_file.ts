/**
 * A bounded log of one output stream: the first bytes go to a file, the last ones stay in memory,
 * and everything between is counted and dropped, so that a job that prints without end fills
 * neither disk nor memory.
 *
 * @module
 */

/** Bytes of the end that are kept in memory for messages and reports. */
export const TAIL_BYTES = 4096;

/** One bounded log. */
export class OutputFile {
  readonly #path: string;
  #file: Deno.FsFile | null;
  #leftBytes: number;
  #tail = new Uint8Array(0);
  /** Bytes that came in, kept or not. */
  seenBytes = 0;

  /**
   * Makes the file.
   *
   * @param path File to write; made new, and it must not exist.
   * @param maxBytes Bytes that go to the file at most.
   */
  constructor(path: string, maxBytes: number) {
    this.#path = path;
    this.#file = Deno.openSync(path, { write: true, createNew: true, mode: 0o600 });
    this.#leftBytes = maxBytes;
  }

  /** Takes the next bytes. A full disk ends the file but not the run. */
  write(chunk: Uint8Array): void {
    this.seenBytes += chunk.length;
    this.#keepTail(chunk);
    if (this.#file === null || this.#leftBytes === 0) return;
    try {
      const part = chunk.subarray(0, this.#leftBytes);
      this.#leftBytes -= part.length;
      for (let at = 0; at < part.length;) at += this.#file.writeSync(part.subarray(at));
    } catch {
      this.close();
    }
  }

  #keepTail(chunk: Uint8Array): void {
    if (chunk.length >= TAIL_BYTES) {
      this.#tail = chunk.slice(chunk.length - TAIL_BYTES);
      return;
    }
    const keep = this.#tail.subarray(Math.max(0, this.#tail.length + chunk.length - TAIL_BYTES));
    const joined = new Uint8Array(keep.length + chunk.length);
    joined.set(keep);
    joined.set(chunk, keep.length);
    this.#tail = joined;
  }

  /** The end of the output as text; bytes that are not UTF-8 show as replacement characters. */
  tail(): string {
    return new TextDecoder().decode(this.#tail);
  }

  /** Closes the file; the counts stay readable. Safe to call twice. */
  close(): void {
    this.#file?.close();
    this.#file = null;
  }

  /** Closes the file and removes it: the command that it was for did not start. */
  discard(): void {
    this.close();
    try {
      Deno.removeSync(this.#path);
    } catch {
      // It stays behind empty, and the folder is disposable.
    }
  }
}

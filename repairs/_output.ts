/**
 * Passing a job's output on: chunk by chunk as it comes, or held back until it is known whether
 * this attempt counts.
 *
 * @module
 */

/** Takes the bytes of one stream. */
export interface ByteSink {
  /** Resolves when all bytes are written. Gives `false` when nobody reads any more. */
  write(chunk: Uint8Array): Promise<boolean>;
}

/** What the real streams of this process look like; tests give their own. */
export interface AsyncWriter {
  /** Writes some of the bytes and gives how many. */
  write(chunk: Uint8Array): Promise<number>;
}

const FULL_PIPE_PAUSE_MS = 2;

/** Writes through to a stream of this process, as the bytes come. */
export class PassingSink implements ByteSink {
  readonly #writer: AsyncWriter;
  readonly #pause: (ms: number) => Promise<void>;

  /** @param pause Waits while a pipe that another program made non-blocking is full. */
  constructor(writer: AsyncWriter, pause: (ms: number) => Promise<void>) {
    this.#writer = writer;
    this.#pause = pause;
  }

  /** See {@linkcode ByteSink}. */
  async write(chunk: Uint8Array): Promise<boolean> {
    for (let at = 0; at < chunk.length;) {
      try {
        at += await this.#writer.write(chunk.subarray(at));
      } catch (error) {
        if (error instanceof Deno.errors.BrokenPipe) return false;
        if (error instanceof Deno.errors.WouldBlock) await this.#pause(FULL_PIPE_PAUSE_MS);
        else if (!(error instanceof Deno.errors.Interrupted)) throw error;
      }
    }
    return true;
  }
}

/** Most bytes that are held back; a job that prints more is passed through from there on. */
export const HELD_BYTES_MAX = 1024 * 1024 * 1024;

/**
 * Holds bytes back in a temporary file, then gives them on whole or drops them whole, so that of
 * several attempts exactly one is seen.
 */
export class HoldingSink implements ByteSink, Disposable {
  readonly #target: ByteSink;
  readonly #maxBytes: number;
  #file: Deno.FsFile | null = null;
  #heldBytes = 0;
  /** Whether some of this attempt was given on, so that no other attempt may be. */
  isCommitted = false;

  /** @param target Where the bytes go when this attempt counts. */
  constructor(target: ByteSink, maxBytes: number = HELD_BYTES_MAX) {
    this.#target = target;
    this.#maxBytes = maxBytes;
  }

  /** See {@linkcode ByteSink}. */
  async write(chunk: Uint8Array): Promise<boolean> {
    if (this.isCommitted) return await this.#target.write(chunk);
    if (this.#heldBytes + chunk.length > this.#maxBytes) {
      return await this.commit() && await this.#target.write(chunk);
    }
    if (this.#file === null) {
      const path = await Deno.makeTempFile({ prefix: "failure-lab-held-" });
      this.#file = await Deno.open(path, { read: true, write: true });
      // Without a name it is gone with us, also when we are killed.
      await Deno.remove(path);
    }
    for (let at = 0; at < chunk.length;) at += await this.#file.write(chunk.subarray(at));
    this.#heldBytes += chunk.length;
    return true;
  }

  /** Gives on what was held; from here on everything passes through. */
  async commit(): Promise<boolean> {
    if (this.isCommitted) return true;
    this.isCommitted = true;
    if (this.#file === null) return true;
    await this.#file.seek(0, Deno.SeekMode.Start);
    const buffer = new Uint8Array(64 * 1024);
    let isRead = true;
    while (isRead) {
      const count = await this.#file.read(buffer);
      if (count === null) break;
      isRead = await this.#target.write(buffer.subarray(0, count));
    }
    this.drop();
    return isRead;
  }

  /** Forgets what was held. Safe to call twice. */
  drop(): void {
    this.#file?.close();
    this.#file = null;
    this.#heldBytes = 0;
  }

  /** Drops what was held and not given on. */
  [Symbol.dispose](): void {
    this.drop();
  }
}

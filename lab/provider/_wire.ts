/**
 * One TCP connection, reduced to what the provider needs.
 *
 * Why `node:net` and neither `Deno.serve` nor `Deno.listen`: a fault has to reset the connection,
 * and `Socket.resetAndDestroy()` is the only call of Deno that sends a TCP reset.
 *
 * @module
 */

import type { Socket } from "node:net";

/** Bytes that may wait to be read before the kernel is asked to hold back more. */
const QUEUE_MAX_BYTES = 1024 * 1024;

/** A write on a connection that is no more. */
export class WireClosedError extends Error {
  /** Always "WireClosedError". */
  override readonly name = "WireClosedError";
}

/** A connection that can be read, written, closed and reset. */
export class Wire {
  /** Resolves when the client has sent its last byte or the connection has ended. */
  readonly gone: Promise<void>;
  /** Resolves when nothing of the connection is left. */
  readonly closed: Promise<void>;
  readonly #socket: Socket;
  readonly #queue: Uint8Array[] = [];
  #queuedBytes = 0;
  #ended = false;
  #wake: (() => void) | null = null;

  /** @param socket A socket with `allowHalfOpen`, so that a client may close its half first. */
  constructor(socket: Socket) {
    this.#socket = socket;
    const closed = Promise.withResolvers<void>();
    const gone = Promise.withResolvers<void>();
    this.closed = closed.promise;
    this.gone = gone.promise;
    const end = () => {
      this.#ended = true;
      gone.resolve();
      this.#wake?.();
    };
    socket.setNoDelay(true);
    socket.on("data", (bytes: Uint8Array) => this.#receive(bytes));
    socket.on("end", end);
    socket.on("error", end); // a reset by the client; "close" follows
    socket.on("close", () => {
      end();
      closed.resolve();
    });
  }

  /** The next bytes, in pieces as they arrived, or `null` at the end. */
  async read(): Promise<Uint8Array | null> {
    while (this.#queue.length === 0 && !this.#ended) {
      await new Promise<void>((resolve) => this.#wake = resolve);
      this.#wake = null;
    }
    const bytes = this.#queue.shift() ?? null;
    this.#queuedBytes -= bytes?.length ?? 0;
    if (this.#socket.isPaused() && this.#queuedBytes < QUEUE_MAX_BYTES) this.#socket.resume();
    return bytes;
  }

  /**
   * Hands bytes to the kernel.
   *
   * @throws {WireClosedError} If the connection has ended.
   */
  async write(bytes: Uint8Array): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#socket.write(bytes, (cause) => {
        if (!cause) resolve();
        else reject(new WireClosedError("Cannot write as the connection has ended", { cause }));
      });
    });
  }

  /** Says that nothing more will be sent; the client can still read what was. */
  finish(): void {
    this.#socket.end();
  }

  /** Ends the connection at once. Safe to call again. */
  close(): void {
    this.#socket.destroy();
  }

  /**
   * Sends a TCP reset.
   *
   * @returns False where the runtime cannot (Deno 2.4.2); the connection is closed then.
   */
  reset(): boolean {
    if (!canReset(this.#socket)) {
      this.close();
      return false;
    }
    this.#socket.resetAndDestroy();
    return true;
  }

  #receive(bytes: Uint8Array): void {
    this.#queue.push(bytes);
    this.#queuedBytes += bytes.length;
    if (this.#queuedBytes >= QUEUE_MAX_BYTES) this.#socket.pause();
    this.#wake?.();
  }
}

/**
 * Whether a socket can be reset. `resetAndDestroy` always exists, but does nothing when the handle
 * below it cannot reset (seen on Deno 2.4.2: the connection stays open).
 */
function canReset(socket: Socket): boolean {
  const handle: unknown = Reflect.get(socket, "_handle");
  return typeof handle === "object" && handle !== null &&
    typeof Reflect.get(handle, "reset") === "function";
}

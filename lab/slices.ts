/**
 * Long file work in short slices, so that Ctrl-C, timers and messages are served meanwhile.
 *
 * @module
 */
import { setImmediate } from "node:timers";

/** Longest time in milliseconds that file work keeps the event loop to itself. */
export const SLICE_MS = 20;

/** Tells when a slice of work is over, and lets everything else run before the next one. */
export class Slices {
  readonly #signal: AbortSignal | undefined;
  #endMs = performance.now() + SLICE_MS;

  /**
   * Begins the first slice.
   *
   * @param signal Ends the work at the next rest when it is aborted.
   */
  constructor(signal?: AbortSignal) {
    this.#signal = signal;
  }

  /** Whether the work has run long enough and should rest. */
  get isOver(): boolean {
    return performance.now() >= this.#endMs;
  }

  /**
   * Lets the event loop turn once, then begins a new slice.
   *
   * @throws The signal's reason when it is aborted.
   */
  async rest(): Promise<void> {
    // Not a timer of 0 ms, which Deno rounds up to 1 ms: that would be a twentieth of all the time.
    await new Promise<void>((resolve) => setImmediate(resolve));
    this.#signal?.throwIfAborted();
    this.#endMs = performance.now() + SLICE_MS;
  }
}

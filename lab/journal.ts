/**
 * The journal: everything observed, one JSON line each, written as it happens, so that a run that
 * dies leaves what it saw. Bounded in entries and bytes, so that a long run stays small.
 *
 * @module
 */
import type { Clock } from "./clock.ts";

/** One line of a journal. */
export interface JournalEntry {
  /** Counts from 1; a hole stands for entries that were dropped. */
  sequence: number;
  /** Milliseconds since the run began. */
  atMs: number;
  /** What kind of thing was seen, for example `artifact`, `signal`, `fault`. */
  type: string;
  /** What was seen, as plain JSON. */
  data: Record<string, unknown>;
}

/** Most lines that one journal file gets. Later ones are counted and dropped. */
export const JOURNAL_ENTRIES_MAX = 20_000;
/** Most bytes that one journal file gets. An entry that does not fit any more is dropped. */
export const JOURNAL_BYTES_MAX = 16 * 1024 * 1024;

/** A journal that is being written. */
export class Journal implements Disposable {
  readonly #file: Deno.FsFile | null;
  readonly #clock: Clock;
  /** Milliseconds on the clock at which the run began. */
  readonly runStartMs: number;
  readonly #listener: ((entry: JournalEntry) => void) | undefined;
  #failed = false;
  #bytes = 0;
  /** Entries on disk. */
  entries = 0;
  /** Entries that did not fit, or that the disk refused. */
  dropped = 0;

  /**
   * Opens the file.
   *
   * @param path File to write, made new; `null` keeps nothing on disk (tests).
   * @param listener Called for each entry, for live progress.
   */
  constructor(
    path: string | null,
    clock: Clock,
    listener?: (entry: JournalEntry) => void,
  ) {
    this.#file = path === null
      ? null
      : Deno.openSync(path, { write: true, createNew: true, mode: 0o600 });
    this.#clock = clock;
    this.runStartMs = clock.nowMs();
    this.#listener = listener;
  }

  /** Milliseconds since the run began. */
  atMs(): number {
    return this.#clock.nowMs() - this.runStartMs;
  }

  /**
   * Adds an entry. Never throws, whatever the disk, the data or the listener do: a run that is being
   * observed must not end because of its observer.
   */
  add(type: string, data: Record<string, unknown> = {}): void {
    const entry: JournalEntry = {
      sequence: this.entries + this.dropped + 1,
      atMs: Math.round(this.atMs() * 1000) / 1000,
      type,
      data,
    };
    if (this.#write(entry)) this.entries++;
    else this.dropped++;
    try {
      this.#listener?.(entry);
    } catch {
      // Progress that cannot be shown is no reason to stop.
    }
  }

  #write(entry: JournalEntry): boolean {
    if (this.#failed || this.entries >= JOURNAL_ENTRIES_MAX) return false;
    let line: Uint8Array;
    try {
      line = new TextEncoder().encode(`${JSON.stringify(entry)}\n`);
    } catch {
      return false; // A cycle or a bigint: this entry's fault, the next one can be fine.
    }
    if (this.#bytes + line.length > JOURNAL_BYTES_MAX) return false;
    this.#bytes += line.length;
    try {
      for (let at = 0; this.#file !== null && at < line.length;) {
        at += this.#file.writeSync(line.subarray(at));
      }
      return true;
    } catch {
      this.#failed = true; // A full disk: half a line may be there, and nothing may follow it.
      return false;
    }
  }

  /** Closes the file. Later entries are counted as dropped. Safe to call twice. */
  close(): void {
    this.#failed = true;
    try {
      this.#file?.close();
    } catch {
      // Closed already.
    }
  }

  /** Closes the file. */
  [Symbol.dispose](): void {
    this.close();
  }
}

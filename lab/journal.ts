/**
 * The journal: everything observed, one JSON line each, written as it happens, so that a run that
 * dies leaves what it saw. Bounded in entries and bytes, so that a long run stays small.
 *
 * @module
 */
import type { Clock } from "./clock.ts";

/** One line of a journal. */
export interface JournalEntry {
  /** Counts from 1, without holes for the entries that were kept. */
  sequence: number;
  /** Milliseconds since the run began. */
  atMs: number;
  /** What kind of thing was seen, for example `artifact`, `signal`, `fault`. */
  type: string;
  data: Record<string, unknown>;
}

/** Most lines that one journal file gets. Later ones are counted and dropped. */
export const JOURNAL_ENTRIES_MAX = 20_000;

/** A journal that is being written. */
export class Journal implements Disposable {
  readonly #file: Deno.FsFile | null;
  readonly #clock: Clock;
  readonly runStartMs: number;
  readonly #listener: ((entry: JournalEntry) => void) | undefined;
  #failed = false;
  /** Entries on disk. */
  entries = 0;
  /** Entries that did not fit, or that the disk refused. */
  dropped = 0;

  /**
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

  /** Adds an entry. Never throws: a full disk must not end a run that is being observed. */
  add(type: string, data: Record<string, unknown> = {}): void {
    const entry: JournalEntry = {
      sequence: this.entries + this.dropped + 1,
      atMs: Math.round(this.atMs() * 1000) / 1000,
      type,
      data,
    };
    this.#listener?.(entry);
    if (this.#failed || this.entries >= JOURNAL_ENTRIES_MAX) {
      this.dropped++;
      return;
    }
    try {
      this.#file?.writeSync(new TextEncoder().encode(`${JSON.stringify(entry)}\n`));
      this.entries++;
    } catch {
      this.#failed = true;
      this.dropped++;
    }
  }

  /** Closes the file. */
  close(): void {
    try {
      this.#file?.close();
    } catch {
      // Closed already.
    }
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

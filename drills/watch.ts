/**
 * The watch over what lies outside a drill's folder: hashed before and after every half.
 *
 * A drill's worker is ours and does nothing outside; so this list is short, to keep a half fast: the
 * program itself and the lab's own folder. A rehearsal of somebody's job watches far more.
 *
 * @module
 */
import {
  checkSentinel,
  compareSnapshots,
  type ContainmentRecord,
  plantSentinel,
  type Sentinel,
  snapshotWatchList,
  type WatchRoot,
  type WatchSnapshot,
} from "../lab/mod.ts";

/** What is watched. */
export interface WatchPostOptions {
  roots: readonly WatchRoot[];
  /** Paths that may change: the lab, the report folder. */
  exclude: readonly string[];
}

/** Looks before and after each half. The state after one half is the one before the next. */
export class WatchPost {
  readonly #options: WatchPostOptions;
  #before: WatchSnapshot | null = null;
  #sentinel: Sentinel | null = null;

  /** @param options See {@linkcode WatchPostOptions}. */
  constructor(options: WatchPostOptions) {
    this.#options = options;
  }

  /** The first look. */
  async begin(): Promise<void> {
    this.#before = await this.#look();
  }

  /** Puts the sentinel into a half's folder, beside its workspace. */
  plant(dir: string): void {
    this.#sentinel = plantSentinel(dir);
  }

  /** The look after a half. */
  async observe(): Promise<ContainmentRecord> {
    const before = this.#before;
    const after = await this.#look();
    this.#before = after;
    return {
      watched: after.roots.map(({ path, files, bytes, incomplete }) => ({
        path,
        files,
        bytes,
        incomplete,
      })),
      excluded: [...this.#options.exclude],
      changes: before === null ? [] : compareSnapshots(before, after),
      sentinelIntact: this.#sentinel === null ? null : checkSentinel(this.#sentinel).intact,
      observedBefore: before !== null,
      observedAfter: true,
    };
  }

  async #look(): Promise<WatchSnapshot> {
    return await snapshotWatchList(this.#options.roots, { exclude: [...this.#options.exclude] });
  }
}

/** The program itself, and the names beside the lab. */
export function watchRoots(kitPath: string, tempDir: string): WatchRoot[] {
  return [
    { path: kitPath, depth: "full" },
    { path: tempDir, depth: "entries" },
  ];
}

/**
 * The watch over what lies outside a drill's folder.
 *
 * A drill's worker is ours, so the look before and after each half is a small one: the program's own
 * sources (or the binary's size), and the sentinel. A wide look (the binary's content, the user's
 * shell and agent configuration) is taken once before the first half and once after the last; a
 * rehearsal of somebody's job takes it around every run.
 *
 * @module
 */
import {
  checkSentinel,
  compareSnapshots,
  type ContainmentRecord,
  plantSentinel,
  snapshotWatchList,
  WATCHED_AGENT_FILES,
  WATCHED_SHELL_FILES,
  type WatchRoot,
  type WatchSnapshot,
} from "../lab/mod.ts";

/** What is watched. */
export interface WatchPostOptions {
  /** Around every half. */
  narrow: readonly WatchRoot[];
  /** Around the whole session. */
  wide: readonly WatchRoot[];
  /** Paths that may change: the report folder. */
  exclude: readonly string[];
}

/** Watches over a session and over each of its halves. */
export class WatchPost {
  readonly #options: WatchPostOptions;
  #wideBefore: WatchSnapshot | null = null;

  /** @param options See {@linkcode WatchPostOptions}. */
  constructor(options: WatchPostOptions) {
    this.#options = options;
  }

  /** The first wide look. */
  async begin(): Promise<void> {
    this.#wideBefore = await this.#look(this.#options.wide);
  }

  /** Begins to watch over one half: the look before it, and the sentinel beside its workspace. */
  async open(dir: string): Promise<HalfWatch> {
    const before = await this.#look(this.#options.narrow);
    const sentinel = plantSentinel(dir);
    return {
      close: async () => {
        const after = await this.#look(this.#options.narrow);
        return {
          watched: watchedIn(after),
          excluded: [...this.#options.exclude],
          changes: compareSnapshots(before, after),
          sentinelIntact: checkSentinel(sentinel).intact,
          observedBefore: true,
          observedAfter: true,
        };
      },
    };
  }

  /** The wide look at the end: adds what it saw to the record of the last half. */
  async end(last: ContainmentRecord): Promise<void> {
    const before = this.#wideBefore;
    if (before === null) return;
    const after = await this.#look(this.#options.wide);
    last.watched.push(...watchedIn(after));
    last.changes.push(...compareSnapshots(before, after));
  }

  async #look(roots: readonly WatchRoot[]): Promise<WatchSnapshot> {
    return await snapshotWatchList(roots, { exclude: this.#options.exclude });
  }
}

/** The watch over one half. */
export interface HalfWatch {
  /** The look after it. */
  close: () => Promise<ContainmentRecord>;
}

function watchedIn(snapshot: WatchSnapshot): ContainmentRecord["watched"] {
  return snapshot.roots.map(({ path, files, bytes, incomplete }) => ({
    path,
    files,
    bytes,
    incomplete,
  }));
}

/** Of a source folder, what a build or git itself writes is left out. */
const SOURCE_IGNORED = [
  ".git",
  "node_modules",
  ".cache",
  "failure-lab*",
  "SHA256SUMS",
  "MANIFEST*",
];

/**
 * The places for one session.
 *
 * @param kitPath The binary, or the source folder.
 * @param home The user's home folder; `null` when the environment names none.
 */
export function watchPlaces(
  kitPath: string,
  home: string | null,
  isBinary: boolean,
): Pick<WatchPostOptions, "narrow" | "wide"> {
  const files = home === null || !home.startsWith("/") || home === "/"
    ? []
    : [...WATCHED_SHELL_FILES, ...WATCHED_AGENT_FILES].map((file) => `${home}/${file}`);
  const wide = files.map((path): WatchRoot => ({ path, depth: "full" }));
  return isBinary
    ? {
      // Reading a hundred megabytes around every half would take longer than the half.
      narrow: [{ path: kitPath, depth: "entries" }],
      wide: [{ path: kitPath, depth: "full" }, ...wide],
    }
    : { narrow: [{ path: kitPath, depth: "full", ignore: SOURCE_IGNORED }], wide };
}

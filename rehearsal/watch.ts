/**
 * The watch of one session: what lies outside the lab is hashed before the first run and after every
 * one, and so is the file beside the workspace.
 *
 * @module
 */
import { dirname } from "@std/path";
import {
  checkSentinel,
  compareSnapshots,
  type ContainmentRecord,
  type FileCrew,
  isWithin,
  type KnownFile,
  plantSentinel,
  type Sentinel,
  snapshotWatchList,
  type WatchRoot,
  type WatchSnapshot,
} from "../lab/mod.ts";

/** What to watch. */
export interface WatchOptions {
  roots: readonly WatchRoot[];
  exclude: readonly string[];
  projectDir: string;
  labRoot: string;
  workspace: string;
  crew: FileCrew;
}

/** Watches over the runs of one session. */
export class Watch {
  readonly #options: WatchOptions;
  #before: WatchSnapshot | null = null;
  #sentinel: Sentinel | null = null;

  /** @param options See {@linkcode WatchOptions}. */
  constructor(options: WatchOptions) {
    this.#options = options;
  }

  /**
   * The first look at what is outside the lab, but for the project; it may be taken while the
   * project is being copied.
   */
  async lookOutside(): Promise<WatchSnapshot> {
    return await this.#look((root) => !this.#isInLab(root) && !this.#isProject(root));
  }

  /**
   * Plants the sentinel and takes the first look at the project and at what is beside the workspace.
   * Everything that a run finds there must be there before.
   *
   * @param read The files of the project that were read when it was copied.
   */
  async begin(outside: WatchSnapshot, read: ReadonlyMap<string, KnownFile>): Promise<void> {
    this.#sentinel = plantSentinel(dirname(this.#options.workspace));
    const rest = await this.#look((root) => this.#isInLab(root) || this.#isProject(root), read);
    this.#before = {
      roots: [...outside.roots, ...rest.roots],
      entries: new Map([...outside.entries, ...rest.entries]),
      excluded: [...outside.excluded, ...rest.excluded],
      elapsedMs: outside.elapsedMs + rest.elapsedMs,
    };
  }

  /** Looks at everything again. The state after one run is the one before the next. */
  async contain(): Promise<ContainmentRecord | null> {
    const before = this.#before;
    if (before === null || this.#sentinel === null) return null;
    const after = await this.#look(() => true);
    const { intact } = checkSentinel(this.#sentinel);
    this.#before = after;
    return {
      watched: after.roots.map(({ path, files, bytes, incomplete }) => ({
        path,
        files,
        bytes,
        incomplete,
      })),
      excluded: [...this.#options.exclude],
      changes: compareSnapshots(before, after),
      sentinelIntact: intact,
      observedBefore: true,
      observedAfter: true,
    };
  }

  #isProject(root: WatchRoot): boolean {
    return root.path === this.#options.projectDir && root.depth === "full";
  }

  #isInLab(root: WatchRoot): boolean {
    return isWithin(this.#options.labRoot, root.path);
  }

  async #look(
    isWanted: (root: WatchRoot) => boolean,
    known?: ReadonlyMap<string, KnownFile>,
  ): Promise<WatchSnapshot> {
    const { roots, exclude, crew } = this.#options;
    return await snapshotWatchList(roots.filter(isWanted), { exclude, crew, known });
  }
}

/**
 * Containment: what lies outside a run is hashed before and after it, and every difference is told
 * path by path.
 *
 * @module
 */
import { HashQueue } from "./file_batch.ts";
import type { FileCrew } from "./file_crew.ts";
import { absent, excludedBelow, ignoreRule, linkedFile, partOfJson } from "./_watch_parts.ts";
import { lookAt, reasonOf, type WalkEntry, walkTree } from "./walk.ts";

export * from "./containment_compare.ts";
export * from "./sentinel.ts";
export * from "./watch_list.ts";

/** The sentence that stands beside every watch list. */
export const NOT_A_SANDBOX: string =
  "This is observation, not a sandbox: the lab hashes these paths before " +
  "and after and tells every difference, but it does not stop a command from reading, sending or " +
  "changing anything that your user account can. What is not on the list is not watched.";

/** Most files of one snapshot; a file costs about 25 µs and 500 bytes. */
export const WATCH_FILES_MAX = 200_000;
/** Most bytes of one snapshot; about a minute of reading at 1 GB/s. */
export const WATCH_BYTES_MAX = 64 * 1024 ** 3;

/** A place to watch. */
export interface WatchRoot {
  /** Absolute. It need not exist. */
  path: string;
  /**
   * `full`: everything below, contents hashed. `entries`: only the names, kinds and sizes that are
   * directly in the folder.
   */
  depth: "full" | "entries";
  /** Globs of names (or of paths relative to the root, if they hold a `/`) that are left out. */
  ignore?: readonly string[];
  /** For a JSON file that holds state as well: the keys at its top that are compared. */
  keys?: readonly string[];
}

/** One path as a snapshot found it. */
export interface WatchEntry {
  /** What is there. `special` is a fifo, a socket or a device. */
  kind: "file" | "directory" | "symlink" | "special" | "absent" | "unreadable";
  /** Permission bits; `null` where they are not compared. */
  mode: number | null;
  /** Size of a file; `null` for all else. */
  bytes: number | null;
  /** Content of a file that was hashed; `null` for all else. */
  sha256: string | null;
  /** Target of a link, or kind of a special file. */
  target: string | null;
  /** Why it is unreadable. */
  problem: string | null;
}

/** What a snapshot saw of one root. */
export interface WatchRootReport {
  /** The root as it was named in {@linkcode WatchRoot}. */
  path: string;
  /** Files that were hashed (`full`) or seen (`entries`). */
  files: number;
  /** Sum of the sizes of those files. */
  bytes: number;
  /** Why part of it was not seen; `null` when all of it was. */
  incomplete: string | null;
  /** Whether a bound cut it off: what comes after is not known. */
  truncated: boolean;
}

/** The state of all watched places at one time. */
export interface WatchSnapshot {
  /** One report for each root, in the order of the watch list. */
  roots: WatchRootReport[];
  /** By absolute path. */
  entries: Map<string, WatchEntry>;
  /** Paths below the roots that were left out, as they were found. */
  excluded: string[];
  /** How long the look took, in milliseconds. */
  elapsedMs: number;
}

/** A file whose content was hashed a moment ago for another reason. */
export interface KnownFile {
  /** Its hash. */
  sha256: string;
  /** As lstat showed it right before it was read. */
  info: Deno.FileInfo;
}

/** Options of {@linkcode snapshotWatchList}. */
export interface SnapshotOptions {
  /**
   * Files that were read a moment ago, by absolute path, and since when nothing was run. They are
   * not read again where lstat shows the same as then.
   */
  known?: ReadonlyMap<string, KnownFile> | undefined;
  /** Absolute paths that are left out with all below them, such as the report folder. */
  exclude?: readonly string[];
  /** Most files of this look. @default {WATCH_FILES_MAX} */
  filesMax?: number;
  /** Most bytes of this look. @default {WATCH_BYTES_MAX} */
  bytesMax?: number;
  /** A helper thread that is open already. */
  crew?: FileCrew | undefined;
  /** Stops the look; the call then throws the signal's reason. */
  signal?: AbortSignal | undefined;
}

/**
 * Takes the state of the watched places. Every file is read and hashed; no time stamp is trusted.
 * Links are recorded and not followed, except a root that is itself a link (a `~/.bashrc` kept
 * elsewhere): it is recorded, and what it leads to is watched as well. Fifos, sockets and devices
 * are recorded and never opened.
 *
 * Requires read for the roots. Never fails for a path that cannot be read; that is in the snapshot.
 *
 * @throws {TypeError} When a root's path is not absolute.
 * @throws The signal's reason when it is aborted.
 */
export async function snapshotWatchList(
  roots: readonly WatchRoot[],
  options: SnapshotOptions = {},
): Promise<WatchSnapshot> {
  const startMs = performance.now();
  using queue = new HashQueue(options);
  const survey = new Survey(options, queue);
  const reports = new Map<WatchRoot, WatchRootReport>();
  // Contents first: a path that is below two roots keeps the fuller of its entries.
  for (const root of [...roots].sort((a, b) => rank(a) - rank(b))) {
    reports.set(root, await survey.take(root));
  }
  await survey.finish();
  return {
    roots: roots.flatMap((root) => reports.get(root) ?? []),
    entries: survey.entries,
    excluded: [...survey.excluded].sort(),
    elapsedMs: performance.now() - startMs,
  };
}

function rank(root: WatchRoot): number {
  return root.depth === "full" ? 0 : 1;
}

interface Unhashed {
  key: string;
  path: string;
  report: WatchRootReport;
}

/** Collects entries, while the files among them are already being hashed. */
class Survey {
  readonly entries = new Map<string, WatchEntry>();
  readonly excluded = new Set<string>();
  readonly #options: SnapshotOptions;
  readonly #queue: HashQueue;
  readonly #unhashed: Unhashed[] = [];
  /** Further names of a file that is hashed under another one. */
  readonly #twins: { key: string; of: string }[] = [];
  readonly #firstNames = new Map<string, string>();
  #files = 0;
  #bytes = 0;

  constructor(options: SnapshotOptions, queue: HashQueue) {
    this.#options = options;
    this.#queue = queue;
  }

  async take(root: WatchRoot): Promise<WatchRootReport> {
    if (!root.path.startsWith("/")) {
      throw new TypeError(`Cannot watch "${root.path}": the path must be absolute`);
    }
    const path = root.path.length > 1 ? root.path.replace(/\/+$/, "") : root.path;
    const report = { path: root.path, files: 0, bytes: 0, incomplete: null, truncated: false };
    const entry = lookAt(path);
    if (entry.kind === "vanished") this.#put(path, absent());
    else if (entry.kind === "symlink") await this.#takeLinkedRoot(root, path, entry, report);
    else await this.#takeRoot(root, entry, path, report);
    return report;
  }

  async #takeLinkedRoot(
    root: WatchRoot,
    path: string,
    entry: WalkEntry,
    report: WatchRootReport,
  ): Promise<void> {
    this.#add(path, entry, root, report);
    try {
      const key = Deno.realPathSync(path);
      const info = Deno.statSync(path);
      if (info.isDirectory) {
        await this.#takeRoot(root, { ...entry, kind: "directory", info }, key, report);
      } else if (info.isFile) {
        this.#put(key, linkedFile(path, info, root));
        report.files++;
        report.bytes += info.size;
      }
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) note(report, path, reasonOf(error));
    }
  }

  /** `key` is the path by which the entries are known; it differs from the read one for a link. */
  async #takeRoot(
    root: WatchRoot,
    entry: WalkEntry,
    key: string,
    report: WatchRootReport,
  ): Promise<void> {
    const excluded = excludedBelow([key, entry.path], this.#options.exclude ?? []);
    if (excluded.has("")) {
      this.excluded.add(key);
      return;
    }
    if (root.keys !== undefined && entry.kind === "file") {
      this.#put(key, partOfJson(entry.path, root.keys));
      report.files++;
      return;
    }
    this.#add(key, entry, root, report);
    if (entry.kind !== "directory") return;
    const isKnownByItsPath = key === entry.path;
    const keyOf = (relative: string) => `${key}/${relative}`;
    const problem = await walkTree(entry.path, (child) => {
      this.#add(isKnownByItsPath ? child.path : keyOf(child.relative), child, root, report);
      return report.truncated ? "stop" : undefined;
    }, {
      deep: root.depth === "full",
      skip: this.#skipRule(root, key, excluded),
      signal: this.#options.signal,
    });
    if (problem !== null) {
      this.entries.set(key, { ...absent(), kind: "unreadable", problem });
      note(report, key, problem);
    }
  }

  #skipRule(
    root: WatchRoot,
    key: string,
    excluded: ReadonlySet<string>,
  ): (path: string, name: string) => boolean {
    const ignored = (root.ignore ?? []).map(ignoreRule);
    if (ignored.length === 0 && excluded.size === 0) return () => false;
    return (relative, name) => {
      const isLeftOut = excluded.has(relative) || ignored.some((rule) => rule(relative, name));
      if (isLeftOut) this.excluded.add(`${key}/${relative}`);
      return isLeftOut;
    };
  }

  #put(key: string, entry: WatchEntry): void {
    if (!this.entries.has(key)) this.entries.set(key, entry);
  }

  #add(key: string, entry: WalkEntry, root: WatchRoot, report: WatchRootReport): void {
    const { kind, info, problem, path } = entry;
    if (kind === "vanished") return; // Gone between the listing and the look: absent.
    const isFull = root.depth === "full";
    const seen: WatchEntry = {
      ...absent(),
      kind: kindOfEntry(entry),
      mode: isFull && info !== null && kind !== "symlink" ? (info.mode ?? 0) & 0o7777 : null,
      bytes: kind === "file" ? info?.size ?? null : null,
      target: isSpecial(kind) ? kind : entry.target,
      problem,
    };
    if (problem !== null) note(report, key, problem);
    if (kind === "file") {
      report.files++;
      report.bytes += info?.size ?? 0;
      if (isFull && info !== null && !this.entries.has(key)) {
        seen.sha256 = this.#knownHash(path, info);
        this.#plan(key, path, info, report, seen.sha256 !== null);
        if (report.truncated) return;
      }
    }
    this.#put(key, seen);
  }

  #knownHash(path: string, info: Deno.FileInfo): string | null {
    const known = this.#options.known?.get(path);
    return known !== undefined && isSameFile(known.info, info) ? known.sha256 : null;
  }

  #plan(
    key: string,
    path: string,
    info: Deno.FileInfo,
    report: WatchRootReport,
    isKnown: boolean,
  ): void {
    const { filesMax = WATCH_FILES_MAX, bytesMax = WATCH_BYTES_MAX } = this.#options;
    if (this.#files + 1 > filesMax || this.#bytes + info.size > bytesMax) {
      report.truncated = true;
      report.incomplete =
        `it holds more than the bound of ${filesMax} files or ${bytesMax} bytes ` +
        `for one look; everything from "${key}" on was not looked at`;
      report.files--;
      report.bytes -= info.size;
      return;
    }
    this.#files++;
    this.#bytes += info.size;
    const inode = (info.nlink ?? 1) > 1 ? `${info.dev}:${info.ino}` : null;
    const first = inode === null ? undefined : this.#firstNames.get(inode);
    if (first !== undefined) {
      this.#twins.push({ key, of: first });
      return;
    }
    if (inode !== null) this.#firstNames.set(inode, key);
    if (isKnown) return;
    this.#unhashed.push({ key, path, report });
    this.#queue.add(path, info.size);
  }

  /** Puts the hashes into the entries. */
  async finish(): Promise<void> {
    const { sha256, failed } = await this.#queue.finish();
    for (const [index, { key, path, report }] of this.#unhashed.entries()) {
      const entry = this.entries.get(key);
      if (entry === undefined) continue;
      if (!failed.has(index)) entry.sha256 = sha256[index] ?? null;
      else if (lookAt(path).kind === "vanished") this.entries.delete(key);
      else {
        entry.kind = "unreadable";
        entry.problem = reasonOf(failed.get(index));
        note(report, key, entry.problem);
      }
    }
    for (const { key, of } of this.#twins) {
      const [entry, first] = [this.entries.get(key), this.entries.get(of)];
      if (entry === undefined || first === undefined) continue;
      Object.assign(entry, { kind: first.kind, sha256: first.sha256, problem: first.problem });
    }
  }
}

/** Nothing that lstat tells is different. */
function isSameFile(old: Deno.FileInfo, now: Deno.FileInfo): boolean {
  return old.size === now.size && old.ino === now.ino && old.dev === now.dev &&
    old.mtime?.getTime() === now.mtime?.getTime() && old.ctime?.getTime() === now.ctime?.getTime();
}

function isSpecial(kind: WalkEntry["kind"]): boolean {
  return kind === "fifo" || kind === "socket" || kind === "device";
}

function kindOfEntry({ kind, problem }: WalkEntry): WatchEntry["kind"] {
  if (problem !== null || kind === "unreadable" || kind === "vanished") return "unreadable";
  return isSpecial(kind) ? "special" : kind as WatchEntry["kind"];
}

/** The first reason is told; how many more there are is in the entries. */
function note(report: WatchRootReport, path: string, problem: string): void {
  report.incomplete ??= `"${path}" could not be read: ${problem}`;
}

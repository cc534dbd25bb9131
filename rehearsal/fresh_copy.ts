/**
 * The workspace as a fresh copy of the project, again and again: what a run left is taken away and
 * what it changed is written anew. For all but small projects that is much quicker than to make
 * every file again.
 *
 * A file counts as untouched when kind, size, mode, inode and both of its times are what they were
 * when it was made, and when its last change (ctime, which no program can set) lies in an earlier
 * second than the first command that ran here. Where that second is the same, its content is hashed:
 * the runtime tells ctime in whole seconds. Anything out of the ordinary (a folder gone, a link
 * changed, something that cannot be read) makes everything new.
 *
 * @module
 */
import { dirname, join } from "@std/path";
import { type Clock, hashFile, removeTree } from "../lab/mod.ts";
import { lookAt, type WalkEntry, walkTree } from "../lab/walk.ts";

/** Where the copy is and what it is made from. */
export interface FreshCopyOptions {
  /** The real project. It is only read. */
  projectDir: string;
  workspace: string;
  labRoot: string;
  /**
   * Copies the project to a place where nothing is, and gives the SHA-256 of every file in the copy
   * by its relative path. Throws when the project is not what it was the first time.
   */
  fill: (to: string) => Promise<ReadonlyMap<string, string>>;
  clock: Clock;
}

/** What differs from the fresh copy. Paths are relative. */
interface Differences {
  /** New, topmost only. */
  extra: string[];
  /** Regular files that are not what they were, or gone. */
  changed: string[];
  /** Why it is not enough to put files back; `null` when it is. */
  tooMuch: string | null;
}

/** A workspace that can be made fresh again. */
export class FreshCopy {
  readonly #options: FreshCopyOptions;
  #hashes: ReadonlyMap<string, string> = new Map();
  #backup: string | null = null;
  /** How every entry looked when it was fresh; `null` before the first time. */
  #fresh: Map<string, WalkEntry> | null = null;
  /** When the first command ran since then, in milliseconds since the epoch. */
  #usedAtMs: number | null = null;

  /** @param options See {@linkcode FreshCopyOptions}. */
  constructor(options: FreshCopyOptions) {
    this.#options = options;
  }

  /** Where it is. */
  get workspace(): string {
    return this.#options.workspace;
  }

  /** Notes that a command is about to run in the workspace. */
  use(): void {
    this.#usedAtMs ??= this.#options.clock.wallMs();
  }

  /**
   * Makes the workspace what the project is. No process may work in it meanwhile.
   *
   * @returns How: `cloned` anew, `mended` file by file, or `untouched` since it was fresh.
   */
  async refresh(): Promise<"cloned" | "mended" | "untouched"> {
    if (this.#fresh === null) return await this.#clone();
    if (this.#usedAtMs === null) return "untouched";
    const { extra, changed, tooMuch } = await this.#differences({ byHash: true });
    if (tooMuch !== null) return await this.#clone();
    try {
      for (const path of extra) await this.#remove(path);
      for (const path of changed) await this.#putBack(path);
      await this.#putBackFolderTimes();
    } catch {
      return await this.#clone();
    }
    this.#usedAtMs = null;
    return "mended";
  }

  /**
   * Files that are new since the workspace was fresh, or whose times are other ones; `null` when
   * that cannot be told.
   */
  async touched(): Promise<string[] | null> {
    if (this.#fresh === null) return null;
    const { extra, changed, tooMuch } = await this.#differences({ byHash: false });
    if (tooMuch !== null) return null;
    const files: string[] = [];
    for (const path of extra) {
      const entry = lookAt(this.#at(path), path);
      if (entry.kind === "file") files.push(path);
      else if (entry.kind === "directory") {
        await walkTree(entry.path, (inner) => {
          if (inner.kind === "file") files.push(`${path}/${inner.relative}`);
        });
      }
    }
    return [...files, ...changed];
  }

  /**
   * A copy of the project beside the workspace, to take single files from. Made when it is first
   * asked for, and never changed.
   *
   * @returns Its folder.
   */
  async backup(): Promise<string> {
    const { fill, labRoot } = this.#options;
    if (this.#backup === null) {
      const dir = join(labRoot, "backup");
      await fill(dir);
      this.#backup = dir;
    }
    return this.#backup;
  }

  #at(path: string): string {
    return join(this.#options.workspace, path);
  }

  async #clone(): Promise<"cloned"> {
    const { fill, workspace, labRoot } = this.#options;
    await removeTree(workspace, labRoot);
    await Deno.mkdir(dirname(workspace), { recursive: true });
    this.#hashes = await fill(workspace);
    this.#fresh = new Map();
    const fresh = this.#fresh;
    fresh.set("", lookAt(workspace, ""));
    await walkTree(workspace, (entry) => void fresh.set(entry.relative, entry));
    this.#usedAtMs = null;
    return "cloned";
  }

  async #differences({ byHash }: { byHash: boolean }): Promise<Differences> {
    const fresh = this.#fresh ?? new Map<string, WalkEntry>();
    const found: Differences = { extra: [], changed: [], tooMuch: null };
    const seen = new Set<string>([""]);
    /** Folders in which something visible was made, changed or removed. */
    const explained = new Set<string>();
    const touchedFolders: string[] = [];
    const visit = (entry: WalkEntry): void => {
      const path = entry.relative;
      const old = fresh.get(path);
      seen.add(path);
      if (old === undefined) {
        explained.add(parentOf(path));
        if (fresh.has(parentOf(path))) found.extra.push(path);
      } else if (!isAlike(old, entry)) found.tooMuch ??= `"${path}" is another kind of thing now`;
      else if (entry.kind === "directory") {
        if (!hasSameTimes(old, entry)) touchedFolders.push(path);
      } else if (entry.kind === "file" && !this.#isUntouched(old, entry, byHash)) {
        explained.add(parentOf(path));
        found.changed.push(path);
      }
    };
    const { workspace } = this.#options;
    visit(lookAt(workspace, ""));
    found.tooMuch ??= await walkTree(workspace, visit);
    for (const [path, old] of fresh) {
      if (seen.has(path)) continue;
      explained.add(parentOf(path));
      if (old.kind !== "file") found.tooMuch ??= `"${path}" is gone`;
      else if (seen.has(parentOf(path))) found.changed.push(path);
    }
    // A name that the runtime cannot show would stay; something happened here, and nobody sees what.
    const dark = touchedFolders.find((path) => !explained.has(path));
    if (dark !== undefined) found.tooMuch ??= `nobody sees what was done in "${dark}"`;
    return found;
  }

  /** See the top of this file. */
  #isUntouched(old: WalkEntry, now: WalkEntry, byHash: boolean): boolean {
    if (!hasSameTimes(old, now) || old.info?.size !== now.info?.size) return false;
    if (!byHash) return true;
    const changedAtMs = now.info?.ctime?.getTime() ?? Infinity;
    const usedSecondMs = Math.floor((this.#usedAtMs ?? 0) / 1000) * 1000;
    // One second more, because the time of a change is a little behind the clock.
    if (changedAtMs < usedSecondMs - 1000) return true;
    try {
      return hashFile(now.path).sha256 === this.#hashes.get(now.relative);
    } catch {
      return false;
    }
  }

  async #remove(path: string): Promise<void> {
    const full = this.#at(path);
    if (lookAt(full).kind === "directory") await removeTree(full, this.#options.labRoot);
    else await Deno.remove(full);
  }

  /** Out of the real project, which may have changed: only the content that it had then will do. */
  async #putBack(path: string): Promise<void> {
    const full = this.#at(path);
    const info = this.#fresh?.get(path)?.info ?? null;
    if (info === null) throw new Error(`"${path}" is not in the copy`);
    await Deno.remove(full).catch((error) => {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    });
    await Deno.copyFile(join(this.#options.projectDir, path), full);
    if (hashFile(full).sha256 !== this.#hashes.get(path)) {
      throw new Error(`"${path}" of the project is not what was copied first`);
    }
    if (info.mode !== null) await Deno.chmod(full, info.mode & 0o7777);
    if (info.mtime !== null) await Deno.utime(full, info.atime ?? info.mtime, info.mtime);
    this.#fresh?.set(path, lookAt(full, path));
  }

  async #putBackFolderTimes(): Promise<void> {
    for (const [path, old] of this.#fresh ?? []) {
      const mtime = old.info?.mtime ?? null;
      const now = lookAt(this.#at(path), path);
      if (old.kind !== "directory" || mtime === null || hasSameTimes(old, now)) continue;
      await Deno.utime(this.#at(path), old.info?.atime ?? mtime, mtime);
      this.#fresh?.set(path, lookAt(this.#at(path), path));
    }
  }
}

function parentOf(path: string): string {
  const folder = dirname(path);
  return folder === "." ? "" : folder;
}

/** The same kind of thing with the same rights; a link must lead to where it led. */
function isAlike(old: WalkEntry, now: WalkEntry): boolean {
  const isFile = old.kind === "file" && now.kind === "file";
  return isFile || (old.kind === now.kind && now.problem === null &&
    old.target === now.target && old.info?.mode === now.info?.mode);
}

/** The same inode with the same mode and times. */
function hasSameTimes({ info: old }: WalkEntry, { info: now }: WalkEntry): boolean {
  return old !== null && now !== null && old.ino === now.ino && old.mode === now.mode &&
    old.mtime?.getTime() === now.mtime?.getTime() && old.ctime?.getTime() === now.ctime?.getTime();
}

/**
 * Where a path really leads, link by link, and whether that is inside a folder.
 *
 * @module
 */

/** The answer of {@linkcode resolveInside}. */
export interface ResolvedPath {
  /** Whether the real path is the root or below it. */
  inside: boolean;
  /** Absolute, with every link resolved as far as it exists. */
  realPath: string;
  /** Whether something is at the real path. */
  exists: boolean;
  /** Whether any part of the path is a link, the last one included. */
  throughLink: boolean;
  /** Whether the way led through a place outside, even if it ends inside. */
  leftRoot: boolean;
  /** Links that lead in a circle, or more of them than the system follows. */
  loop: boolean;
}

/** Links that Linux follows in one path before it gives up (path_resolution(7)). */
const LINKS_MAX = 40;

/** Parts of an absolute path; empty ones and "." are dropped, ".." is kept. */
function partsOf(path: string): string[] {
  return path.split("/").filter((part) => part !== "" && part !== ".");
}

/** Whether `parts` begins with all of `first`. */
function beginsWith(parts: readonly string[], first: readonly string[]): boolean {
  return first.length <= parts.length && first.every((part, at) => part === parts[at]);
}

/**
 * Whether `path` is `root` or lies below it, compared part by part: `/a/lab2` is not in `/a/lab`.
 * Both must be absolute and without `..`; nothing is read.
 */
export function isWithin(root: string, path: string): boolean {
  return beginsWith(partsOf(path), partsOf(root));
}

/**
 * Follows `path` the way the system would, and says where it leads: also when the last part is a
 * link, when a link dangles, and when parts do not exist yet.
 *
 * Where our rights end, no more links are seen; such a place is outside in any case.
 *
 * @param root An existing folder. Requires read for it.
 * @param path Absolute, or relative to the root.
 * @throws {Deno.errors.NotFound} When the root does not exist.
 * @throws {TypeError} When the path holds a NUL byte, which no file system can.
 */
export function resolveInside(root: string, path: string): ResolvedPath {
  if (path.includes("\0")) {
    throw new TypeError(`Cannot resolve ${JSON.stringify(path)}: a path must not hold a NUL byte`);
  }
  return new Resolution(root).follow(path);
}

class Resolution {
  readonly #root: readonly string[];
  /** The root as it was given: a link may name it that way. */
  readonly #alias: readonly string[];
  #at: string[];
  #pending: string[] = [];
  #links = 0;
  #leftRoot = false;
  #exists = true;

  constructor(root: string) {
    this.#root = partsOf(Deno.realPathSync(root));
    this.#alias = partsOf(root);
    this.#at = [...this.#root];
  }

  follow(path: string): ResolvedPath {
    this.#enqueue(path);
    for (let part; (part = this.#pending.pop()) !== undefined && this.#links <= LINKS_MAX;) {
      if (part === "..") this.#at.pop();
      else this.#step(part);
      if (!this.#isOnWay()) this.#leftRoot = true;
    }
    const realPath = `/${this.#at.join("/")}`;
    const loop = this.#links > LINKS_MAX;
    return {
      inside: !loop && (beginsWith(this.#at, this.#root) || this.#isSameByCase()),
      realPath,
      exists: this.#exists && !loop,
      throughLink: this.#links > 0,
      leftRoot: this.#leftRoot,
      loop,
    };
  }

  #enqueue(path: string): void {
    let parts = partsOf(path);
    if (path.startsWith("/")) {
      const known = [this.#root, this.#alias].find((each) => beginsWith(parts, each));
      this.#at = known === undefined ? [] : [...this.#root];
      if (known !== undefined) parts = parts.slice(known.length);
    }
    this.#pending.push(...parts.reverse());
  }

  #step(part: string): void {
    const here = [...this.#at, part];
    // The way down to the real root holds no links, and we may not be allowed to look at it.
    if (beginsWith(this.#root, here)) {
      this.#at = here;
      return;
    }
    const path = `/${here.join("/")}`;
    try {
      if (!Deno.lstatSync(path).isSymlink) {
        this.#at = here;
        return;
      }
      const target = Deno.readLinkSync(path);
      this.#links++;
      this.#enqueue(target);
    } catch {
      // Not there, or not ours to see: the rest is taken as it is written.
      this.#exists = false;
      this.#at = here;
    }
  }

  /** Inside, or on the way down to the root. */
  #isOnWay(): boolean {
    return beginsWith(this.#at, this.#root) ||
      (this.#pending.length > 0 && beginsWith(this.#root, this.#at));
  }

  /** On a disk that ignores case the same folder can be written in other ways (macOS). */
  #isSameByCase(): boolean {
    const fold = (parts: readonly string[]) =>
      parts.map((part) => part.normalize("NFC").toLowerCase());
    if (!beginsWith(fold(this.#at), fold(this.#root))) return false;
    try {
      const asWritten = Deno.statSync(`/${this.#at.slice(0, this.#root.length).join("/")}`);
      const root = Deno.statSync(`/${this.#root.join("/")}`);
      return asWritten.ino === root.ino && asWritten.dev === root.dev;
    } catch {
      return false;
    }
  }
}

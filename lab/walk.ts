/**
 * Walking a tree of files: in a fixed order, without recursion, never through a link, and without
 * opening anything but folders.
 *
 * Known gap: a name that is not valid UTF-8 cannot be opened by Deno. Deno 2.9 shows it with
 * replacement characters, and it is then handed on as unreadable; Deno 2.4 does not show it at all.
 *
 * @module
 */
import { CLOSED_PLACES, closedPath } from "./closed_places.ts";
import { Slices } from "./slices.ts";

/** What an entry is. `unreadable`: it is there, but nothing can be said about it. */
export type WalkKind =
  | "file"
  | "directory"
  | "symlink"
  | "fifo"
  | "socket"
  | "device"
  | "unreadable"
  | "vanished";

/** One entry below the root. */
export interface WalkEntry {
  /** Absolute, or as the root was given. */
  path: string;
  /** Relative to the root, parts separated by `/`. */
  relative: string;
  /** What it is. */
  kind: WalkKind;
  /** As lstat gives it; `null` for `unreadable` and `vanished`. */
  info: Deno.FileInfo | null;
  /** The text of a link; `null` for all else. */
  target: string | null;
  /** Why it cannot be read, or why a folder cannot be listed; `null` when all is well. */
  problem: string | null;
}

/** Options of {@linkcode walkTree}. */
export interface WalkOptions {
  /** Asked for each name before anything else; `true` leaves the entry and all below it out. */
  skip?: (relative: string, name: string) => boolean;
  /** Whether to go on below the folders of the root. @default {true} */
  deep?: boolean;
  /** Ends the walk at its next rest when it is aborted. */
  signal?: AbortSignal | undefined;
}

/** What `visit` may answer; nothing means: go on. */
export type WalkAnswer = "stop" | void;

/**
 * Calls `visit` for every entry below `root`: a folder before what is in it, names in the order of
 * their UTF-16 code units. Requires read for the tree.
 *
 * @returns Why the root itself cannot be listed; `null` when it was.
 * @throws The signal's reason when it is aborted, and what `visit` throws.
 */
export async function walkTree(
  root: string,
  visit: (entry: WalkEntry) => WalkAnswer,
  options: WalkOptions = {},
): Promise<string | null> {
  const { names, problem } = listFolder(root);
  const base = root.endsWith("/") ? root : `${root}/`;
  const stack: string[] = [];
  push(stack, "", names, options.skip);
  const slices = new Slices(options.signal);
  while (stack.length > 0) {
    if (walkSlice(base, stack, visit, options, slices) === "stop") break;
    await slices.rest();
  }
  return problem;
}

function walkSlice(
  base: string,
  stack: string[],
  visit: (entry: WalkEntry) => WalkAnswer,
  options: WalkOptions,
  slices: Slices,
): WalkAnswer {
  for (let relative; !slices.isOver && (relative = stack.pop()) !== undefined;) {
    const entry = lookAt(base + relative, relative);
    let names: string[] = [];
    if (entry.kind === "directory" && options.deep !== false) {
      ({ names, problem: entry.problem } = listFolder(entry.path));
    }
    if (visit(entry) === "stop") return "stop";
    push(stack, `${relative}/`, names, options.skip);
  }
}

function push(
  stack: string[],
  prefix: string,
  names: readonly string[],
  skip: WalkOptions["skip"],
): void {
  for (let i = names.length - 1; i >= 0; i--) {
    const name = names[i] ?? "";
    const relative = prefix + name;
    if (skip?.(relative, name) !== true) stack.push(relative);
  }
}

function listFolder(path: string): { names: string[]; problem: string | null } {
  try {
    const names: string[] = [];
    for (const { name } of Deno.readDirSync(path)) names.push(name);
    return { names: names.sort(), problem: null };
  } catch (error) {
    return { names: [], problem: reasonOf(error) };
  }
}

/** Looks at one path without following a link. Never throws. */
export function lookAt(path: string, relative: string = path): WalkEntry {
  try {
    const info = Deno.lstatSync(path);
    const target = info.isSymlink ? Deno.readLinkSync(path) : null;
    return { path, relative, kind: kindOf(info), info, target, problem: null };
  } catch (error) {
    const isGone = error instanceof Deno.errors.NotFound ||
      error instanceof Deno.errors.NotADirectory;
    // A listed name that is not there: the listing shows U+FFFD for bytes that are not UTF-8.
    const isForeign = isGone && relative.includes("\ufffd");
    return {
      path,
      relative,
      kind: isGone && !isForeign ? "vanished" : "unreadable",
      info: null,
      target: null,
      problem: isForeign ? "its name is not valid UTF-8, so Deno cannot open it" : reasonOf(error),
    };
  }
}

/** What lstat says that something is. */
export function kindOf(info: Deno.FileInfo): WalkKind {
  if (info.isFile) return "file";
  if (info.isDirectory) return "directory";
  if (info.isSymlink) return "symlink";
  if (info.isFifo) return "fifo";
  if (info.isSocket) return "socket";
  return "device";
}

/** The reason in an error's text, without the call and the path that Deno adds. */
export function reasonOf(error: unknown): string {
  if (closedPath(error) !== null) return CLOSED_PLACES;
  const text = error instanceof Error ? error.message : String(error);
  return text.replace(/^[A-Z]+: /, "").split(/: (?:lstat|readdir|stat|open|copy)\b|, open /)[0] ??
    text;
}

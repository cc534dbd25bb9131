/**
 * Copying a tree of files exactly: contents, modes, times, links and holes.
 *
 * What is not kept: owners, extended attributes, the time of a link itself, times finer than a
 * millisecond (Deno sees no finer ones), and that two names were one file.
 *
 * @module
 */
import { dirname } from "@std/path";
import { CREW_FILES_MIN, runFileBatch } from "./file_batch.ts";
import { type FileCrew, openFileCrew } from "./file_crew.ts";
import { type LinkRequest, makeLinks } from "./links.ts";
import { Slices } from "./slices.ts";
import { EnvironmentError } from "./system_tools.ts";
import { kindOf, reasonOf, type WalkEntry, walkTree } from "./walk.ts";

/** Why an entry is not in a copy. */
export type SkipReason =
  | "credential"
  | "link-out"
  | "fifo"
  | "socket"
  | "device"
  | "unreadable"
  | "left-behind"
  | "vanished";

/** An entry that is not in a copy. */
export interface SkippedEntry {
  /** Relative to the root of the tree. */
  path: string;
  /** Why it was left out. */
  reason: SkipReason;
  /** More about it, where there is more to say. */
  detail?: string;
}

/** A file of a {@linkcode TreePlan}. */
export interface PlannedFile {
  /** Relative to the root of the tree. */
  path: string;
  /** As lstat gave it. */
  info: Deno.FileInfo;
}

/** What a copy holds. Paths are relative to the root of the tree. */
export interface TreePlan {
  /** The root itself. */
  root: Deno.FileInfo;
  /** Parents before children. */
  directories: { path: string; info: Deno.FileInfo }[];
  /** Regular files. */
  files: PlannedFile[];
  /** Links, and the target that the copy's link gets. */
  links: { path: string; target: string }[];
  /** What is not copied, and why. */
  skipped: SkippedEntry[];
}

/** What was copied. */
export interface TreeCopyReport {
  /** Number of regular files. */
  files: number;
  /** Without the root itself. */
  directories: number;
  /** Number of symbolic links. */
  links: number;
  /** Sum of the sizes of all files, holes included. */
  bytes: number;
  /** What is not in the copy, and why. */
  skipped: SkippedEntry[];
  /** How long the copying took, in milliseconds. */
  elapsedMs: number;
}

/** Options of {@linkcode cloneTree}. */
export interface CloneOptions {
  /** A helper thread that is open already. */
  crew?: FileCrew | undefined;
  /** Stops the copying; the call then throws the signal's reason. */
  signal?: AbortSignal | undefined;
}

/** Bits of a mode that can be set: permissions, set-id and sticky. */
const MODE_BITS = 0o7777;
const OWNER_ALL = 0o700;
/** Longest path of Linux (PATH_MAX, less its final NUL byte). */
const PATH_BYTES_MAX = 4095;
// Deno and lstat count blocks of 512 bytes, whatever the file system's own are.
const BLOCK_BYTES = 512;
// A file of this size is copied in less than a slice (see slices.ts); a bigger one in the background.
const BIG_FILE_BYTES = 16 * 1024 * 1024;

/**
 * Copies a whole tree to a place where nothing is yet. Fifos, sockets and devices are recorded and
 * left out, never opened; links are copied as they are.
 *
 * Requires read for `from` and write for `to`.
 *
 * @throws {Deno.errors.AlreadyExists} When something is at `to`.
 * @throws {Error} When `from` is no readable folder.
 * @throws {EnvironmentError} When the disk cannot take the copy.
 */
export async function cloneTree(
  from: string,
  to: string,
  options: CloneOptions = {},
): Promise<TreeCopyReport> {
  const startMs = performance.now();
  using own = openFileCrew();
  const crew = options.crew ?? own;
  const plan = emptyPlan(from);
  const problem = await walkTree(from, (entry) => {
    addToPlan(plan, entry);
    if (plan.files.length === CREW_FILES_MIN) crew.warm();
  }, { signal: options.signal });
  if (problem !== null) throw new Error(`Cannot copy "${from}": it cannot be listed: ${problem}`);
  await carryOut(plan, from, to, { ...options, crew, wantsHash: false });
  return reportOf(plan, startMs);
}

/**
 * The plan of a tree in which nothing is yet.
 *
 * @throws {Error} When `from` is not a folder.
 */
export function emptyPlan(from: string): TreePlan {
  const root = Deno.statSync(from);
  if (!root.isDirectory) throw new Error(`Cannot copy "${from}": it is not a folder`);
  return { root, directories: [], files: [], links: [], skipped: [] };
}

/**
 * Puts an entry into the plan, or into its list of skipped ones.
 *
 * @param target The text of a link's copy, where it is not that of the link.
 */
export function addToPlan(plan: TreePlan, entry: WalkEntry, target = entry.target ?? ""): void {
  const { relative: path, info, kind, problem } = entry;
  if (kind === "unreadable" || kind === "vanished" || info === null) {
    const reason = kind === "vanished" ? kind : "unreadable";
    plan.skipped.push({ path, reason, ...(problem === null ? {} : { detail: problem }) });
  } else if (kind === "directory") {
    plan.directories.push({ path, info });
    if (problem !== null) plan.skipped.push({ path, reason: "unreadable", detail: problem });
  } else if (kind === "file") plan.files.push({ path, info });
  else if (kind === "symlink") plan.links.push({ path, target });
  else plan.skipped.push({ path, reason: kind });
}

/** The figures of a plan that was carried out. */
export function reportOf(plan: TreePlan, startMs: number): TreeCopyReport {
  return {
    files: plan.files.length,
    directories: plan.directories.length,
    links: plan.links.length,
    bytes: plan.files.reduce((sum, file) => sum + file.info.size, 0),
    skipped: plan.skipped.sort((a, b) => a.path < b.path ? -1 : a.path > b.path ? 1 : 0),
    elapsedMs: performance.now() - startMs,
  };
}

/** Options of {@linkcode carryOut}. */
export interface CarryOutOptions extends CloneOptions {
  /** Whether to hash every file on the way. */
  wantsHash: boolean;
  /** Called when all files are there and every folder can still be written to. */
  onFilesCopied?: () => void;
}

/**
 * Copies what a plan says. A file that cannot be read any more moves from the plan's files to its
 * skipped ones.
 *
 * @returns The SHA-256 of each file by its path; empty when none is wanted.
 * @throws {Deno.errors.AlreadyExists} When something is at `to`.
 * @throws {EnvironmentError} When the disk cannot take the copy.
 */
export async function carryOut(
  plan: TreePlan,
  from: string,
  to: string,
  options: CarryOutOptions,
): Promise<Map<string, string>> {
  leaveOutTooLong(plan, to);
  const umask = makeRoot(to);
  const slices = new Slices(options.signal);
  for (const { path, info } of plan.directories) {
    makeDirectory(`${to}/${path}`, info);
    if (slices.isOver) await slices.rest();
  }
  const digests = await copyFiles(plan, from, to, { ...options, umask });
  options.onFilesCopied?.();
  const links: LinkRequest[] = plan.links.map(({ path, target }) => ({
    path: `${to}/${path}`,
    target,
    like: `${from}/${path}`,
  }));
  await makeLinks(links, options.signal);
  // Children first: what happens in a folder changes its time, and may need its write right.
  for (const { path, info } of plan.directories.toReversed()) {
    finishDirectory(`${to}/${path}`, info, umask);
    if (slices.isOver) await slices.rest();
  }
  finishRoot(to, plan.root);
  return digests;
}

async function copyFiles(
  plan: TreePlan,
  from: string,
  to: string,
  options: CloneOptions & { wantsHash: boolean; umask: number },
): Promise<Map<string, string>> {
  const { wantsHash, umask } = options;
  const isBig = (file: PlannedFile) =>
    !wantsHash && file.info.size >= BIG_FILE_BYTES && !isSparse(file);
  const big = plan.files.filter(isBig);
  const files = plan.files.filter((file) => !isBig(file));
  const { sha256, failed } = await runFileBatch({
    from: files.map(({ path }) => `${from}/${path}`),
    bytes: files.map(({ info }) => info.size),
    copy: {
      to: files.map(({ path }) => `${to}/${path}`),
      mode: files.map(({ info }) => (info.mode ?? 0o600) & MODE_BITS),
      mtimeMs: files.map(({ info }) => info.mtime?.getTime() ?? NaN),
      sparse: files.map(isSparse),
      umask,
      wantsHash,
    },
  }, options);
  const failures = new Map([...failed].map(([index, error]) => [files[index], error]));
  for (const file of big) {
    options.signal?.throwIfAborted();
    try {
      await copyBig(file, from, to);
    } catch (error) {
      failures.set(file, error);
    }
  }
  for (const [file, error] of failures) skipOrThrow(plan, from, file?.path ?? "", error);
  plan.files = plan.files.filter((file) => !failures.has(file));
  if (!wantsHash) return new Map();
  return new Map(files.map(({ path }, index) => [path, sha256[index] ?? ""]));
}

function isSparse({ info }: PlannedFile): boolean {
  return (info.blocks ?? Infinity) * BLOCK_BYTES < info.size;
}

/** By the system's own copy, which shares the blocks where the file system can. */
async function copyBig({ path, info }: PlannedFile, from: string, to: string): Promise<void> {
  await Deno.copyFile(`${from}/${path}`, `${to}/${path}`);
  if (info.mtime !== null) await Deno.utime(`${to}/${path}`, info.mtime, info.mtime);
}

/** A copy lies deeper than its model; a path that the system allowed there may be too long here. */
function leaveOutTooLong(plan: TreePlan, to: string): void {
  const encoder = new TextEncoder();
  const fits = ({ path }: { path: string }) => {
    const whole = `${to}/${path}`;
    if (whole.length * 3 <= PATH_BYTES_MAX) return true;
    const { length } = encoder.encode(whole);
    if (length <= PATH_BYTES_MAX) return true;
    const detail = `its path would have ${length} bytes in the copy; ${PATH_BYTES_MAX} are allowed`;
    plan.skipped.push({ path, reason: "unreadable", detail });
    return false;
  };
  plan.directories = plan.directories.filter(fits);
  plan.files = plan.files.filter(fits);
  plan.links = plan.links.filter(fits);
}

/** Makes the copy's root and finds out what the umask is, which Deno tells only with --allow-sys. */
function makeRoot(to: string): number {
  Deno.mkdirSync(to, { mode: 0o777 });
  const mode = Deno.lstatSync(to).mode ?? 0o777;
  Deno.chmodSync(to, OWNER_ALL);
  return ~mode & 0o777;
}

function makeDirectory(path: string, info: Deno.FileInfo): void {
  Deno.mkdirSync(path, { mode: ((info.mode ?? 0) & 0o777) | OWNER_ALL });
}

function finishDirectory(path: string, info: Deno.FileInfo, umask: number): void {
  const mode = (info.mode ?? OWNER_ALL) & MODE_BITS;
  const isAsMade = (mode & OWNER_ALL) === OWNER_ALL && (mode & (umask | 0o7000)) === 0;
  if (info.mtime !== null) Deno.utimeSync(path, info.mtime, info.mtime);
  if (!isAsMade) Deno.chmodSync(path, mode);
}

function finishRoot(to: string, { mode, mtime }: Deno.FileInfo): void {
  if (mtime !== null) Deno.utimeSync(to, mtime, mtime);
  Deno.chmodSync(to, (mode ?? OWNER_ALL) & MODE_BITS);
}

/** A file that cannot be read is skipped; a copy that cannot be written ends everything. */
function skipOrThrow(plan: TreePlan, from: string, path: string, error: unknown): void {
  try {
    if (kindOf(Deno.lstatSync(`${from}/${path}`)) !== "file") {
      plan.skipped.push({ path, reason: "vanished", detail: "it is no file any more" });
      return;
    }
    Deno.openSync(`${from}/${path}`).close();
  } catch (reading) {
    const isGone = reading instanceof Deno.errors.NotFound;
    const reason = isGone ? "vanished" : "unreadable";
    plan.skipped.push({ path, reason, detail: reasonOf(reading) });
    return;
  }
  throw new EnvironmentError(
    `Cannot copy "${from}/${path}" to the lab: ${reasonOf(error)}. Free some space in the temp ` +
      `dir, or leave the file behind (leaveBehind: ["${path}"], or its folder "${dirname(path)}")`,
    { cause: error },
  );
}

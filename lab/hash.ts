/**
 * Hashing of files and trees, without ever opening what could block.
 *
 * @module
 */
import { createHash, hash } from "node:crypto";
import { localFileKit, runFileBatch } from "./file_batch.ts";
import type { FileCrew } from "./file_crew.ts";
import { kindOf, walkTree } from "./walk.ts";

/** SHA-256 of bytes in memory, as 64 hexadecimal digits. */
export function hashBytes(bytes: Uint8Array): string {
  return hash("sha256", bytes, "hex");
}

/** SHA-256 of a text in UTF-8, as 64 hexadecimal digits. */
export function hashText(text: string): string {
  return hash("sha256", text, "hex");
}

/**
 * SHA-256 and size of a regular file, or of the one that a link leads to. Blocks for as long as the
 * reading takes: about 1 second for 1 GiB. Requires read for the path.
 *
 * @throws {TypeError} When it is a folder, a fifo, a socket or a device; none of these is opened.
 * @throws {Deno.errors.NotFound} When nothing is there.
 */
export function hashFile(path: string): { sha256: string; bytes: number } {
  let place = path;
  let info = Deno.lstatSync(place);
  if (info.isSymlink) {
    place = Deno.realPathSync(path);
    info = Deno.lstatSync(place);
  }
  if (!info.isFile) {
    throw new TypeError(
      `Cannot hash "${path}": only a regular file can be: it is a ${kindOf(info)}`,
    );
  }
  const kit = localFileKit();
  const sha256 = kit.hashSmall(place, info.size);
  if (sha256 !== null) return { sha256, bytes: info.size };
  const steps = kit.hashInSteps(place);
  for (let step = steps.next();; step = steps.next()) if (step.done) return step.value;
}

/** What a tree's hash covers. */
export interface TreeHash {
  /** 64 hexadecimal digits; the same for the same tree at any place, on any machine. */
  sha256: string;
  /** Number of regular files that could be read. */
  files: number;
  /** Number of folders, without the root itself. */
  directories: number;
  /** Number of symbolic links; they are never followed. */
  links: number;
  /** Sum of the sizes of all regular files, also of those that could not be read. */
  bytes: number;
  /** What could not be read or is never read (fifos, sockets, devices), and why. */
  unread: { path: string; reason: string }[];
}

/** Options of {@linkcode hashTree}. */
export interface HashTreeOptions {
  /** Paths relative to the root that are left out with all below them. */
  exclude?: readonly string[];
  /** A helper thread that is open already. */
  crew?: FileCrew | undefined;
  /** Stops the hashing; the call then throws the signal's reason. */
  signal?: AbortSignal | undefined;
}

/** One line of a tree's hash. */
export interface TreeLine {
  /** Relative to the root. */
  path: string;
  /** `file`, `directory`, `symlink`, `fifo`, `socket`, `device` or `unreadable`. */
  kind: string;
  /** SHA-256 of a file, target of a link, else empty. */
  content: string;
  /** Whether a file may be executed. Other mode bits depend on the umask and do not count. */
  executable: boolean;
}

/** The hash of a tree of which everything is known already. Lines are sorted here. */
export function hashTreeLines(lines: readonly TreeLine[]): string {
  const whole = createHash("sha256");
  for (const line of [...lines].sort((a, b) => a.path < b.path ? -1 : 1)) {
    whole.update(JSON.stringify([line.path, line.kind, line.content, line.executable]) + "\n");
  }
  return whole.digest("hex");
}

/**
 * Hash of a tree: every name, kind, content, link target and executable bit, in a fixed order. Times,
 * owners and the root's own name do not count. Links are never followed. Requires read for the tree.
 *
 * @throws {Error} When the root cannot be listed.
 * @throws The signal's reason when it is aborted.
 */
export async function hashTree(root: string, options: HashTreeOptions = {}): Promise<TreeHash> {
  const exclude = new Set(options.exclude ?? []);
  const lines: TreeLine[] = [];
  const files: { line: TreeLine; path: string; bytes: number }[] = [];
  const unread: TreeHash["unread"] = [];
  const problem = await walkTree(root, ({ path, relative, kind, info, target, problem }) => {
    const line = { path: relative, kind, content: "", executable: false };
    lines.push(line);
    if (problem !== null) unread.push({ path: relative, reason: problem });
    if (kind === "symlink") line.content = target ?? "";
    else if (kind === "file" && info !== null) {
      line.executable = ((info.mode ?? 0) & 0o111) !== 0;
      files.push({ line, path, bytes: info.size });
    } else if (kind !== "directory" && problem === null) {
      unread.push({ path: relative, reason: `it is a ${kind}` });
    }
  }, { skip: (relative) => exclude.has(relative), signal: options.signal });
  if (problem !== null) throw new Error(`Cannot hash "${root}": it cannot be listed: ${problem}`);
  const { sha256, failed } = await runFileBatch({
    from: files.map((file) => file.path),
    bytes: files.map((file) => file.bytes),
    copy: null,
  }, options);
  for (const [index, { line }] of files.entries()) {
    line.content = sha256[index] ?? "";
    if (!failed.has(index)) continue;
    line.kind = "unreadable";
    unread.push({ path: line.path, reason: String(failed.get(index)) });
  }
  const count = (kind: string) => lines.filter((line) => line.kind === kind).length;
  return {
    sha256: hashTreeLines(lines),
    files: count("file"),
    directories: count("directory"),
    links: count("symlink"),
    bytes: files.reduce((sum, file) => sum + file.bytes, 0),
    unread,
  };
}

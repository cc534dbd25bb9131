/**
 * A bounded look at a project: which files there are, and what small text files say. Nothing is run,
 * no link is followed, and nothing that could block is opened.
 *
 * @module
 */
import { join } from "@std/path";

/** What is known about a project. */
export interface ProjectFacts {
  /** The folder, absolute. */
  readonly dir: string;
  /** Files relative to it, sorted; of a large project only a part. */
  readonly files: readonly string[];
  /** Text of a file; `null` when it is not there, too large, or no text. */
  text(path: string): string | null;
  /** Whether a file may be run as it is. */
  isExecutable(path: string): boolean;
}

/** Folders that hold nothing of the job itself. */
const SKIPPED: ReadonlySet<string> = new Set([
  ".git",
  ".hg",
  ".svn",
  "node_modules",
  ".venv",
  "venv",
  "__pycache__",
  "target",
  "vendor",
  ".cache",
  ".tox",
  ".mypy_cache",
  ".pytest_cache",
]);
const DEPTH_MAX = 4;
const FILES_MAX = 5000;
const TEXT_BYTES_MAX = 256 * 1024;

/** Looks at a project. Requires read for it. */
export function readProject(dir: string): ProjectFacts {
  const files: string[] = [];
  const folders: [path: string, depth: number][] = [["", 0]];
  for (let next = folders.shift(); next !== undefined; next = folders.shift()) {
    const [folder, depth] = next;
    for (const entry of entriesOf(join(dir, folder))) {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (entry.isFile && files.length < FILES_MAX) files.push(path);
      if (entry.isDirectory && depth < DEPTH_MAX && !SKIPPED.has(entry.name)) {
        folders.push([path, depth + 1]);
      }
    }
  }
  const texts = new Map<string, string | null>();
  return {
    dir,
    files: files.sort(),
    text(path) {
      const known = texts.get(path);
      if (known !== undefined) return known;
      const text = readSmallText(join(dir, path));
      texts.set(path, text);
      return text;
    },
    isExecutable: (path) => isExecutable(join(dir, path)),
  };
}

function entriesOf(folder: string): Deno.DirEntry[] {
  try {
    return [...Deno.readDirSync(folder)].sort((a, b) => a.name < b.name ? -1 : 1);
  } catch {
    return []; // A folder that may not be read holds nothing that could be proposed.
  }
}

function readSmallText(path: string): string | null {
  try {
    const info = Deno.lstatSync(path);
    if (!info.isFile || info.size > TEXT_BYTES_MAX) return null;
    const text = Deno.readTextFileSync(path);
    return text.includes("\0") ? null : text;
  } catch {
    return null;
  }
}

function isExecutable(path: string): boolean {
  try {
    const info = Deno.lstatSync(path);
    return info.isFile && ((info.mode ?? 0) & 0o100) !== 0;
  } catch {
    return false;
  }
}

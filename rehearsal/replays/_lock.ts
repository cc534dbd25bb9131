/**
 * A job's lock as the lab reads and changes it: a file, a folder with files in it, or a link whose
 * target holds the owner.
 *
 * @module
 */
import { dirname, join } from "@std/path";
import { makeLinks } from "../../lab/mod.ts";

/** One place that can hold the owner's number. */
interface Part {
  path: string;
  kind: "file" | "link";
  text: string;
}

/** A lock that is there. */
export interface Lock {
  kind: "file" | "folder" | "link" | "special";
  parts: Part[];
  /** What it holds, for evidence. */
  text: string;
}

const PART_BYTES_MAX = 64 * 1024;
const TEXT_CHARS_MAX = 200;

/** Reads a lock; `null` when there is none. */
export function readLock(path: string): Lock | null {
  let info: Deno.FileInfo;
  try {
    info = Deno.lstatSync(path);
  } catch {
    return null;
  }
  if (info.isSymlink) {
    return lockOf("link", [{ path, kind: "link", text: Deno.readLinkSync(path) }]);
  }
  if (info.isFile) return lockOf("file", [filePart(path)]);
  if (!info.isDirectory) return lockOf("special", []);
  const files = [...Deno.readDirSync(path)].filter((entry) => entry.isFile);
  return lockOf("folder", files.map((entry) => filePart(join(path, entry.name))));
}

function filePart(path: string): Part {
  const isSmall = Deno.statSync(path).size <= PART_BYTES_MAX;
  // One character for each byte, so that whatever else is in it stays as it is.
  const text = isSmall ? new TextDecoder("latin1").decode(Deno.readFileSync(path)) : "";
  return { path, kind: "file", text };
}

function lockOf(kind: Lock["kind"], parts: Part[]): Lock {
  const text = parts.map((part) => part.text.trim()).join(" ").slice(0, TEXT_CHARS_MAX);
  return { kind, parts, text: text === "" ? `an empty ${kind}` : text };
}

/** Which of these pids the lock names. */
export function ownersIn(lock: Lock, pids: readonly number[]): number[] {
  return pids.filter((pid) => lock.parts.some((part) => pidRegExp(pid).test(part.text)));
}

/** Puts another pid in place of the owner's. The age of the lock stays what it was. */
export async function replaceOwner(
  lock: Lock,
  from: readonly number[],
  to: number,
): Promise<void> {
  for (const part of lock.parts) {
    const text = from.reduce((done, pid) => done.replace(pidRegExp(pid), String(to)), part.text);
    if (text === part.text) continue;
    if (part.kind === "link") {
      await Deno.remove(part.path);
      await makeLinks([{ path: part.path, target: text }]);
      continue;
    }
    const { atime, mtime } = await Deno.stat(part.path);
    await Deno.writeFile(part.path, latin1(text));
    if (atime !== null && mtime !== null) await Deno.utime(part.path, atime, mtime);
  }
}

/** Plants a lock file out of a template in which `{pid}` stands for the owner. */
export function plantLock(path: string, template: string, pid: number): void {
  Deno.mkdirSync(dirname(path), { recursive: true });
  Deno.writeTextFileSync(path, template.replaceAll("{pid}", String(pid)));
}

/** The number alone, not as a part of a longer one or of a name. */
function pidRegExp(pid: number): RegExp {
  return new RegExp(`(?<![0-9A-Za-z])${pid}(?![0-9A-Za-z])`, "g");
}

function latin1(text: string): Uint8Array {
  return Uint8Array.from(text, (char) => char.charCodeAt(0));
}

/**
 * `evidence`: an exit code of 0 is a claim; files are the proof. Checks count, size, end mark, hash
 * and freshness of what a job had to leave, and, where something is missing, lets the job try once
 * more for just that, with everything that is good already kept byte for byte.
 *
 * @module
 */
import { basename, dirname, isGlob, join } from "@std/path";
import { type Clock, createLab, type Lab, systemClock } from "../lab/mod.ts";
import { moveAside } from "./_durable.ts";
import { ASIDE_FOLDER, listFiles } from "./_progress.ts";
import { lookAtFile, placeOf, type WholeRules } from "./_whole.ts";

/** Outputs that a finished job leaves. */
export interface Expectation {
  /** Glob or plain path, relative to the job's folder, or absolute. */
  glob: string;
  /** How many there have to be, exactly. @default {at least one} */
  count?: number | undefined;
}

/** What counts as evidence. */
export interface EvidenceRules extends WholeRules {
  /** The outputs that are expected. */
  expect: readonly Expectation[];
  /** Declared contents: SHA-256 by path. Each of these files is expected, too. */
  hashes?: ReadonlyMap<string, string> | undefined;
  /** Outputs must have been written after the job's start. */
  fresh?: boolean | undefined;
  /** Outputs must have another content than before the job's start. */
  newContent?: boolean | undefined;
  /** Folder of the job. @default {the folder of this process} */
  cwd?: string | undefined;
}

/** One output that is not as it has to be. */
export interface Shortcoming {
  /** A path; or the glob itself, when it is not known which of its files are missing. */
  path: string;
  /** Why it is not as it has to be. */
  why: string;
}

/** What was found. */
export interface EvidenceReport {
  /** Whether something was expected and all of it is there, whole. */
  isProven: boolean;
  /** What is not as it has to be. */
  missing: Shortcoming[];
  /** Outputs that are as they have to be, by path, with their SHA-256. */
  good: Map<string, string>;
}

/** A file as it was before the job. */
export interface FileBefore {
  /** Last change, milliseconds since the epoch. */
  mtimeMs: number;
  /** Its size. */
  bytes: number;
  /** Its number in the file system, where there is one. */
  inode: number | null;
  /** SHA-256 of its content; `null` when it could not be read. */
  sha256: string | null;
}

/** What was there before the job started; without it, nothing can be called fresh. */
export interface StartingPoint {
  /** Wall-clock milliseconds since the epoch. */
  startedMs: number;
  /** Files that were there, by path. */
  files: Map<string, FileBefore>;
}

/** Clocks of file systems are coarser than ours: a file may look this much older than it is. */
const FILE_CLOCK_MS = 50;

/** Looks at what is there before the job starts. */
export function noteStart(rules: EvidenceRules, clock: Clock = systemClock): StartingPoint {
  const cwd = rules.cwd ?? Deno.cwd();
  const startedMs = clock.wallMs();
  const files = new Map<string, FileBefore>();
  if (!rules.fresh && !rules.newContent) return { startedMs, files };
  for (const file of listFiles(allGlobs(rules), cwd)) {
    const { sha256 } = lookAtFile(file.path, cwd);
    const { mtimeMs, bytes, inode } = file;
    files.set(file.path, { mtimeMs, bytes, inode, sha256 });
  }
  return { startedMs, files };
}

function allGlobs(rules: EvidenceRules): string[] {
  return [...rules.expect.map((each) => each.glob), ...(rules.hashes?.keys() ?? [])];
}

/** Compares the disk with what has to be there. Changes nothing. */
export function checkEvidence(rules: EvidenceRules, start?: StartingPoint): EvidenceReport {
  const cwd = rules.cwd ?? Deno.cwd();
  const missing = new Map<string, string>();
  const good = new Map<string, string>();
  const judge = (path: string, inode: number | null) => {
    if (good.has(path) || missing.has(path)) return good.has(path);
    const sha256 = rules.hashes?.get(path) ?? rules.sha256;
    const look = lookAtFile(path, cwd, { ...rules, sha256 });
    const why = look.problem ?? staleness(path, { ...look, inode }, rules, start);
    if (why !== null) missing.set(path, why);
    else good.set(path, look.sha256 ?? "");
    return why === null;
  };
  for (const { glob, count } of rules.expect) {
    const files = listFiles([glob], cwd);
    const whole = files.filter((file) => judge(file.path, file.inode)).length;
    const wanted = count ?? Math.max(1, files.length);
    if (files.length > wanted) missing.set(glob, `there are ${files.length}, not ${wanted}`);
    else if (whole < wanted && files.length < wanted) {
      missing.set(glob, isGlob(glob) ? `${files.length} of ${wanted} are there` : "it is absent");
    }
  }
  for (const path of rules.hashes?.keys() ?? []) {
    judge(path, listFiles([path], cwd)[0]?.inode ?? null);
  }
  return {
    isProven: missing.size === 0 && good.size > 0,
    missing: [...missing].map(([path, why]) => ({ path, why })),
    good,
  };
}

function staleness(
  path: string,
  now: FileBefore,
  rules: EvidenceRules,
  start: StartingPoint | undefined,
): string | null {
  if (!rules.fresh && !rules.newContent) return null;
  if (start === undefined) return "nothing is known of the time before the job";
  const before = start.files.get(path);
  if (rules.newContent && before !== undefined && before.sha256 === now.sha256) {
    return "it has the same content as before the job";
  }
  if (!rules.fresh) return null;
  if (now.mtimeMs < start.startedMs - FILE_CLOCK_MS) return "it is older than this run";
  // A time in the future makes an old file look new; that nothing about it changed shows it is not.
  const isUnchanged = before !== undefined && before.mtimeMs === now.mtimeMs &&
    before.bytes === now.bytes && before.inode === now.inode;
  return isUnchanged ? "it was not written by this run" : null;
}

/** How to prove or redo. */
export interface ProveOptions {
  /** What counts as evidence. */
  rules: EvidenceRules;
  /**
   * Does the work, or with `missing` only that part of it. Gives `false` when it failed by its own
   * account; then nothing is tried again.
   */
  run: (attempt: { number: number; missing: readonly string[] }) => Promise<boolean>;
  /** Fresh attempts for what is missing. @default {0} */
  retries?: number | undefined;
  /** Gets messages for a person. */
  say?: ((message: string) => void) | undefined;
  /** The clock to go by. */
  clock?: Clock | undefined;
}

/** How it ended. */
export interface ProveResult extends EvidenceReport {
  /** Attempts that were made. */
  attempts: number;
  /** Whether the last attempt failed by its own account. */
  hasFailed: boolean;
  /** Hollow outputs that were moved out of the way. */
  setAside: string[];
  /** Good outputs that an attempt changed and that were put back as they were. */
  putBack: string[];
}

/**
 * Runs the work, checks what it left, and where that falls short moves the hollow outputs out of
 * the way and runs it again for what is missing. Outputs that were good before a further attempt
 * are byte for byte the same after it: one that the attempt changed or removed is put back.
 */
export async function proveOrRedo(options: ProveOptions): Promise<ProveResult> {
  const { rules, say } = options;
  const start = noteStart(rules, options.clock);
  const setAside: string[] = [];
  const putBack: string[] = [];
  let report: EvidenceReport | null = null;
  for (let number = 1;; number++) {
    const names = (report?.missing ?? []).map((each) => each.path);
    await using backup = report && await Backup.make(report.good, rules.cwd ?? Deno.cwd());
    const isDone = await options.run({ number, missing: names });
    putBack.push(...backup?.restore() ?? []);
    report = checkEvidence(rules, start);
    const result = { ...report, attempts: number, hasFailed: !isDone, setAside, putBack };
    if (!isDone || report.isProven) return result;
    say?.(describeMissing(report));
    if (number > (options.retries ?? 0)) return result;
    setAside.push(...setHollowAside(report, rules.cwd ?? Deno.cwd()));
    say?.(`Attempt ${number + 1} of ${(options.retries ?? 0) + 1}, for what is missing only.`);
  }
}

/** What is missing, as one message. */
export function describeMissing(report: EvidenceReport): string {
  if (report.missing.length === 0) return "Nothing was declared that could be found.";
  const lines = report.missing.map(({ path, why }) => `  ${path}: ${why}`);
  return `The job reports success, but the evidence is missing:\n${lines.join("\n")}`;
}

/** A job that skips what is there must not skip what is hollow. */
function setHollowAside(report: EvidenceReport, cwd: string): string[] {
  return report.missing.flatMap(({ path }) => {
    const place = placeOf(path, cwd);
    if (isGlob(path) || !isFileOrLink(place)) return [];
    const folder = join(dirname(place), ASIDE_FOLDER);
    Deno.mkdirSync(folder, { recursive: true });
    return [moveAside(place, join(folder, `${basename(place)}-`))];
  });
}

function isFileOrLink(place: string): boolean {
  try {
    return !Deno.lstatSync(place).isDirectory;
  } catch {
    return false;
  }
}

/** Copies of good outputs, for the time of one attempt. */
class Backup implements AsyncDisposable {
  /** A lab: should we be killed, a later start of the program removes it. */
  readonly #lab: Lab;
  readonly #copies: { path: string; place: string; copy: string; sha256: string }[] = [];

  private constructor(lab: Lab) {
    this.#lab = lab;
  }

  static async make(good: ReadonlyMap<string, string>, cwd: string): Promise<Backup> {
    const backup = new Backup(await createLab());
    for (const [path, sha256] of good) {
      const copy = join(backup.#lab.root, String(backup.#copies.length));
      const place = placeOf(path, cwd);
      await Deno.copyFile(place, copy);
      const info = await Deno.stat(place);
      if (info.mtime !== null) await Deno.utime(copy, info.atime ?? info.mtime, info.mtime);
      backup.#copies.push({ path, place, copy, sha256 });
    }
    return backup;
  }

  /** Puts back what is not as it was. Gives the paths. */
  restore(): string[] {
    return this.#copies.flatMap(({ path, place, copy, sha256 }) => {
      if (lookAtFile(place, "/").sha256 === sha256) return [];
      Deno.mkdirSync(dirname(place), { recursive: true });
      // A link at this place would carry the write somewhere else.
      if (isFileOrLink(place)) Deno.removeSync(place);
      Deno.copyFileSync(copy, place);
      const { atime, mtime } = Deno.statSync(copy);
      if (mtime !== null) Deno.utimeSync(place, atime ?? mtime, mtime);
      return [path];
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#lab.remove();
  }
}

/**
 * Reads a list as `sha256sum` prints it: 64 hexadecimal digits, a blank, a blank or `*`, a path.
 *
 * @throws {SyntaxError} At the first line that is not of that form.
 */
export function parseHashList(text: string): Map<string, string> {
  const hashes = new Map<string, string>();
  for (const [index, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    const match = /^([0-9a-fA-F]{64}) [ *](.+)$/.exec(line);
    if (match === null) {
      throw new SyntaxError(
        `Cannot read the list of hashes: line ${index + 1} is not "SHA-256, two blanks, path"`,
      );
    }
    hashes.set((match[2] ?? "").replace(/^(\.\/)+/, ""), (match[1] ?? "").toLowerCase());
  }
  return hashes;
}

/**
 * The disposable copy of the user's project: everything that the job may need, and nothing that
 * leads back to the real one.
 *
 * - Credential files stay behind ({@linkcode CREDENTIAL_GROUPS}); so does what the user names.
 * - Links that lead out are left out; there is no placeholder in their place, because a job that
 *   needs one must fail in the control run and not half-way. So is a `.git` file that names a folder
 *   outside (a worktree): git would write to the real repository.
 * - Links that stay inside are kept; absolute ones become relative to the copy.
 * - Fifos, sockets and devices are recorded and never opened. Holes of sparse files stay holes.
 * - Modes and times are kept. Files that git ignores are copied: the job may need them.
 *
 * @module
 */
import { basename, dirname, globToRegExp, resolve } from "@std/path";
import { type KnownFile, LAB_PREFIX } from "../lab/mod.ts";
import { CREW_FILES_MIN } from "../lab/file_batch.ts";
import { openFileCrew } from "../lab/file_crew.ts";
import { hashText, hashTreeLines, type TreeLine } from "../lab/hash.ts";
import { isWithin } from "../lab/resolve_inside.ts";
import {
  addToPlan,
  carryOut,
  type CloneOptions,
  emptyPlan,
  reportOf,
  type SkippedEntry,
  type TreeCopyReport,
  type TreePlan,
} from "../lab/tree_copy.ts";
import { type WalkEntry, walkTree } from "../lab/walk.ts";
import { credentialGroupOf } from "./_credentials.ts";
import { gitFileFate, linkInCopy } from "./_project_links.ts";

export { CREDENTIAL_GROUPS, type CredentialGroup, credentialLines } from "./_credentials.ts";
export { cloneTree, type SkippedEntry, type SkipReason } from "../lab/tree_copy.ts";

/** What to copy, and where to. */
export interface CopyOptions extends CloneOptions {
  /** The project's folder, absolute. */
  from: string;
  /** Where the copy comes to be: below a lab, where nothing is yet. Absolute. */
  to: string;
  /** Root of the lab. @default {the folder above `to` that is named like a lab} */
  labRoot?: string;
  /** Globs relative to the project of what stays behind; a name without `/` counts at any depth. */
  leaveBehind?: readonly string[];
  /** The same, of credential files that the job needs and may have. */
  keep?: readonly string[];
  /** Absolute paths that are left out when they lie in the project: the report folder, the lab. */
  exclude?: readonly string[];
  /** Whether to hash every file on the way. @default {true} */
  hash?: boolean;
}

/** What was copied. */
export interface CopyReport extends TreeCopyReport {
  /** Hash of the copy as `hashTree()` gives it; `null` when no hash was wanted. */
  sha256: string | null;
  /** Every file of the copy with its SHA-256; empty when no hash was wanted. */
  manifest: { path: string; sha256: string }[];
  /** The files of the project that were read and hashed, by absolute path. */
  read: Map<string, KnownFile>;
}

/**
 * Copies the project into a lab.
 *
 * Requires read for `from`, write for `to`, and, where rights are narrowed to paths and the project
 * has links, the right to run `sh` (see lab/links.ts).
 *
 * @throws {RangeError} When `to` is not below a lab, or `from` lies in it.
 * @throws {Deno.errors.AlreadyExists} When something is at `to`.
 * @throws {Error} When the project cannot be listed.
 * @throws {EnvironmentError} When the disk cannot take the copy.
 * @throws The signal's reason when it is aborted.
 */
export async function copyProject(options: CopyOptions): Promise<CopyReport> {
  const startMs = performance.now();
  using own = openFileCrew();
  const crew = options.crew ?? own;
  const { to } = options;
  const from = realFolder(options.from);
  const labRoot = labRootOf(options);
  const plan = emptyPlan(from);
  const rewritten = new Map<string, string>();
  const exclusion = new Exclusion(from, {
    ...options,
    exclude: [...options.exclude ?? [], labRoot],
  });
  const problem = await walkTree(from, (entry) => {
    if (!addLink(plan, from, entry) && !addGitFile(plan, from, entry, rewritten)) {
      addToPlan(plan, entry);
    }
    if (plan.files.length === CREW_FILES_MIN) crew.warm();
  }, {
    signal: options.signal,
    skip: (relative) => {
      const skipped = exclusion.reasonFor(relative);
      if (skipped !== null) plan.skipped.push(skipped);
      return skipped !== null;
    },
  });
  if (problem !== null) {
    throw new Error(`Cannot copy the project "${from}": it cannot be listed: ${problem}`);
  }
  const digests = await carryOut(plan, from, to, {
    ...options,
    crew,
    wantsHash: options.hash !== false,
    onFilesCopied: () => rewritten.forEach((text, path) => rewrite(`${to}/${path}`, text)),
  });
  const read = new Map<string, KnownFile>();
  for (const { path, info } of plan.files) {
    const sha256 = digests.get(path);
    if (sha256 !== undefined) read.set(`${from}/${path}`, { sha256, info });
  }
  for (const [path, text] of rewritten) {
    if (digests.has(path)) digests.set(path, hashText(text));
  }
  const manifest = plan.files.flatMap(({ path }) => {
    const sha256 = digests.get(path);
    return sha256 === undefined ? [] : [{ path, sha256 }];
  });
  const sha256 = options.hash === false ? null : hashTreeLines(linesOf(plan, digests));
  return { ...reportOf(plan, startMs), sha256, manifest, read };
}

/** Whether the entry is a link; it is then in the plan or among the skipped. */
function addLink(plan: TreePlan, from: string, entry: WalkEntry): boolean {
  const text = entry.target;
  if (text === null) return false;
  const target = linkInCopy(from, entry.relative, text);
  if (target !== null) addToPlan(plan, entry, target);
  else {
    const detail = `it leads to "${text}", outside the project`;
    plan.skipped.push({ path: entry.relative, reason: "link-out", detail });
  }
  return true;
}

/** Whether the entry is a `.git` file that leads out; one to be rewritten is noted. */
function addGitFile(
  plan: TreePlan,
  from: string,
  { kind, relative }: WalkEntry,
  rewritten: Map<string, string>,
): boolean {
  if (kind !== "file" || basename(relative) !== ".git") return false;
  const fate = gitFileFate(from, relative);
  if (fate === "link-out") {
    const detail = "it names a git folder outside the project, to which git would write";
    plan.skipped.push({ path: relative, reason: "link-out", detail });
    return true;
  }
  if (fate !== "keep") rewritten.set(relative, fate.rewritten);
  return false;
}

function rewrite(path: string, text: string): void {
  const { mode, mtime } = Deno.lstatSync(path);
  Deno.removeSync(path);
  Deno.writeTextFileSync(path, text, { createNew: true });
  if (mode !== null) Deno.chmodSync(path, mode & 0o7777);
  if (mtime !== null) Deno.utimeSync(path, mtime, mtime);
}

function linesOf(plan: TreePlan, digests: ReadonlyMap<string, string>): TreeLine[] {
  const line = (path: string, kind: string, content = "", mode = 0): TreeLine => ({
    path,
    kind,
    content,
    executable: (mode & 0o111) !== 0,
  });
  return [
    ...plan.directories.map(({ path }) => line(path, "directory")),
    ...plan.files.map(({ path, info }) =>
      line(path, "file", digests.get(path) ?? "", info.mode ?? 0)
    ),
    ...plan.links.map(({ path, target }) => line(path, "symlink", target)),
  ];
}

function realFolder(path: string): string {
  try {
    return Deno.realPathSync(path);
  } catch (error) {
    throw new Error(`Cannot copy the project "${path}": it is not a folder that can be read`, {
      cause: error,
    });
  }
}

/** The real root of the lab in which `to` will be. */
function labRootOf({ to, labRoot }: CopyOptions): string {
  const parent = dirname(resolve(to));
  const parts = parent.split("/");
  const at = parts.findLastIndex((part) => part.startsWith(LAB_PREFIX));
  const root = labRoot ?? (at < 0 ? null : parts.slice(0, at + 1).join("/"));
  const real = root === null ? null : Deno.realPathSync(root);
  if (real === null || !isWithin(real, Deno.realPathSync(parent))) {
    throw new RangeError(
      `Cannot copy a project to "${to}": it must be below the folder of a lab` +
        (root === null ? `, whose name begins with "${LAB_PREFIX}"` : ` ("${root}")`),
    );
  }
  return real;
}

/** Decides by name what stays behind. */
class Exclusion {
  readonly #from: string;
  readonly #paths: ReadonlySet<string>;
  readonly #leaveBehind: readonly GlobRule[];
  readonly #keep: readonly GlobRule[];

  constructor(from: string, options: Pick<CopyOptions, "exclude" | "leaveBehind" | "keep">) {
    this.#from = from;
    this.#paths = new Set((options.exclude ?? []).flatMap((path) => [resolve(path), real(path)]));
    this.#leaveBehind = (options.leaveBehind ?? []).map(globRule);
    this.#keep = (options.keep ?? []).map(globRule);
    if ([...this.#paths].some((path) => isWithin(path, from))) {
      throw new RangeError(
        `Cannot copy the project "${from}": it lies in a folder that is to be left out (the lab or ` +
          "the report folder). Choose another place for these",
      );
    }
  }

  reasonFor(relative: string): SkippedEntry | null {
    const path = `${this.#from}/${relative}`;
    if (this.#paths.has(path)) {
      return { path: relative, reason: "left-behind", detail: "it belongs to this run" };
    }
    const rule = this.#leaveBehind.find((each) => each.matches(relative));
    if (rule !== undefined) {
      return { path: relative, reason: "left-behind", detail: `leaveBehind: "${rule.glob}"` };
    }
    const group = credentialGroupOf(relative, path);
    if (group === null || this.#keep.some((each) => each.matches(relative))) return null;
    return { path: relative, reason: "credential", detail: group.what };
  }
}

interface GlobRule {
  glob: string;
  matches: (relative: string) => boolean;
}

function globRule(glob: string): GlobRule {
  const clean = glob.replace(/^\.\//, "").replace(/\/+$/, "");
  const pattern = globToRegExp(clean, { globstar: true, extended: true });
  const isName = !clean.includes("/");
  return {
    glob,
    matches: (relative) => pattern.test(isName ? basename(relative) : relative),
  };
}

function real(path: string): string {
  try {
    return Deno.realPathSync(path);
  } catch {
    return resolve(path); // Not there yet, or not ours to look at.
  }
}

/**
 * `allowlist`: a job may write where it was allowed to, and nowhere else. What it changed elsewhere
 * in its folder is put back byte for byte from a copy taken before; what it did in allowed places
 * is kept.
 *
 * Paths are compared after links are resolved, never as text. Nothing outside the folder is
 * written, except in places that were declared as protected, each from a copy of its own. One path
 * in a record that is absolute, holds `..` or leads out through a link stops the whole revert
 * before the first byte.
 *
 * It sees what is different afterwards. A job that changes a file and changes it back was not seen,
 * and neither was what happened in places that nobody declared.
 *
 * @module
 */
import { dirname, join, resolve } from "@std/path";
import {
  checkScope,
  type Clock,
  compareSnapshots,
  type ContainmentChange,
  createLab,
  isWithin,
  type Lab,
  resolveInside,
  revert,
  type ScopeViolation,
  snapshotWatchList,
  systemClock,
  type WatchRoot,
  type WatchSnapshot,
} from "../lab/mod.ts";
import { copyPlace } from "./_place_copy.ts";
import { runJob, type RunResult, type WrappedJob } from "./_run.ts";
import { RepairError } from "./errors.ts";

/** Exit code when a watched place outside changed and was not put back. */
export const SCOPE_BROKEN_EXIT = 5;

/** The scope of a job. */
export interface ScopeOptions {
  /** The job's folder. */
  root: string;
  /**
   * Paths or globs, relative to the root, that the job may change; a folder allows all below it.
   */
  allow: readonly string[];
  /** Places outside that are watched: a change is told, and nothing else. */
  watch?: readonly string[] | undefined;
  /**
   * Places outside that are put back as they were. `.git` folders in them are left alone: a linked
   * work tree keeps its own commits there.
   */
  protect?: readonly string[] | undefined;
  /** Keep what was reverted in this folder, which must be in an allowed place or outside. */
  keepDir?: string | undefined;
}

/** What was found in one folder, and what was done about it. */
export interface ScopePart {
  /** The folder: the root, or a protected place. */
  root: string;
  /** What the job did outside its scope. */
  violations: ScopeViolation[];
  /** Paths that are again as they were. */
  restored: string[];
  /** Paths that had not been there and are gone again. */
  removed: string[];
  /** Why it was not reverted, or not all of it; `null` when all was. */
  refused: string | null;
}

/** What was found in all places. */
export interface ScopeFindings {
  /**
   * `clean`: nothing outside the scope changed. `reverted`: it did, and all of it is as before.
   * `outside-changed`: a watched place changed and was not put back. `refused`: a revert would not
   * have been safe. `not-known`: some of it could not be looked at.
   */
  outcome: "clean" | "reverted" | "outside-changed" | "refused" | "not-known";
  /** The root first, then the protected places. */
  parts: ScopePart[];
  /** Changes in watched places. */
  outside: ContainmentChange[];
  /** What could not be looked at. */
  notSeen: string[];
}

interface Place {
  root: string;
  allow: readonly string[];
  /** Where the copy is. */
  copyDir: string;
  watch: WatchRoot;
  /** Absolute paths in it that are left out of every look. */
  exclude: readonly string[];
  before: WatchSnapshot;
}

/** A scope that is being watched. Dispose of it on every path: it holds copies. */
export class ScopeGuard implements AsyncDisposable {
  readonly #lab: Lab;
  readonly #options: ScopeOptions;
  readonly #places: Place[];
  readonly #watched: WatchRoot[];
  readonly #before: WatchSnapshot;

  private constructor(
    lab: Lab,
    options: ScopeOptions,
    places: Place[],
    watched: WatchRoot[],
    before: WatchSnapshot,
  ) {
    this.#lab = lab;
    this.#options = options;
    this.#places = places;
    this.#watched = watched;
    this.#before = before;
  }

  /**
   * Looks at everything and copies what may have to be put back. The copies lie in a private folder
   * under the system temp dir.
   *
   * @throws {RangeError} When an allowed path is absolute, holds `..`, or leads out through a link.
   * @throws {RepairError} When a place cannot be copied whole.
   */
  static async open(options: ScopeOptions): Promise<ScopeGuard> {
    const root = await Deno.realPath(options.root);
    const lab = await createLab();
    try {
      const protect = (options.protect ?? []).map((path) => resolve(path));
      const places: Place[] = [];
      for (const path of [root, ...protect]) {
        const isOwn = path === root;
        places.push(
          await takePlace(path, join(lab.root, `copy-${places.length}`), {
            allow: isOwn ? options.allow : [],
            ignore: isOwn ? [] : [".git"],
            exclude: isOwn ? protect : [root],
          }),
        );
      }
      const own = places[0]?.before;
      if (own !== undefined) checkScope({ root, allowed: options.allow, before: own, after: own });
      const watched = [
        ...(options.watch ?? []).map((path) => resolve(path)),
        ...(own === undefined ? [] : linkTargets(root, own)),
      ].filter((path) => !protect.some((each) => isWithin(each, path)))
        .map((path): WatchRoot => ({ path, depth: "full" }));
      const before = await snapshotWatchList(watched, { exclude: [root, lab.root] });
      return new ScopeGuard(lab, options, places, watched, before);
    } catch (error) {
      await lab.remove();
      throw error;
    }
  }

  /** Looks again, says what changed outside the scope, and puts it back. Nobody may write now. */
  async settle(): Promise<ScopeFindings> {
    const parts: ScopePart[] = [];
    const notSeen: string[] = [];
    for (const place of this.#places) {
      const after = await snapshotWatchList([place.watch], { exclude: place.exclude });
      notSeen.push(...[...place.before.roots, ...after.roots]
        .flatMap((report) => report.incomplete ?? []));
      parts.push(await this.#settlePlace(place, after));
    }
    const exclude = { exclude: [this.#places[0]?.root ?? "", this.#lab.root] };
    const outside = compareSnapshots(this.#before, await snapshotWatchList(this.#watched, exclude));
    const hasChanges = parts.some((part) => part.violations.length > 0);
    const outcome = parts.some((part) => part.refused !== null)
      ? "refused"
      : outside.length > 0
      ? "outside-changed"
      : notSeen.length > 0
      ? "not-known"
      : hasChanges
      ? "reverted"
      : "clean";
    return { outcome, parts, outside, notSeen: [...new Set(notSeen)] };
  }

  async #settlePlace(place: Place, after: WatchSnapshot): Promise<ScopePart> {
    const { root, before, copyDir: backupDir } = place;
    const violations = checkScope({ root, allowed: place.allow, before, after });
    const part = { root, violations, restored: [], removed: [], refused: null };
    if (violations.length === 0) return part;
    this.#keep(root, violations);
    try {
      return { ...part, ...await revert({ root, backupDir, before, violations }) };
    } catch (error) {
      // Refused as a whole, or a disk that could not take a file: either way it is not as before.
      return { ...part, refused: error instanceof Error ? error.message : String(error) };
    }
  }

  /** Copies of plain files that are about to be reverted, for whoever wants to carry them over. */
  #keep(root: string, violations: readonly ScopeViolation[]): void {
    const { keepDir } = this.#options;
    if (keepDir === undefined) return;
    for (const { path } of violations) {
      const full = join(root, path);
      if (!resolveInside(root, path).inside || !isPlainFile(full)) continue;
      const target = join(resolve(keepDir), root.slice(1), path);
      Deno.mkdirSync(dirname(target), { recursive: true });
      Deno.copyFileSync(full, target);
    }
  }

  /** The private folder with the copies. */
  get copiesDir(): string {
    return this.#lab.root;
  }

  /** Removes the copies. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#lab.remove();
  }
}

function isPlainFile(path: string): boolean {
  try {
    return Deno.lstatSync(path).isFile;
  } catch {
    return false;
  }
}

async function takePlace(
  path: string,
  copyDir: string,
  rules: { allow: readonly string[]; ignore: string[]; exclude: string[] },
): Promise<Place> {
  const isFile = isPlainFile(path);
  const root = isFile ? dirname(path) : await realFolder(path);
  const watch: WatchRoot = { path: isFile ? path : root, depth: "full", ignore: rules.ignore };
  const exclude = rules.exclude.filter((each) => each !== path && isWithin(root, each));
  const before = await snapshotWatchList([watch], { exclude });
  await copyPlace(root, copyDir, isFile ? path.slice(root.length + 1) : null, {
    ignore: rules.ignore,
    exclude,
  });
  return { root, allow: rules.allow, copyDir, watch, exclude, before };
}

async function realFolder(path: string): Promise<string> {
  try {
    const real = await Deno.realPath(path);
    if ((await Deno.stat(real)).isDirectory) return real;
  } catch {
    // Said below.
  }
  throw new RepairError(
    `Cannot protect "${path}": it must be a file or a folder that is there. Nothing was started`,
  );
}

/** Most links whose targets are watched without being asked for. */
const LINKS_WATCHED_MAX = 20;

/** Places outside to which a link in the root leads: what is written through it lands there. */
function linkTargets(root: string, before: WatchSnapshot): string[] {
  const targets = new Set<string>();
  for (const [path, entry] of before.entries) {
    if (entry.kind !== "symlink" || targets.size >= LINKS_WATCHED_MAX) continue;
    const real = resolveInside(root, path);
    if (!real.inside && real.realPath !== "/") targets.add(real.realPath);
  }
  return [...targets];
}

/** A job and its scope. */
export interface RunInScopeOptions extends ScopeOptions, WrappedJob {
  /** The clock to go by. */
  clock?: Clock | undefined;
}

/** How it ended. */
export interface RunInScopeResult extends Omit<ScopeFindings, "outcome"> {
  /** As for the findings; `still-running` when processes of the job outlive it. */
  outcome: ScopeFindings["outcome"] | "still-running";
  /** That of the job when all is clean or reverted; 5 or 3 otherwise. */
  exitCode: number;
  /** The job, as it ran. */
  job: RunResult;
}

/**
 * Runs a job, then puts back what it changed outside its scope.
 *
 * While processes of the job still run, nothing is reverted: they would write again.
 */
export async function runInScope(options: RunInScopeOptions): Promise<RunInScopeResult> {
  const clock = options.clock ?? systemClock;
  await using guard = await ScopeGuard.open(options);
  const job = await runJob({ ...options, clock, looksAfter: true });
  if (job.left.length > 0) {
    const names = job.left.map((each) => `${each.name} (pid ${each.pid})`).join(", ");
    options.say?.(
      `The job left running: ${names}. Nothing was compared or reverted, because they may still ` +
        "write. End them, or run the job under: failure-lab repair deadline",
    );
    return { outcome: "still-running", exitCode: 3, parts: [], outside: [], notSeen: [], job };
  }
  const findings = await guard.settle();
  for (const line of describeFindings(findings)) options.say?.(line);
  const exitCode = findings.outcome === "outside-changed"
    ? SCOPE_BROKEN_EXIT
    : findings.outcome === "refused" || findings.outcome === "not-known"
    ? 3
    : job.exitCode;
  return { ...findings, exitCode, job };
}

/** What was found, as messages for a person. */
export function describeFindings(findings: ScopeFindings): string[] {
  return [
    ...findings.parts.flatMap((part) => [
      ...part.violations.map(({ path, kind, realPath }) =>
        `Outside the scope: ${join(part.root, path)} (${kind}${
          kind === "link-out" || kind === "swapped-for-link" ? `, to ${realPath}` : ""
        }).`
      ),
      ...(part.refused === null ? [] : [part.refused]),
      ...(part.violations.length > 0 && part.refused === null
        ? [`Put back ${part.restored.length}, removed ${part.removed.length} in "${part.root}".`]
        : []),
    ]),
    ...findings.outside.map(({ path, change }) =>
      `Changed outside, and not put back: ${path} (${change}). To have it put back: --protect`
    ),
    ...findings.notSeen.map((what) => `Not known: ${what}.`),
  ];
}

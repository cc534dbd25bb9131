/**
 * The scope of a job: which paths it may change, what it changed elsewhere, and putting that back
 * without ever following a link out.
 *
 * @module
 */
import { globToRegExp } from "@std/path";
import { changeOf } from "./containment_compare.ts";
import type { WatchEntry, WatchSnapshot } from "./containment.ts";
import { isWithin, resolveInside } from "./resolve_inside.ts";

export * from "./resolve_inside.ts";
export * from "./revert.ts";

/** Something that a job did outside its scope. */
export interface ScopeViolation {
  /** Relative to the root; absolute for `outside-root`. */
  path: string;
  /** Where it really is, links resolved; for a link, where it leads. */
  realPath: string;
  /**
   * `outside-allowlist`: inside the root, but not allowed. `outside-root`: elsewhere. `link-out`: a
   * new or changed link that leads out of the root, even where links may be made.
   * `swapped-for-link`: a link stands where a file or folder was.
   */
  kind: "outside-allowlist" | "outside-root" | "link-out" | "swapped-for-link";
}

/** What is compared against what. */
export interface ScopeCheck {
  /** The job's folder, absolute. */
  root: string;
  /**
   * Paths or globs relative to the root. A path that names a folder allows all below it; so does a
   * glob that matches one.
   */
  allowed: readonly string[];
  /** The look at the root from before the job. */
  before: WatchSnapshot;
  /** The look at the same root from after the job. */
  after: WatchSnapshot;
}

/**
 * Compares two looks at a tree (see `snapshotWatchList()`) and says which changes were outside the
 * scope. Paths are compared part by part after links are resolved, never as text.
 *
 * Requires read for the root.
 *
 * @returns Sorted by path; empty when everything that changed was allowed.
 * @throws {RangeError} When an allowed path is absolute, holds `..`, or leads out through a link.
 */
export function checkScope(check: ScopeCheck): ScopeViolation[] {
  const { before, after } = check;
  const root = check.root.length > 1 ? check.root.replace(/\/+$/, "") : check.root;
  const bases = [root, Deno.realPathSync(root)];
  const rules = check.allowed.map((allowed) => allowRule(root, allowed));
  const violations: ScopeViolation[] = [];
  for (const path of new Set([...before.entries.keys(), ...after.entries.keys()])) {
    const old = before.entries.get(path);
    const now = after.entries.get(path);
    if (bases.includes(path) || changeOf(old, now) === null) continue;
    const base = bases.find((each) => isWithin(each, path));
    if (base === undefined) {
      violations.push({ path, realPath: path, kind: "outside-root" });
      continue;
    }
    const relative = path.slice(base === "/" ? 1 : base.length + 1);
    const found = judge(root, relative, rules, old, now);
    if (found !== null) violations.push({ path: relative, ...found });
  }
  return violations.sort((a, b) => a.path < b.path ? -1 : 1);
}

function judge(
  root: string,
  relative: string,
  rules: readonly AllowRule[],
  old: WatchEntry | undefined,
  now: WatchEntry | undefined,
): Omit<ScopeViolation, "path"> | null {
  const isLink = now?.kind === "symlink";
  // What is gone has no real place; asked now, a link in place of its folder would give a wrong one.
  const real = now === undefined
    ? { inside: true, realPath: `${Deno.realPathSync(root)}/${relative}` }
    : resolveInside(root, relative);
  const isSwapped = isLink && (old?.kind === "file" || old?.kind === "directory");
  const isAllowed = rules.some((rule) => rule.allows(relative)) ||
    // A folder on the way to what is allowed has to be made first.
    (old === undefined && now?.kind === "directory" &&
      rules.some((rule) => rule.leadsBy(relative)));
  if (isLink && !real.inside) {
    return { realPath: real.realPath, kind: isSwapped ? "swapped-for-link" : "link-out" };
  }
  if (isAllowed) return null;
  return { realPath: real.realPath, kind: isSwapped ? "swapped-for-link" : "outside-allowlist" };
}

interface AllowRule {
  /** Whether the path, or a folder above it, is allowed. */
  allows: (relative: string) => boolean;
  /** Whether the path is a folder on the way to what is allowed. */
  leadsBy: (relative: string) => boolean;
}

function allowRule(root: string, allowed: string): AllowRule {
  const parts = allowed.split("/").filter((part) => part !== "" && part !== ".");
  if (allowed.startsWith("/") || parts.includes("..") || allowed.includes("\0")) {
    throw new RangeError(
      `Cannot allow "${allowed}": it must be relative to "${root}" and without ".."`,
    );
  }
  const isPlain = (part: string) => !/[*?[\]{}()!+@|\\]/.test(part);
  const firstGlob = parts.findIndex((part) => !isPlain(part));
  const fixed = firstGlob < 0 ? parts : parts.slice(0, firstGlob);
  const { inside, realPath } = resolveInside(root, fixed.join("/"));
  if (!inside) {
    throw new RangeError(
      `Cannot allow "${allowed}": a link leads from it to "${realPath}", outside "${root}"`,
    );
  }
  const pattern = parts.length === 0
    ? /^/
    : globToRegExp(parts.join("/"), { globstar: true, extended: true });
  const above = (relative: string) => {
    const own = relative.split("/");
    return own.map((_, at) => own.slice(0, at + 1).join("/"));
  };
  return {
    allows: (relative) => parts.length === 0 || above(relative).some((path) => pattern.test(path)),
    leadsBy: (relative) => {
      const own = relative.split("/");
      return own.every((part, at) => {
        // Beyond a "**" any folder may be on the way.
        if (parts.slice(0, at + 1).includes("**")) return true;
        const rule = parts[at];
        return rule !== undefined &&
          globToRegExp(rule, { globstar: true, extended: true }).test(part);
      });
    },
  };
}

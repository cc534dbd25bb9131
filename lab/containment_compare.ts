/**
 * The difference between two looks at the watch list.
 *
 * @module
 */
import type { WatchEntry, WatchSnapshot } from "./containment.ts";
import { isWithin } from "./resolve_inside.ts";

/** A change of something that a run must not touch. The run record holds these. */
export interface ContainmentChange {
  /** Absolute path of what changed. */
  path: string;
  /** `unknown`: it cannot be told whether it changed, which is never the same as "clean". */
  change: "added" | "removed" | "modified" | "kind" | "mode" | "unknown";
  /** In a few words, such as `file, 120 bytes, sha256:ab12cd34ef56…`; `null` when it was not there. */
  before: string | null;
  /** The same for the later look; `null` when it is not there any more. */
  after: string | null;
}

/**
 * Compares two snapshots of the same roots.
 *
 * Unreadable before or after is `unknown`; so is the rest of a root that a bound cut off.
 *
 * @returns The changes, sorted by path; empty only when everything was seen and is the same.
 * @throws {TypeError} When the snapshots are of different roots.
 */
export function compareSnapshots(
  before: WatchSnapshot,
  after: WatchSnapshot,
): ContainmentChange[] {
  const roots = (snapshot: WatchSnapshot) => snapshot.roots.map((root) => root.path).sort();
  if (JSON.stringify(roots(before)) !== JSON.stringify(roots(after))) {
    throw new TypeError(
      `Cannot compare two looks at different places: ${roots(before)} and ${roots(after)}`,
    );
  }
  const cut = [...before.roots, ...after.roots].filter((root) => root.truncated);
  const changes: ContainmentChange[] = [];
  for (const path of new Set([...before.entries.keys(), ...after.entries.keys()])) {
    const old = before.entries.get(path);
    const now = after.entries.get(path);
    // Seen on one side only, below a root that was cut off: it may lie behind the cut.
    if ((old === undefined || now === undefined) && cut.some((root) => isWithin(root.path, path))) {
      continue;
    }
    const change = changeOf(old, now);
    if (change !== null) changes.push({ path, change, before: textOf(old), after: textOf(now) });
  }
  for (const path of new Set(cut.map((root) => root.path))) {
    const text = (snapshot: WatchSnapshot) =>
      snapshot.roots.find((root) => root.path === path)?.incomplete ?? null;
    changes.push({ path, change: "unknown", before: text(before), after: text(after) });
  }
  return changes.sort((a, b) => a.path < b.path ? -1 : a.path > b.path ? 1 : 0);
}

/** What became of one path; `undefined` is absent. */
export function changeOf(
  old: WatchEntry | undefined,
  now: WatchEntry | undefined,
): ContainmentChange["change"] | null {
  const was = old?.kind ?? "absent";
  const is = now?.kind ?? "absent";
  if (was === "unreadable" || is === "unreadable") return "unknown";
  if (was === "absent" || is === "absent") {
    return was === is ? null : was === "absent" ? "added" : "removed";
  }
  if (was !== is) return "kind";
  if (old?.target !== now?.target) return was === "special" ? "kind" : "modified";
  if (old?.sha256 !== now?.sha256 || old?.bytes !== now?.bytes) return "modified";
  return old?.mode === now?.mode ? null : "mode";
}

/** An entry in a few words; `null` when nothing is there. */
export function textOf(entry: WatchEntry | undefined): string | null {
  if (entry === undefined || entry.kind === "absent") return null;
  const mode = entry.mode === null ? "" : `, mode ${entry.mode.toString(8).padStart(4, "0")}`;
  switch (entry.kind) {
    case "file": {
      const hash = entry.sha256 === null ? "" : `, sha256:${entry.sha256.slice(0, 12)}…`;
      return `file, ${entry.bytes} bytes${hash}${mode}`;
    }
    case "symlink":
      return `link to "${entry.target}"`;
    case "special":
      return `${entry.target}${mode}`;
    case "unreadable":
      return `unreadable: ${entry.problem}`;
    default:
      return `${entry.kind}${mode}`;
  }
}

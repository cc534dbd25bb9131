/**
 * Counts the effects of a job (messages sent, rows written) per key, from the file in which the
 * job's receiver, or the job itself, notes each one.
 *
 * @module
 */
import { join } from "@std/path";
import { valueAt } from "./json_pointer.ts";
import type { EffectsRecord } from "./record.ts";

/** Where effects are noted, one line each, and where in a line the key stands. */
export interface EffectsSpec {
  root: string;
  path: string;
  /**
   * JSON pointer for lines of JSON (`/id`), a number for the n-th word of a plain line (1 is the
   * first), or absent: the whole line is the key.
   */
  keyAt?: string | number | undefined;
}

/** Most keys that are told apart; further ones are only counted. */
export const EFFECT_KEYS_MAX = 200_000;

/**
 * Reads the effects. A file that is not there means that nothing was sent. Never throws.
 *
 * @param expected Keys that a whole run sends (those of the control run).
 */
export function readEffects(spec: EffectsSpec, expected: readonly string[] = []): EffectsRecord {
  const counts = new Map<string, number>();
  let total = 0;
  let unreadable = 0;
  for (const line of linesOf(join(spec.root, spec.path))) {
    if (line.trim() === "") continue;
    total++;
    const key = keyOf(line, spec.keyAt);
    if (key === null) unreadable++;
    else if (counts.size < EFFECT_KEYS_MAX || counts.has(key)) {
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
  }
  return {
    path: spec.path,
    total,
    keys: counts.size,
    doubled: [...counts].filter(([, count]) => count > 1).map(([key, count]) => ({ key, count })),
    missing: expected.filter((key) => !counts.has(key)),
    unreadable,
    unknown: [],
  };
}

/** The keys that are noted, each once, in order of first appearance. */
export function effectKeys(spec: EffectsSpec): string[] {
  const keys = linesOf(join(spec.root, spec.path)).filter((line) => line.trim() !== "")
    .flatMap((line) => keyOf(line, spec.keyAt) ?? []);
  return [...new Set(keys)];
}

function linesOf(path: string): string[] {
  try {
    return Deno.readTextFileSync(path).split("\n");
  } catch {
    return [];
  }
}

function keyOf(line: string, keyAt: string | number | undefined): string | null {
  if (keyAt === undefined) return line.trim();
  if (typeof keyAt === "number") return line.trim().split(/\s+/)[keyAt - 1] ?? null;
  try {
    const value = valueAt(JSON.parse(line), keyAt);
    return value === undefined || value === null ? null : String(value);
  } catch {
    return null;
  }
}

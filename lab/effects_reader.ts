/**
 * Counts the effects of a job (messages sent, rows written) per key, from the file in which the
 * job's receiver, or the job itself, notes each one.
 *
 * @module
 */
import { isGlob, join } from "@std/path";
import { listArtifacts } from "./artifacts.ts";
import { valueAt } from "./json_pointer.ts";
import type { EffectsRecord } from "./record.ts";

/** Where effects are noted, one line each, and where in a line the key stands. */
export interface EffectsSpec {
  /** Folder that `path` is relative to: the workspace copy. */
  root: string;
  /** Path of the file with the effects, relative to the root; a glob where there are several. */
  path: string;
  /**
   * JSON pointer for lines of JSON (`/id`), a number for the n-th word of a plain line (1 is the
   * first), or absent: the whole line is the key.
   */
  keyAt?: string | number | undefined;
  /** How many different keys a whole run has, for jobs without a control run to say it. */
  count?: number | undefined;
}

/** Most keys that are told apart; further ones count as unreadable. */
export const EFFECT_KEYS_MAX = 200_000;

/** Most bytes that are read; a longer file counts as one that cannot be read. */
export const EFFECTS_BYTES_MAX = 256 * 1024 * 1024;

/**
 * Reads the effects. A file that is not there means that nothing was sent; of one that cannot be
 * read nobody can say what was sent, and that counts as unreadable. Never throws.
 *
 * @param expected Keys that a whole run sends (those of the control run).
 */
export function readEffects(spec: EffectsSpec, expected: readonly string[] = []): EffectsRecord {
  const record: EffectsRecord = {
    path: spec.path,
    total: 0,
    keys: 0,
    doubled: [],
    missing: [],
    unexpected: [],
    unreadable: 0,
    unknown: [],
  };
  const text = textOf(spec);
  if (text === null) return { ...record, total: 1, unreadable: 1 };
  const known = new Set(expected);
  const counts = new Map<string, number>();
  const lines = linesOf(text);
  for (const [i, line] of lines.entries()) {
    const key = keyOf(line, spec.keyAt);
    const isLast = i === lines.length - 1 && !text.endsWith("\n");
    const isCut = isLast && !isWholeKey(line, key, spec.keyAt, known);
    const isCounted = counts.size < EFFECT_KEYS_MAX || counts.has(key ?? "");
    if (key === null || isCut || !isCounted) record.unreadable++;
    else counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return {
    ...record,
    total: lines.length,
    keys: counts.size,
    doubled: [...counts].filter(([, count]) => count > 1).map(([key, count]) => ({ key, count })),
    ...compareKeys([...counts.keys()], known, spec.count),
  };
}

/** What is missing and what is too much, by the control run's keys or, without one, by number. */
function compareKeys(
  keys: readonly string[],
  known: ReadonlySet<string>,
  count: number | undefined,
): Pick<EffectsRecord, "missing" | "unexpected"> {
  if (known.size > 0) {
    const seen = new Set(keys);
    return {
      missing: [...known].filter((key) => !seen.has(key)),
      unexpected: keys.filter((key) => !known.has(key)),
    };
  }
  if (count === undefined) return { missing: [], unexpected: [] };
  const absent = count - keys.length;
  return {
    missing: absent > 0 ? [`(${absent} of ${count}, by number)`] : [],
    unexpected: keys.slice(count),
  };
}

/** The keys that are noted, each once, in order of first appearance. */
export function effectKeys(spec: EffectsSpec): string[] {
  const keys = linesOf(textOf(spec) ?? "").flatMap((line) => keyOf(line, spec.keyAt) ?? []);
  return [...new Set(keys)];
}

/** The whole text; `""` when nothing is there, `null` when something cannot be read. */
function textOf(spec: EffectsSpec): string | null {
  if (!isGlob(spec.path)) return textOfFile(spec, spec.path);
  try {
    // The newest part last: only its last line can be cut.
    const files = listArtifacts({ root: spec.root, globs: [spec.path] })
      .sort((a, b) => a.mtimeMs - b.mtimeMs);
    const texts = files.map(({ path }) => textOfFile(spec, path));
    return texts.includes(null) ? null : texts.join("\n");
  } catch {
    return null;
  }
}

function textOfFile(spec: EffectsSpec, file: string): string | null {
  try {
    const path = join(spec.root, file);
    const info = Deno.statSync(path);
    // A fifo would block for ever.
    if (!info.isFile || info.size > EFFECTS_BYTES_MAX) return null;
    return new TextDecoder().decode(Deno.readFileSync(path));
  } catch (error) {
    return error instanceof Deno.errors.NotFound ? "" : null;
  }
}

function linesOf(text: string): string[] {
  return text.split("\n").filter((line) => line.trim() !== "");
}

function keyOf(line: string, keyAt: string | number | undefined): string | null {
  if (keyAt === undefined) return line.trim();
  if (typeof keyAt === "number") return line.trim().split(/\s+/)[keyAt - 1] ?? null;
  try {
    const value = valueAt(JSON.parse(line), keyAt);
    if (value === undefined || value === null) return null;
    return typeof value === "object" ? JSON.stringify(value) : String(value);
  } catch {
    return null;
  }
}

/**
 * Whether a last line without an end holds its whole key: `msg-1` may be all that was written of
 * `msg-12`. It does when something stands behind the key, and when the control run knows the key
 * and no longer one that begins with it.
 */
function isWholeKey(
  line: string,
  key: string | null,
  keyAt: EffectsSpec["keyAt"],
  known: ReadonlySet<string>,
): boolean {
  if (key === null) return false;
  if (typeof keyAt === "string" && keyAt !== "") return true;
  if (typeof keyAt === "number" && !line.endsWith(key)) return true;
  return known.has(key) && ![...known].some((other) => other !== key && other.startsWith(key));
}

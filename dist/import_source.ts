// Where @std and zod come from: the JSR registry as deno.json says, or, where that registry cannot
// be reached, the same modules from npm by dist/import_map.npm.json.

import { CACHE_DIR, CONFIG, ROOT } from "./paths.ts";
import { EXIT_USAGE, TaskError } from "./task_error.ts";

/** The registry that the standard library is taken from. */
export type ImportSource = "jsr" | "npm";

/** Which source was chosen, and why, in words. */
export interface SourceChoice {
  source: ImportSource;
  reason: string;
}

/** What a choice depends on; tests put their own in. */
export interface SourceOptions {
  /** The value of FAILURE_LAB_IMPORTS, if set. */
  wanted: string | undefined;
  /** Answers whether JSR can be reached. */
  probe: () => Promise<boolean>;
  /** The file that keeps the last answer of the probe. */
  cacheFile: string;
  /** The current time. */
  nowMs: number;
}

const PROBE_URL = "https://jsr.io/@std/path/meta.json";
const PROBE_LIMIT_MS = 3_000;

/** How long an answer of the probe holds for this checkout. */
export const PROBE_CACHE_MS = 10 * 60_000;

/** Decides the import source: by hand, else by the cached answer, else by asking JSR. */
export async function chooseSource(options: SourceOptions): Promise<SourceChoice> {
  const { wanted, probe, cacheFile, nowMs } = options;
  if (wanted !== undefined && wanted !== "") {
    if (wanted === "jsr" || wanted === "npm") {
      return { source: wanted, reason: `FAILURE_LAB_IMPORTS=${wanted}` };
    }
    throw new TaskError(
      `Cannot choose the import source: FAILURE_LAB_IMPORTS is "${wanted}", but must be "jsr" or ` +
        `"npm". Correct it, or unset it and the task decides by itself`,
      EXIT_USAGE,
    );
  }
  const cached = await readCachedAnswer(cacheFile, nowMs);
  const reachable = cached ?? await probe();
  if (cached === undefined) await writeCachedAnswer(cacheFile, reachable, nowMs);
  return reachable
    ? { source: "jsr", reason: "jsr.io answers" }
    : { source: "npm", reason: "jsr.io cannot be reached" };
}

async function readCachedAnswer(file: string, nowMs: number): Promise<boolean | undefined> {
  try {
    const saved: unknown = JSON.parse(await Deno.readTextFile(file));
    if (typeof saved !== "object" || saved === null) return undefined;
    const { reachable, atMs } = saved as Record<string, unknown>;
    if (typeof reachable !== "boolean" || typeof atMs !== "number") return undefined;
    const ageMs = nowMs - atMs;
    return ageMs >= 0 && ageMs < PROBE_CACHE_MS ? reachable : undefined;
  } catch {
    return undefined; // absent or damaged: ask again
  }
}

async function writeCachedAnswer(file: string, reachable: boolean, nowMs: number): Promise<void> {
  await Deno.mkdir(file.slice(0, file.lastIndexOf("/")), { recursive: true });
  await Deno.writeTextFile(file, JSON.stringify({ reachable, atMs: nowMs }) + "\n");
}

/** Asks JSR for a small file. A login page of some network in between does not count as JSR. */
export async function probeJsr(): Promise<boolean> {
  try {
    const response = await fetch(PROBE_URL, { signal: AbortSignal.timeout(PROBE_LIMIT_MS) });
    const body = await response.text();
    return response.ok && body.includes('"versions"');
  } catch {
    return false;
  }
}

/**
 * The arguments that make `deno run`, `test`, `check`, `doc`, `bench` and `compile` use `source`.
 *
 * The lock file is a copy of the committed one, so that a task never dirties the work tree, also
 * when the running Deno adds what the committed file does not hold.
 */
export async function importArgs(source: ImportSource): Promise<string[]> {
  const committed = source === "jsr" ? `${ROOT}/deno.lock` : `${ROOT}/dist/npm.lock`;
  const copy = `${CACHE_DIR}/${source}.lock`;
  await seedLock(committed, copy);
  const args = [`--config=${CONFIG}`, `--lock=${copy}`];
  if (source === "npm") args.push(`--import-map=${ROOT}/dist/import_map.npm.json`);
  return args;
}

/** Copies the lock anew whenever the committed one has changed since the last copy. */
export async function seedLock(committed: string, copy: string): Promise<void> {
  const seedFile = `${copy}.seed`;
  const wanted = await Deno.readTextFile(committed);
  const last = await Deno.readTextFile(seedFile).catch(() => undefined);
  if (last === wanted && await Deno.stat(copy).then(() => true, () => false)) return;
  await Deno.mkdir(copy.slice(0, copy.lastIndexOf("/")), { recursive: true });
  await Deno.writeTextFile(copy, wanted);
  await Deno.writeTextFile(seedFile, wanted);
}

/**
 * Files beside the outputs in which a job keeps its own state: checkpoint, lock, effects.
 *
 * @module
 */
import type { Guess } from "./outputs.ts";
import type { ProjectFacts } from "./project_facts.ts";

const CHECKPOINT_REGEXP =
  /(?<![\w/.$-])((?:[\w.-]+\/)?\.?(?:state|checkpoint|progress|cursor|journal|resume)[\w-]*\.(?:jsonl?|txt|ckpt|ndjson))\b/;
const LOCK_REGEXP =
  /(?<![\w/.$-])((?:[\w.-]+\/)?[\w.-]*(?:\.lock|\.pid|\.lck|lockfile|lock\.d))\b/g;
const EFFECTS_REGEXP =
  /(?<![\w/.$-])((?:[\w.-]+\/)?(?:sent|effects?|outbox|ledger|deliver\w*|emails?|mails?|notifications?|published|posted)[\w-]*\.(?:jsonl|ndjson|log|txt|csv))\b/;
/** Locks of package managers hold versions and no owner. */
const PACKAGE_LOCK_REGEXP =
  /^(?:package-lock\.json|(?:yarn|poetry|Cargo|deno|uv|Gemfile|composer|flake|bun|Pipfile|pdm|mix|Podfile|pubspec|npm|pnpm-lock)\.lock)$/;
const DONE_KEYS: readonly string[] = [
  "done",
  "completed",
  "finished",
  "processed",
  "units",
  "items",
];
const EFFECT_KEYS: readonly string[] = ["key", "id", "messageId", "message_id", "uuid", "event_id"];

/** The job's own record of what is done. */
export function guessCheckpoint(
  facts: ProjectFacts,
  text: string,
): Guess<{ path: string; doneAt?: string }> | null {
  const found = named(facts, text, CHECKPOINT_REGEXP);
  if (found === null) return null;
  const path = found.value;
  const key = path.endsWith(".json") ? doneKeyIn(facts.text(path), text) : null;
  return { value: key === null ? { path } : { path, doneAt: `/${key}` }, why: found.why };
}

/** A name in the scripts first, because a file that lies there can be old. */
function named(facts: ProjectFacts, text: string, pattern: RegExp): Guess<string> | null {
  const inText = pattern.exec(text)?.[1];
  if (inText !== undefined) return { value: inText, why: "the script names it" };
  const onDisk = facts.files.find((path) => pattern.exec(path)?.[1] === path);
  return onDisk === undefined ? null : { value: onDisk, why: "it is there" };
}

function doneKeyIn(content: string | null, script: string): string | null {
  try {
    const value: unknown = JSON.parse(content ?? "");
    if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      return DONE_KEYS.find((key) => Object.hasOwn(value, key)) ?? null;
    }
  } catch {
    // Not there before the first run: the script may say what it writes.
  }
  return DONE_KEYS.find((key) => new RegExp(`\\\\?["']${key}\\\\?["']\\s*[\\]:]`).test(script)) ??
    null;
}

/** The job's lock. */
export function guessLock(facts: ProjectFacts, text: string): Guess<string> | null {
  for (const [, path = ""] of text.matchAll(LOCK_REGEXP)) {
    if (!PACKAGE_LOCK_REGEXP.test(path)) return { value: path, why: "the script names it" };
  }
  const onDisk = facts.files.find((path) =>
    !path.includes("/") && /\.(lock|pid|lck)$/.test(path) && !PACKAGE_LOCK_REGEXP.test(path)
  );
  return onDisk === undefined ? null : { value: onDisk, why: "it is there" };
}

/** The file in which the job notes what it sent. */
export function guessEffects(
  facts: ProjectFacts,
  text: string,
): Guess<{ path: string; keyAt?: string }> | null {
  const found = named(facts, text, EFFECTS_REGEXP);
  if (found === null) return null;
  const path = found.value;
  const key = effectKeyIn(facts.text(path));
  return { value: key === null ? { path } : { path, keyAt: `/${key}` }, why: found.why };
}

function effectKeyIn(content: string | null): string | null {
  try {
    const value: unknown = JSON.parse(content?.split("\n", 1)[0] ?? "");
    if (typeof value !== "object" || value === null) return null;
    return EFFECT_KEYS.find((key) => Object.hasOwn(value, key)) ?? null;
  } catch {
    return null; // No JSON, or nothing sent yet: the whole line is the key then.
  }
}

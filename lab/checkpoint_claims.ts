/**
 * What the bytes of a checkpoint claim. It understands JSON, JSON lines, a bare number, and plain
 * lists of names; what is none of these is not guessed at.
 *
 * @module
 */
import { extname } from "@std/path";
import { valueAt } from "./json_pointer.ts";

/** What a checkpoint claims. */
export interface Claims {
  /** `null` when nothing says how to read it. */
  parses: boolean | null;
  /** Names of finished units, or how many there are, or `null` when that cannot be told. */
  units: string[] | number | null;
  /** What is wrong with it, or why it cannot be read, in words; `null` when nothing is. */
  problem: string | null;
}

const LINE_ENDINGS = [".jsonl", ".ndjson"];
/** Files with these endings hold text, whatever else is in them. */
const TEXT_ENDINGS = [...LINE_ENDINGS, ".json", ".txt", ".csv", ".tsv", ".log", ".md", ".list"];

/** Longest character in UTF-8 without its last byte. */
const CUT_BYTES_MAX = 3;

/** Keys under which the name of a unit stands, the most telling first. */
const NAME_KEYS = ["path", "file", "unit", "id", "name", "key"];

/** Words for a unit that is not finished. */
const UNFINISHED_REGEXP =
  /^(pending|todo|queued|waiting|running|started|in[-_ ]?progress|failed|error|skipped)$/i;

/** A line of INI, TOML, YAML or a shell's variables: `last_done: 3`, `LAST=3`, `[state]`, `# …`. */
const SETTING_REGEXP = /^(\[.*\]|[\w.-]+\s*(=|:\s).*|#.*|---)$/;

/** What the bytes of a checkpoint claim. */
export function readClaims(
  bytes: Uint8Array,
  spec: { path: string; doneAt?: string | undefined },
): Claims {
  const ending = extname(spec.path).toLowerCase();
  const decoded = decode(bytes, spec.doneAt !== undefined || TEXT_ENDINGS.includes(ending));
  if (typeof decoded !== "string") return decoded;
  const text = decoded;
  const isLines = LINE_ENDINGS.includes(ending);
  if (!isLines) {
    const whole = parseJson(text);
    if (whole.ok) return claimsOf(whole.value, spec.doneAt);
  }
  const looksJson = ending === ".json" || beginsLikeJson(text);
  if (isLines || (looksJson && text.trim().includes("\n"))) {
    const lines = jsonLines(text, spec.doneAt);
    if (isLines || lines.parses === true) return lines;
  }
  if (looksJson || spec.doneAt !== undefined) {
    return damaged(text.trim() === "" ? "it is empty" : "it does not parse as JSON");
  }
  return textLines(text);
}

function damaged(problem: string): Claims {
  return { parses: false, units: null, problem };
}

/** The text, or what is wrong with it. Bytes of an unknown format are no damaged text. */
function decode(bytes: Uint8Array, mustBeText: boolean): string | Claims {
  const text = asText(bytes);
  if (text !== null && !text.includes("\0")) return text;
  if (text !== null) {
    const head = text.replace(/\0+$/, "");
    const isTextThenNul = head.length < text.length && head !== "" && !head.includes("\0");
    if (mustBeText || isTextThenNul || beginsLikeJson(text)) return damaged("it holds NUL bytes");
  } else {
    const start = new TextDecoder().decode(bytes.subarray(0, 64));
    if (mustBeText || isCutText(bytes) || beginsLikeJson(start)) {
      return damaged("it is cut or damaged inside a character");
    }
  }
  return { parses: null, units: null, problem: "it is not text, so nothing says how to read it" };
}

function asText(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** Whether only the last character is not whole. */
function isCutText(bytes: Uint8Array): boolean {
  for (let cut = 1; cut <= CUT_BYTES_MAX && cut < bytes.length; cut++) {
    const text = asText(bytes.subarray(0, bytes.length - cut));
    if (text !== null) return !text.includes("\0");
  }
  return false;
}

/** `{` or `[` and then a value. `[name]` begins a table of an INI or TOML file. */
function beginsLikeJson(text: string): boolean {
  return /^\s*(\{|\[[\s[]*(["{\]\d-]|true\b|false\b|null\b|$))/.test(text);
}

function parseJson(text: string): { ok: true; value: unknown } | { ok: false } {
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch {
    return { ok: false };
  }
}

function claimsOf(document: unknown, doneAt: string | undefined): Claims {
  const value = doneAt === undefined ? guessDone(document) : valueAt(document, doneAt);
  const units = unitsOf(value);
  return {
    parses: true,
    units,
    problem: units === null && doneAt !== undefined
      ? `there is no list, object or number at "${doneAt}" in it`
      : null,
  };
}

/** Without a pointer: a list or number at the top, or the one member that is a list. */
function guessDone(document: unknown): unknown {
  if (typeof document !== "object" || document === null || Array.isArray(document)) return document;
  const lists = Object.values(document).filter(Array.isArray);
  return lists.length === 1 ? lists[0] : undefined;
}

/** The finished units of a list, an object (its keys) or a number. */
function unitsOf(value: unknown): string[] | number | null {
  if (Array.isArray(value)) return unitNames(value);
  if (typeof value === "number") return Number.isInteger(value) && value >= 0 ? value : null;
  if (typeof value !== "object" || value === null) return null;
  return Object.entries(value).filter(([, state]) => isFinished(state)).map(([name]) => name);
}

function isFinished(state: unknown): boolean {
  if (state === false || state === null) return false;
  if (typeof state === "string") return !UNFINISHED_REGEXP.test(state);
  if (typeof state !== "object") return true;
  const { done, status, state: word } = state as Record<string, unknown>;
  return done !== false && [status, word].every((each) => each === undefined || isFinished(each));
}

/** Names of the elements that are finished. Elements without a name are notes if others have one. */
function unitNames(values: readonly unknown[]): string[] {
  const finished = values.filter((value) => typeof value !== "object" || isFinished(value));
  const names = finished.map(nameOf);
  return names.some((name) => name !== null)
    ? names.filter((name) => name !== null)
    : finished.map((value) => JSON.stringify(value));
}

function nameOf(value: unknown): string | null {
  if (typeof value !== "object" || value === null) return String(value);
  for (const key of NAME_KEYS) {
    const named = (value as Record<string, unknown>)[key];
    if (typeof named === "string" || typeof named === "number") return String(named);
  }
  return null;
}

function jsonLines(text: string, doneAt: string | undefined): Claims {
  if (text.trim() === "") return damaged("it is empty");
  const values: unknown[] = [];
  for (const [i, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    const parsed = parseJson(line);
    if (!parsed.ok) return damaged(`line ${i + 1} does not parse as JSON`);
    const value = doneAt === undefined ? parsed.value : valueAt(parsed.value, doneAt);
    if (value !== undefined) values.push(value);
  }
  if (!text.endsWith("\n")) return damaged("its last line has no end");
  // A log of whole states: the newest counts.
  const last = values.at(-1);
  if (values.every(Array.isArray) && last !== undefined) return claimsOf(last, "");
  return { parses: true, units: [...new Set(unitNames(values))], problem: null };
}

/** `failed 3`, or `3: pending`. */
function isUnfinishedLine(line: string): boolean {
  const words = line.split(/[\s:=,;]+/).filter((word) => word !== "");
  return words.length > 1 &&
    [words[0], words.at(-1)].some((word) => UNFINISHED_REGEXP.test(word ?? ""));
}

function textLines(text: string): Claims {
  if (text.trim() === "") return { parses: null, units: null, problem: "it is empty" };
  if (!text.endsWith("\n")) {
    return { parses: null, units: null, problem: "its last line has no end" };
  }
  const lines = text.split("\n").map((line) => line.trim())
    .filter((line) => line !== "" && !isUnfinishedLine(line));
  return lines.every((line) => SETTING_REGEXP.test(line))
    ? { parses: null, units: null, problem: "it holds settings, and nothing says which is which" }
    : { parses: true, units: lines, problem: null };
}

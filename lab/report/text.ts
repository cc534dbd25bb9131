/**
 * Text for people: making strange characters visible, durations, sizes, and how wide a text is on
 * a terminal. Pure functions, used by every report format and by the command line.
 *
 * @module
 */

/** Characters that a terminal obeys or hides instead of showing. Newline (U+000A) is one of them. */
const HIDDEN =
  // deno-lint-ignore no-control-regex
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff]|\udb40[\udc00-\udfff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

const NAMED_ESCAPES: Record<string, string> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

function escapeHidden(character: string): string {
  const named = NAMED_ESCAPES[character];
  if (named !== undefined) return named;
  const code = character.codePointAt(0) ?? 0;
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u{${code.toString(16)}}`;
}

/**
 * The text with every control character, colour sequence, bidi override, invisible character and
 * lone surrogate written out (`\n`, `\x1b`, `\u{202e}`), so that a file name or the output of a job
 * can neither steer the terminal nor pass for something else.
 *
 * A backslash stays as it is: this is for reading, and the JSON report holds the exact text.
 *
 * @param options `keepNewlines` leaves line ends alone, for text of several lines.
 */
export function visible(text: string, options: { keepNewlines?: boolean } = {}): string {
  return text.replace(
    HIDDEN,
    (character) => options.keepNewlines && character === "\n" ? character : escapeHidden(character),
  );
}

/** A value as it is shown inside a sentence: visible, in double quotes, and not endless. */
export function quoted(value: string, maxLength = 120): string {
  return `"${shortened(visible(value), maxLength)}"`;
}

/** The text, cut to `maxLength` characters with an ellipsis where something is missing. */
export function shortened(text: string, maxLength: number): string {
  const characters = [...text];
  return characters.length <= maxLength
    ? text
    : `${characters.slice(0, Math.max(0, maxLength - 1)).join("")}…`;
}

/**
 * A duration for people: `0 ms`, `35 ms`, `0.42 s`, `12.3 s`, `3 min 12 s`, `2 h 5 min`.
 *
 * @param ms Milliseconds; `null` gives `not known`.
 */
export function formatDuration(ms: number | null): string {
  if (ms === null || !Number.isFinite(ms)) return "not known";
  if (ms < 99.5) return `${Math.round(ms)} ms`;
  if (ms < 9_995) return `${(ms / 1000).toFixed(2)} s`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  const minutes = Math.round(seconds / 60);
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

const SIZE_UNITS = ["KB", "MB", "GB", "TB"] as const;

/**
 * A size for people: `0 bytes`, `1 byte`, `999 bytes`, `1.5 KB`, `85 MB`. Decimal units (1 KB is
 * 1,000 bytes); the exact number is in the JSON report.
 *
 * @param bytes `null` gives `not known`.
 */
export function formatBytes(bytes: number | null): string {
  if (bytes === null || !Number.isFinite(bytes)) return "not known";
  if (bytes < 1000) return plural(bytes, "byte");
  let value = bytes;
  let unit: string = SIZE_UNITS[0];
  for (const next of SIZE_UNITS) {
    value /= 1000;
    unit = next;
    if (value < 999.5) break;
  }
  return `${value < 9.95 ? value.toFixed(1) : Math.round(value)} ${unit}`;
}

/** `1 file`, `2 files`; `many` is for words that take more than an s. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString("en-US")} ${count === 1 ? one : many}`;
}

const ZERO_WIDTH = /^[\p{Mn}\p{Me}\u200c\u200d\ufe00-\ufe0f]$/u;
const DOUBLE_WIDTH =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]$/u;
// deno-lint-ignore no-control-regex
const COLOUR = /\x1b\[[0-9;]*m/g;

/** How many columns a terminal gives to this text; colour sequences take none. */
export function displayWidth(text: string): number {
  let width = 0;
  for (const character of text.replace(COLOUR, "")) {
    if (ZERO_WIDTH.test(character)) continue;
    width += DOUBLE_WIDTH.test(character) ? 2 : 1;
  }
  return width;
}

/** The text with spaces after it (or before it) up to `width` columns. */
export function padded(text: string, width: number, side: "left" | "right" = "right"): string {
  const space = " ".repeat(Math.max(0, width - displayWidth(text)));
  return side === "right" ? text + space : space + text;
}

/** Splits one word into pieces of at most `width` columns. */
function hardSplit(word: string, width: number): string[] {
  const pieces: string[] = [];
  let piece = "";
  for (const character of word) {
    if (piece !== "" && displayWidth(piece + character) > width) {
      pieces.push(piece);
      piece = "";
    }
    piece += character;
  }
  pieces.push(piece);
  return pieces;
}

/**
 * The text as lines of at most `width` columns, broken at spaces and, in a word that is longer than
 * a line, inside the word. Line ends in the text stay. Never empty.
 */
export function wrapped(text: string, width: number): string[] {
  const limit = Math.max(1, width);
  const lines: string[] = [];
  for (const paragraph of text.split("\n")) {
    let line: string | null = null;
    for (const word of paragraph.split(/ +/)) {
      if (line !== null && displayWidth(line) + 1 + displayWidth(word) <= limit) {
        line += ` ${word}`;
        continue;
      }
      if (line !== null) lines.push(line);
      const pieces = displayWidth(word) <= limit ? [word] : hardSplit(word, limit);
      lines.push(...pieces.slice(0, -1));
      line = pieces.at(-1) ?? "";
    }
    lines.push(line ?? "");
  }
  return lines;
}

/** {@linkcode wrapped} as one string, with `indent` before each line but the first. */
export function paragraph(text: string, width: number, indent = ""): string {
  return wrapped(text, width - displayWidth(indent)).join(`\n${indent}`);
}

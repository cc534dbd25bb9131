/**
 * Reading a checkpoint that may be damaged: what of it is whole, and what is not.
 *
 * @module
 */
import type { LogLine } from "./_claims.ts";

/** How the file is built. */
export type CheckpointFormat = "json" | "jsonl";

/** One damaged stretch. */
export interface Damage {
  /** Where it begins, in bytes from the start of the file. */
  atByte: number;
  /** How long it is. */
  bytes: number;
  /** Why it cannot be read. */
  why: string;
}

/** What a file holds. */
export interface CheckpointReading {
  /**
   * `absent`: no such file. `empty`: no byte in it. `whole`: all of it can be read. `torn`: some of
   * it, or none of it, can be read.
   */
  state: "absent" | "empty" | "whole" | "torn";
  /** The damaged stretches. */
  damage: Damage[];
  /** JSONL: the whole lines, in their order. */
  lines: LogLine[];
  /** JSON: the document, or `undefined`. */
  document: unknown;
}

const NEWLINE = 10;

/** The format that a file name stands for: `.jsonl` and `.ndjson` are logs. */
export function formatOf(path: string): CheckpointFormat {
  return /\.(jsonl|ndjson)$/.test(path) ? "jsonl" : "json";
}

/** Reads bytes as a checkpoint; `null` stands for a file that is not there. Never throws. */
export function readBytes(bytes: Uint8Array | null, format: CheckpointFormat): CheckpointReading {
  const nothing = { damage: [], lines: [], document: undefined };
  if (bytes === null) return { ...nothing, state: "absent" };
  if (bytes.length === 0) return { ...nothing, state: "empty" };
  return format === "json" ? readDocument(bytes) : readLog(bytes);
}

function readDocument(bytes: Uint8Array): CheckpointReading {
  const parsed = parse(bytes);
  if ("why" in parsed) {
    const damage = [{ atByte: 0, bytes: bytes.length, why: parsed.why }];
    return { state: "torn", damage, lines: [], document: undefined };
  }
  return { state: "whole", damage: [], lines: [], document: parsed.value };
}

function readLog(bytes: Uint8Array): CheckpointReading {
  const lines: LogLine[] = [];
  const damage: Damage[] = [];
  for (let atByte = 0; atByte < bytes.length;) {
    const newline = bytes.indexOf(NEWLINE, atByte);
    const end = newline < 0 ? bytes.length : newline;
    const part = bytes.subarray(atByte, end);
    const parsed = parse(part);
    if ("why" in parsed) {
      if (!parsed.isBlank) damage.push({ atByte, bytes: part.length, why: parsed.why });
    } else if (newline < 0) {
      // It may be cut inside a number, or the next record would be glued to it.
      damage.push({ atByte, bytes: part.length, why: "the last record has no line end" });
      if (typeof parsed.value === "object") lines.push(parsed);
    } else lines.push(parsed);
    atByte = end + 1;
  }
  return { state: damage.length > 0 ? "torn" : "whole", damage, lines, document: undefined };
}

function parse(bytes: Uint8Array): LogLine | { why: string; isBlank: boolean } {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return { why: "it is cut or damaged inside a character", isBlank: false };
  }
  if (text.trim() === "") return { why: "there is nothing but blanks in it", isBlank: true };
  if (text.includes("\0")) return { why: "it holds NUL bytes", isBlank: false };
  try {
    return { text, value: JSON.parse(text) };
  } catch {
    return { why: "it does not parse as JSON", isBlank: false };
  }
}

/**
 * Reads a job's checkpoint beside the disk: does it parse, what does it claim, and which claims do
 * the outputs bear out. It understands JSON, JSON lines, a bare number, and plain lists of names.
 *
 * @module
 */
import { basename, extname, join } from "@std/path";
import { hashBytes } from "./hash.ts";
import { valueAt } from "./json_pointer.ts";
import type { Artifact, CheckpointRecord } from "./record.ts";

/** Where the checkpoint is and where in it the finished units stand. */
export interface CheckpointSpec {
  root: string;
  path: string;
  /** JSON pointer to a list, an object (its keys) or a number. */
  doneAt?: string | undefined;
}

/** Most bytes of a checkpoint that are read; a longer one counts as not readable. */
export const CHECKPOINT_BYTES_MAX = 64 * 1024 * 1024;

interface Claims {
  parses: boolean | null;
  /** Names of finished units, or how many there are, or `null` when that cannot be told. */
  units: string[] | number | null;
  problem: string | null;
}

/** Reads the checkpoint and compares it with the outputs as they are now. Never throws. */
export function readCheckpoint(
  spec: CheckpointSpec,
  artifacts: readonly Artifact[],
): CheckpointRecord {
  const record: CheckpointRecord = {
    path: spec.path,
    present: false,
    bytes: null,
    sha256: null,
    parses: null,
    claims: null,
    claimedAbsent: [],
    unclaimedPresent: [],
    problem: null,
  };
  let bytes: Uint8Array;
  try {
    const path = join(spec.root, spec.path);
    const info = Deno.statSync(path);
    if (!info.isFile || info.size > CHECKPOINT_BYTES_MAX) {
      return { ...record, present: true, problem: "it is not a file that can be read as a whole" };
    }
    bytes = Deno.readFileSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return { ...record, problem: "it is not there" };
    const why = error instanceof Error ? error.message : String(error);
    return { ...record, present: true, problem: `it cannot be read: ${why}` };
  }
  const claims = readClaims(bytes, spec);
  return {
    ...record,
    present: true,
    bytes: bytes.length,
    sha256: hashBytes(bytes),
    parses: claims.parses,
    problem: claims.problem,
    ...compareClaims(claims, artifacts),
  };
}

/** What the bytes of a checkpoint claim. Exported for the faults, which damage such bytes. */
export function readClaims(
  bytes: Uint8Array,
  spec: Pick<CheckpointSpec, "path" | "doneAt">,
): Claims {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return { parses: false, units: null, problem: "it is cut or damaged inside a character" };
  }
  if (text.includes("\0")) return { parses: false, units: null, problem: "it holds NUL bytes" };
  const isLines = [".jsonl", ".ndjson"].includes(extname(spec.path));
  if (!isLines) {
    const whole = parseJson(text);
    if (whole.ok) return claimsOf(whole.value, spec.doneAt);
  }
  const looksJson = extname(spec.path) === ".json" || /^\s*[[{]/.test(text);
  if (isLines || (looksJson && text.trim().split("\n").length > 1)) {
    const lines = jsonLines(text, spec.doneAt);
    if (lines !== null && (isLines || lines.parses === true)) return lines;
  }
  if (looksJson || spec.doneAt !== undefined) {
    const problem = text.trim() === "" ? "it is empty" : "it does not parse as JSON";
    return { parses: false, units: null, problem };
  }
  return textLines(text);
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
  if (Array.isArray(value)) {
    return { parses: true, units: value.map(unitName), problem: null };
  }
  if (typeof value === "number" && Number.isInteger(value) && value >= 0) {
    return { parses: true, units: value, problem: null };
  }
  if (typeof value === "object" && value !== null) {
    return { parses: true, units: Object.keys(value), problem: null };
  }
  return {
    parses: true,
    units: null,
    problem: doneAt === undefined
      ? null
      : `there is no list, object or number at "${doneAt}" in it`,
  };
}

/** Without a pointer: a list or number at the top, or the one member that is a list. */
function guessDone(document: unknown): unknown {
  if (typeof document !== "object" || document === null || Array.isArray(document)) return document;
  const lists = Object.values(document).filter(Array.isArray);
  return lists.length === 1 ? lists[0] : undefined;
}

function unitName(value: unknown): string {
  if (typeof value !== "object" || value === null) return String(value);
  for (const key of ["path", "file", "unit", "id", "name", "key"]) {
    const named = (value as Record<string, unknown>)[key];
    if (typeof named === "string" || typeof named === "number") return String(named);
  }
  return JSON.stringify(value);
}

function jsonLines(text: string, doneAt: string | undefined): Claims | null {
  if (text === "") return { parses: false, units: null, problem: "it is empty" };
  const torn = !text.endsWith("\n");
  const units: string[] = [];
  for (const [i, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    const parsed = parseJson(line);
    if (!parsed.ok) {
      return { parses: false, units: null, problem: `line ${i + 1} does not parse as JSON` };
    }
    const value = doneAt === undefined ? parsed.value : valueAt(parsed.value, doneAt);
    if (value !== undefined) units.push(unitName(value));
  }
  if (torn) return { parses: false, units: null, problem: "its last line has no end" };
  return { parses: true, units: [...new Set(units)], problem: null };
}

function textLines(text: string): Claims {
  if (text === "") return { parses: null, units: null, problem: "it is empty" };
  const lines = text.split("\n").map((line) => line.trim()).filter((line) => line !== "");
  if (!text.endsWith("\n")) {
    return { parses: null, units: null, problem: "its last line has no end" };
  }
  return { parses: true, units: lines, problem: null };
}

function compareClaims(
  claims: Claims,
  artifacts: readonly Artifact[],
): Pick<CheckpointRecord, "claims" | "claimedAbsent" | "unclaimedPresent"> {
  const nothing = { claims: null, claimedAbsent: [], unclaimedPresent: [] };
  if (claims.units === null) return nothing;
  const whole = artifacts.filter((artifact) => artifact.problems.length === 0);
  if (typeof claims.units === "number") {
    return { ...nothing, claims: claims.units, ...compareCounts(claims.units, whole.length) };
  }
  const units = [...new Set(claims.units)];
  const named = units.map((unit) => artifacts.find((artifact) => isNamed(artifact.path, unit)));
  // Names that fit no output at all (row ids, offsets) can only be counted.
  if (units.length > 0 && named.every((artifact) => artifact === undefined) && whole.length > 0) {
    return { ...nothing, claims: units.length, ...compareCounts(units.length, whole.length) };
  }
  const good = new Set(whole.map((artifact) => artifact.path));
  return {
    claims: units.length,
    claimedAbsent: units.filter((_, i) => !good.has(named[i]?.path ?? "")),
    unclaimedPresent: whole
      .filter((artifact) => !units.some((unit) => isNamed(artifact.path, unit)))
      .map((artifact) => artifact.path),
  };
}

function compareCounts(claimed: number, present: number) {
  return {
    claimedAbsent: claimed > present ? [`${claimed - present} more than the disk holds`] : [],
    unclaimedPresent: present > claimed ? [`${present - claimed} of the finished ones`] : [],
  };
}

/** Whether a unit's name means this output: its path, file name, or file name without ending. */
function isNamed(path: string, unit: string): boolean {
  const clean = unit.replace(/^(\.\/)+/, "");
  const file = basename(path);
  return path === clean || file === clean ||
    file.slice(0, file.length - extname(file).length) === clean;
}

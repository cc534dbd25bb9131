/**
 * Fault: a checkpoint of which only part reached the disk.
 *
 * @module
 */
import { type FaultRecord, hashBytes, readClaims } from "../../lab/mod.ts";

/** How a checkpoint can be torn. */
export const TEAR_SHAPES = [
  "cut-last-line",
  "empty",
  "prefix",
  "cut-utf8",
  "old-and-new-mixed",
  "nul-block",
  "temp-left",
  "renamed-empty",
] as const;

/** See {@linkcode TEAR_SHAPES}. */
export type TearShape = typeof TEAR_SHAPES[number];

/** What the tearing did. */
export interface Torn {
  /** Content before. */
  before: Uint8Array;
  /** Content afterwards. */
  after: Uint8Array;
  /** Empty when the checkpoint still reads whole, so that nothing was delivered. */
  evidence: FaultRecord["evidence"];
}

const NEWLINE = 0x0a;
const NUL_BLOCK_BYTES_MAX = 64;

/**
 * The bytes that a torn write leaves.
 *
 * @param name Name of the checkpoint, because its ending says how it is read.
 * @throws {RangeError} When these bytes cannot be torn in this shape, for example because no
 *     character of them takes more than one byte.
 */
export function tornBytes(bytes: Uint8Array, shape: TearShape, name: string): Uint8Array {
  switch (shape) {
    case "empty":
    case "renamed-empty":
      return new Uint8Array(0);
    case "cut-last-line":
      return cutLastLine(bytes);
    case "temp-left":
    case "prefix":
      return bytes.slice(0, insideLine(bytes, Math.floor(bytes.length * 0.6)));
    case "cut-utf8":
      return cutCharacter(bytes);
    case "old-and-new-mixed":
      return mixed(bytes, name);
    case "nul-block": {
      const after = bytes.slice();
      const length = Math.max(1, Math.min(NUL_BLOCK_BYTES_MAX, Math.floor(bytes.length / 4)));
      const from = Math.floor((bytes.length - length) / 2);
      return after.fill(0, from, from + length);
    }
  }
}

/** The last record, without its end and without its newline. */
function cutLastLine(bytes: Uint8Array): Uint8Array {
  const end = bytes.at(-1) === NEWLINE ? bytes.length - 1 : bytes.length;
  let start = bytes.lastIndexOf(NEWLINE, end - 1) + 1;
  // A line with one bracket in it is no record: what stands before it is the last one.
  while (end - start < 2 && start > 1) start = bytes.lastIndexOf(NEWLINE, start - 2) + 1;
  if (end - start < 2) throw new RangeError("Cannot cut the last line: it has no two bytes");
  return bytes.slice(0, start + Math.ceil((end - start) / 2));
}

/** A place near `at` that is not at the beginning of a line, so that a record is cut in two. */
function insideLine(bytes: Uint8Array, at: number): number {
  const isBetween = (place: number) => place === 0 || bytes[place - 1] === NEWLINE;
  return isBetween(at) || bytes[at] === NEWLINE ? Math.min(at + 8, bytes.length - 2) : at;
}

/** Cut behind the first byte of the last character that takes more than one. */
function cutCharacter(bytes: Uint8Array): Uint8Array {
  for (let at = bytes.length - 1; at >= 0; at--) {
    if ((bytes[at] ?? 0) >= 0xc2) return bytes.slice(0, at + 1);
  }
  throw new RangeError("Cannot cut inside a character: every character takes one byte");
}

/** The beginning of a new, longer version over an old one: some bytes stand there twice. */
function mixed(bytes: Uint8Array, name: string): Uint8Array {
  const middle = Math.floor(bytes.length / 2);
  for (let shift = 9; shift < middle; shift++) {
    const head = bytes.slice(0, middle);
    const tail = bytes.slice(middle - shift);
    const after = new Uint8Array([...head, ...tail]);
    if (readClaims(after, { path: name }).parses === false) return after;
  }
  throw new RangeError("Cannot mix old and new: whatever is mixed, the checkpoint still parses");
}

/**
 * Tears the checkpoint at `path`.
 *
 * `temp-left` leaves the checkpoint as it was before its last record, and the torn newer version
 * beside it as `<path>.tmp`; `renamed-empty` puts a fresh empty file in its place.
 *
 * @param doneAt Where the finished units stand in it, for the reading afterwards.
 */
export function tearCheckpoint(path: string, shape: TearShape, doneAt?: string): Torn {
  const before = Deno.readFileSync(path);
  const torn = tornBytes(before, shape, path);
  let after = torn;
  let read = torn;
  if (shape === "temp-left") {
    after = withoutLastLine(before);
    Deno.writeFileSync(`${path}.tmp`, torn);
    Deno.writeFileSync(path, after);
    read = torn;
  } else if (shape === "renamed-empty") {
    Deno.writeFileSync(`${path}.tmp`, torn);
    Deno.renameSync(`${path}.tmp`, path);
  } else {
    Deno.writeFileSync(path, torn);
  }
  return { before, after, evidence: evidenceOf({ path, shape, before, read, doneAt }) };
}

function withoutLastLine(bytes: Uint8Array): Uint8Array {
  const end = bytes.at(-1) === NEWLINE ? bytes.length - 1 : bytes.length;
  return bytes.slice(0, bytes.lastIndexOf(NEWLINE, end - 1) + 1);
}

function evidenceOf(
  { path, shape, before, read, doneAt }: {
    path: string;
    shape: TearShape;
    before: Uint8Array;
    read: Uint8Array;
    doneAt: string | undefined;
  },
): FaultRecord["evidence"] {
  const claims = readClaims(read, { path, doneAt });
  if (claims.parses !== false) return [];
  const which = shape === "temp-left" ? "the temporary file that was left" : "the checkpoint";
  return [
    {
      what: `${which} had ${before.length} bytes and has ${read.length}`,
      value: { before: hashBytes(before), after: hashBytes(read) },
    },
    { what: `and it does not read: ${claims.problem}`, value: shape },
  ];
}

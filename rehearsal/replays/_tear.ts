/**
 * The bytes that a torn write leaves of a file.
 *
 * @module
 */

/** How a checkpoint can be torn. */
export const TEARS = ["last-record", "inside-character", "empty", "nul-block", "prefix"] as const;

/** See {@linkcode TEARS}. */
export type Tear = typeof TEARS[number];

const NEWLINE = 0x0a;
const NUL_BLOCK_BYTES_MAX = 512;
/** The first byte of a character of two bytes ("é"), whose second one never came. */
const HALF_CHARACTER = 0xc3;

/** Tears these bytes; what comes out always differs from what went in. */
export function tear(bytes: Uint8Array, shape: Tear): Uint8Array {
  const torn = tornBytes(bytes, shape);
  const isSame = torn.length === bytes.length && torn.every((byte, i) => byte === bytes[i]);
  return isSame ? bytes.slice(0, Math.max(0, bytes.length - 1)) : torn;
}

function tornBytes(bytes: Uint8Array, shape: Tear): Uint8Array {
  switch (shape) {
    case "empty":
      return new Uint8Array(0);
    case "last-record":
      return cutLastRecord(bytes);
    case "prefix":
      return bytes.slice(0, Math.floor(bytes.length / 2));
    case "inside-character":
      return cutInsideCharacter(bytes);
    case "nul-block": {
      // What a file system leaves of a block that it had made room for but not written.
      const length = Math.min(NUL_BLOCK_BYTES_MAX, Math.ceil(bytes.length / 3));
      return bytes.slice().fill(0, bytes.length - length);
    }
  }
}

/** Cuts the last line in half. */
function cutLastRecord(bytes: Uint8Array): Uint8Array {
  const end = bytes.at(-1) === NEWLINE ? bytes.length - 1 : bytes.length;
  const start = end === 0 ? 0 : bytes.lastIndexOf(NEWLINE, end - 1) + 1;
  return bytes.slice(0, start + Math.floor((end - start) / 2));
}

/** Cuts behind the first byte of a character that takes more; where there is none, one is begun. */
function cutInsideCharacter(bytes: Uint8Array): Uint8Array {
  for (let at = bytes.length - 1; at >= 0; at--) {
    if ((bytes[at] ?? 0) >= 0xc2) return bytes.slice(0, at + 1);
  }
  return new Uint8Array([...cutLastRecord(bytes), HALF_CHARACTER]);
}

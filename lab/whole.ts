/**
 * When an output is whole. The grader's looks and the repairs ask the same here, so that a repair
 * never redoes what the lab calls finished.
 *
 * @module
 */

/** How a whole output looks. */
export interface WholeRules {
  /** Shortest whole output. */
  minBytes?: number | undefined;
  /** Text at its very end; white space behind it does not count, unless the text ends with some. */
  endsWith?: string | undefined;
  /** Whether 0 bytes can be a whole output. @default {false} */
  emptyAllowed?: boolean | undefined;
}

/** White space behind an end mark that is overlooked, in bytes. */
const SPACE_BYTES_MAX = 4096;

/**
 * What is wrong with an output, in words; empty when it is whole. Reads only its last bytes.
 *
 * @param bytes Its size, as it was just seen.
 * @throws What opening and reading the file throws.
 */
export function wholeProblems(path: string, bytes: number, rules: WholeRules): string[] {
  const { minBytes, endsWith, emptyAllowed } = rules;
  if (bytes === 0) return emptyAllowed ? [] : ["it is empty"];
  const problems: string[] = [];
  if (minBytes !== undefined && bytes < minBytes) {
    problems.push(`it has ${bytes} bytes; a whole one has at least ${minBytes}`);
  }
  if (endsWith !== undefined && !tailOf(path, bytes, endsWith).endsWith(endsWith)) {
    problems.push(`it does not end with ${JSON.stringify(endsWith)}`);
  }
  return problems;
}

/** The last bytes of a file as text; trailing white space is cut unless the mark ends with it. */
function tailOf(path: string, bytes: number, mark: string): string {
  using file = Deno.openSync(path);
  const length = Math.min(bytes, new TextEncoder().encode(mark).length + SPACE_BYTES_MAX);
  file.seekSync(bytes - length, Deno.SeekMode.Start);
  const buffer = new Uint8Array(length);
  let at = 0;
  while (at < length) {
    const count = file.readSync(buffer.subarray(at));
    if (count === null) break;
    at += count;
  }
  const text = new TextDecoder().decode(buffer.subarray(0, at));
  return mark.trimEnd() === mark ? text.trimEnd() : text;
}

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

/** How much of a file is searched for its end mark. */
const SEARCHED_BYTES_MAX = 1024 * 1024;

/**
 * Whether the end mark stands in an output before its end as well, as `}` does in a file of JSON
 * lines. Such a mark ends a part, so half a file can end with it too. Searches the first megabyte.
 *
 * @throws What opening and reading the file throws.
 */
export function isMarkRepeated(path: string, bytes: number, mark: string): boolean {
  if (mark === "") return true;
  const text = textAt(path, 0, Math.min(bytes, SEARCHED_BYTES_MAX));
  const first = text.indexOf(mark);
  if (first < 0) return false;
  const rest = text.slice(first + mark.length);
  return bytes > SEARCHED_BYTES_MAX || rest.trim() !== "";
}

/** The last bytes of a file as text; trailing white space is cut unless the mark ends with it. */
function tailOf(path: string, bytes: number, mark: string): string {
  const length = Math.min(bytes, new TextEncoder().encode(mark).length + SPACE_BYTES_MAX);
  const text = textAt(path, bytes - length, length);
  return mark.trimEnd() === mark ? text.trimEnd() : text;
}

function textAt(path: string, start: number, length: number): string {
  using file = Deno.openSync(path);
  file.seekSync(start, Deno.SeekMode.Start);
  const buffer = new Uint8Array(length);
  let at = 0;
  while (at < length) {
    const count = file.readSync(buffer.subarray(at));
    if (count === null) break;
    at += count;
  }
  return new TextDecoder().decode(buffer.subarray(0, at));
}

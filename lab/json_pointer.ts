/**
 * JSON pointers (RFC 6901): the way a contract names a place in the user's own JSON files.
 *
 * @module
 */

/**
 * The value at a pointer.
 *
 * @param pointer `""` for the whole document, else `/`-separated with `~1` for `/` and `~0` for `~`.
 * @returns `undefined` when there is nothing at that place.
 */
export function valueAt(document: unknown, pointer: string): unknown {
  if (pointer === "") return document;
  let value = document;
  for (const part of pointer.replace(/^\//, "").split("/")) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    // A list has elements and no other members, although JavaScript knows its length.
    if (Array.isArray(value) && !/^(0|[1-9]\d*)$/.test(key)) return undefined;
    value = (value as Record<string, unknown>)[key];
  }
  return value;
}

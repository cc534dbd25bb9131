/**
 * Keeps real keys out: the provider works with one fake key, and with nothing else.
 *
 * @module
 */

/** What every key of the lab begins with; no provider issues such keys. */
export const FAKE_KEY_PREFIX = "sk-lab-fake";

/** The key that the provider takes when it is given none. */
export const DEFAULT_KEY = "sk-lab-fake-0001";

/** `ours`, `none`: no key came with the request, `foreign`: one that is not ours did. */
export type KeyVerdict = "ours" | "none" | "foreign";

/**
 * Refuses a key that could be real. The message does not repeat it.
 *
 * @throws {TypeError} If the key does not begin with `sk-lab-fake`.
 */
export function checkFakeKey(key: string): void {
  if (key.startsWith(FAKE_KEY_PREFIX)) return;
  throw new TypeError(
    `Cannot start the provider as its key must begin with "${FAKE_KEY_PREFIX}": ` +
      "the one given does not and could be real",
  );
}

/**
 * Looks for keys in all the places where the protocols put them: `x-api-key`, `authorization`,
 * `x-goog-api-key` and `?key=`. One foreign key spoils the request.
 */
export function judgeKey(headers: Headers, query: URLSearchParams, key: string): KeyVerdict {
  const authorization = headers.get("authorization");
  const found = [
    headers.get("x-api-key"),
    authorization === null ? null : authorization.replace(/^bearer\s+/i, ""),
    headers.get("x-goog-api-key"),
    headers.get("api-key"),
    ...query.getAll("key"),
  ].filter((value) => value !== null);
  if (found.length === 0) return "none";
  return found.every((value) => value === key) ? "ours" : "foreign";
}

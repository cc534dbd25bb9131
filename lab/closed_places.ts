/**
 * Places that Deno keeps closed to a program that has not all rights: /dev, /proc and /sys, for
 * reading and for writing. A temp dir in /dev/shm is the one that people meet.
 *
 * @module
 */

/** What to say of such a place. */
export const CLOSED_PLACES =
  "the runtime of this program keeps /dev, /proc and /sys closed; use a folder elsewhere";

const CLOSED_REGEXP = /^Requires all access to "([^"]*)"/;

/** The path of which Deno said that it is closed to everybody; `null` for any other error. */
export function closedPath(error: unknown): string | null {
  if (!(error instanceof Deno.errors.NotCapable)) return null;
  return CLOSED_REGEXP.exec(error.message)?.[1] ?? null;
}

/** Whether a path lies in such a place, as its text tells. */
export function isClosedPlace(path: string): boolean {
  return /^\/(dev|proc|sys)(\/|$)/.test(path);
}

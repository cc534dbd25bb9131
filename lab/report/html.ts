/**
 * Not written yet.
 *
 * @module
 */
import type { RunSet } from "../record.ts";

/** Not written yet. */
export function htmlReport(runSet: RunSet): string {
  return `${runSet.verdict}\n`;
}

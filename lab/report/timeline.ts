/**
 * Not written yet.
 *
 * @module
 */
import type { RunRecord } from "../record.ts";

/** Not written yet. */
export function timelineSvg(record: RunRecord, options: { id: string }): string {
  return `<svg id="${options.id}" data-of="${record.kind}"></svg>`;
}

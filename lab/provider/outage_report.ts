/**
 * What happened while the provider was down, from its log. Pure.
 *
 * @module
 */

import { type AttemptGaps, attemptGaps } from "./attempt_gaps.ts";
import { isAnswered, type ProviderLog } from "./request_log.ts";

/** An outage as the provider saw it. */
export interface OutageReport {
  /**
   * Work requests that met a fault; 0 means that nobody noticed an outage, so nothing is proven.
   */
  requests: number;
  /** Arrival of the first of them, in milliseconds since the provider started. */
  firstMs: number | null;
  /** Arrival of the last of them. */
  lastMs: number | null;
  /** Arrival of the first answered work request after the last of them; `null` if there is none. */
  recoveredMs: number | null;
  /** How the client waited between its attempts. */
  gaps: AttemptGaps;
  /** False when entries were dropped from the log, so that times and gaps may miss some. */
  complete: boolean;
}

/** Tells the outage in a log. `requests` counts all of it, also what the log no longer holds. */
export function outageReport(log: ProviderLog): OutageReport {
  const work = log.entries.filter((entry) => entry.work);
  const lastAt = work.findLastIndex((entry) => entry.fault !== null);
  const recovered = work.slice(lastAt + 1).find(isAnswered);
  return {
    requests: log.counters.faulted,
    firstMs: work.find((entry) => entry.fault !== null)?.atMs ?? null,
    lastMs: work[lastAt]?.atMs ?? null,
    recoveredMs: lastAt === -1 ? null : recovered?.atMs ?? null,
    gaps: attemptGaps(log),
    complete: log.dropped === 0,
  };
}

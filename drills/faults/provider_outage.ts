/**
 * Fault: the provider is down, for longer than the client's patience.
 *
 * @module
 */
import type { EffectsRecord, FaultRecord } from "../../lab/mod.ts";
import type { Fault, LogEntry, OutageReport, Provider, Schedule } from "../../lab/provider/mod.ts";

/** Ways to be down. */
export const OUTAGES = [
  "overloaded-529",
  "rate-limit-429",
  "error-500",
  "cut-stream",
  "stalled",
  "stalled-with-pings",
  "error-event",
  "quota",
] as const;

/** See {@linkcode OUTAGES}. */
export type Outage = typeof OUTAGES[number];

const FAULTS: Readonly<Record<Outage, Fault>> = {
  "overloaded-529": { kind: "529" },
  "rate-limit-429": { kind: "429", retryAfterSeconds: 1 },
  "error-500": { kind: "500" },
  "cut-stream": { kind: "reset-mid-stream", after: "headers", effectFirst: true },
  "stalled": { kind: "stall-before-first-byte" },
  "stalled-with-pings": { kind: "stall-with-pings", after: "headers", pingEveryMs: 20 },
  "error-event": { kind: "error-event" },
  "quota": { kind: "quota", retryAfterSeconds: 3600 },
};

/**
 * The schedule of an outage that begins with one work request.
 *
 * @param count How many requests it meets; `null` for one that never ends by itself.
 */
export function outageOf(outage: Outage, fromRequest: number, count: number | null): Schedule {
  return [{ fault: FAULTS[outage], fromRequest, ...(count === null ? {} : { count }) }];
}

/** The evidence that clients met the outage: requests that the provider itself counted. */
export function outageEvidence(report: OutageReport, outage: Outage): FaultRecord["evidence"] {
  if (report.requests === 0) return [];
  return [{
    what: `the provider met ${report.requests} request(s) with ${outage}`,
    value: { requests: report.requests, firstMs: Math.round(report.firstMs ?? 0) },
  }];
}

/**
 * Whether the waits between failed attempts grew as a doubling wait does: the n-th was at least
 * `baseMs * 2^n`. Unlike a comparison of the waits with each other, this holds on a slow machine.
 *
 * @returns `null` when fewer than `attemptsMin` attempts were made.
 */
export function hasGrowingGaps(
  entries: readonly LogEntry[],
  baseMs: number,
  attemptsMin: number,
): boolean | null {
  const failed = entries.filter((entry) => entry.work);
  if (failed.length < attemptsMin) return null;
  return gapsOf(failed).every((gapMs, index) => gapMs >= baseMs * 2 ** index * 0.9);
}

/** The waits from the end of each failed attempt to the beginning of the next one. */
export function gapsOf(entries: readonly LogEntry[]): number[] {
  return entries.slice(1).flatMap((entry, index) => {
    const before = entries[index];
    if (before === undefined || before.fault === null) return [];
    return [Math.max(0, entry.atMs - (before.endMs ?? before.atMs))];
  });
}

/** The effects as the provider counts them. */
export function providerEffects(provider: Provider, units: readonly string[]): EffectsRecord {
  const { effects } = provider.log();
  const counted = effects.filter((each) => each.effects > 0);
  return {
    path: "the provider's own ledger",
    total: counted.reduce((sum, each) => sum + each.effects, 0),
    keys: counted.length,
    doubled: counted.filter((each) => each.effects > 1)
      .map((each) => ({ key: each.unit, count: each.effects })),
    missing: units.filter((unit) => !counted.some((each) => each.unit === unit)),
    unreadable: 0,
    unknown: [],
  };
}

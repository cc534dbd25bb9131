/**
 * Judges how a client waited between its attempts. Pure: it reads nothing but the log.
 *
 * @module
 */

import type { LogEntry, ProviderLog } from "./request_log.ts";

/** An answer that needs more evidence than there may be. */
export type Judgement = boolean | "unknown";

/** The waits of one unit, idempotency key or turn. */
export interface KeyGaps {
  /** What the attempts belong to. */
  key: string;
  /** Attempts in the kept part of the log. */
  attempts: number;
  /** Waits in milliseconds, from the end of a failed attempt to the start of the next one. */
  gapsMs: readonly number[];
  /**
   * Whether the waits grow; `unknown` with fewer than 3 attempts, and where constant waits are no
   * more than what Retry-After asked for.
   */
  grows: Judgement;
  /** Whether every Retry-After was waited for; `unknown` when none was sent and followed. */
  honoursRetryAfter: Judgement;
  /** Why `grows` is what it is. */
  reason: string;
}

/** The waits of all keys, and one judgement on all of them. */
export interface AttemptGaps {
  /** False when any key says false, else true when any says true. */
  grows: Judgement;
  /** Same rule. */
  honoursRetryAfter: Judgement;
  /** Keys with at least one failed attempt, in order of the first. */
  keys: readonly KeyGaps[];
}

/** Fewer attempts leave at most one gap, and one gap cannot grow. */
const ATTEMPTS_MIN = 3;

/**
 * The longest gap must be at least this many times the first. Doubling gives 2; jitter of a quarter
 * both ways (measured: Claude Code adds up to 25 %) can shrink that to 1.5.
 */
const GROWTH_MIN = 1.5;

/**
 * No gap may fall below this part of the longest one before it. Jitter around a cap stays above it
 * ("equal jitter" keeps at least half); a back-off that starts again after a restart does not.
 */
const DROP_MAX = 0.5;

/**
 * A timer may fire a little early, and the clocks of two processes are read at different moments.
 */
const EARLY_MS = 50;

/** An HTTP date has no fractions of a second. */
const DATE_EARLY_MS = 1000;

/**
 * How a client waited between failed attempts.
 *
 * Entries that were dropped from the log leave holes; a gap across a hole is not measured.
 */
export function attemptGaps(log: Pick<ProviderLog, "entries">): AttemptGaps {
  const byKey = new Map<string, LogEntry[]>();
  for (const entry of log.entries) {
    if (entry.attemptKey === null) continue;
    const list = byKey.get(entry.attemptKey);
    if (list === undefined) byKey.set(entry.attemptKey, [entry]);
    else list.push(entry);
  }
  const keys = [...byKey]
    .filter(([, entries]) => entries.some((entry) => entry.fault !== null))
    .map(([key, entries]) => judgeKey(key, entries));
  return {
    grows: merge(keys.map((key) => key.grows)),
    honoursRetryAfter: merge(keys.map((key) => key.honoursRetryAfter)),
    keys,
  };
}

function judgeKey(key: string, entries: readonly LogEntry[]): KeyGaps {
  const gapsMs: number[] = [];
  const honoured: Judgement[] = [];
  for (const [at, entry] of entries.entries()) {
    const next = entries[at + 1];
    if (next === undefined || entry.fault === null) continue;
    if (next.attempt !== entry.attempt + 1) continue;
    const gapMs = Math.max(0, next.atMs - (entry.endMs ?? entry.atMs));
    gapsMs.push(gapMs);
    if (entry.retryAfterMs === null) continue;
    const earlyMs = entry.retryAfterForm === "http-date" ? DATE_EARLY_MS : EARLY_MS;
    honoured.push(gapMs >= entry.retryAfterMs - earlyMs);
  }
  const asked = honoured.length === gapsMs.length && !honoured.includes(false);
  let growth = judgeGrowth(gapsMs);
  if (growth.grows === false && asked) {
    // The provider chose these waits, and a client that keeps to them says nothing of its own.
    growth = { grows: "unknown", reason: "every wait was as long as Retry-After asked" };
  }
  return { key, attempts: entries.length, gapsMs, ...growth, honoursRetryAfter: merge(honoured) };
}

function judgeGrowth(gapsMs: readonly number[]): { grows: Judgement; reason: string } {
  const [first] = gapsMs;
  if (first === undefined || gapsMs.length < ATTEMPTS_MIN - 1) {
    return { grows: "unknown", reason: `fewer than ${ATTEMPTS_MIN} attempts in a row` };
  }
  let longest = first;
  for (const gapMs of gapsMs) {
    if (gapMs < longest * DROP_MAX) {
      const reason = `a wait of ${round(gapMs)} ms came after one of ${round(longest)} ms`;
      return { grows: false, reason };
    }
    longest = Math.max(longest, gapMs);
  }
  const grows = longest > 0 && longest >= first * GROWTH_MIN;
  const reason = `the first wait was ${round(first)} ms, the longest ${round(longest)} ms`;
  return { grows, reason };
}

function round(ms: number): number {
  return Math.round(ms);
}

function merge(judgements: readonly Judgement[]): Judgement {
  if (judgements.includes(false)) return false;
  return judgements.includes(true) ? true : "unknown";
}

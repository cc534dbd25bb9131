// A clock that only moves when somebody sleeps on it or moves it by hand.

import type { Clock } from "../../lab/clock.ts";

/** A clock whose time is set by the test. */
export interface ScriptedClock extends Clock {
  /** Moves time forward without a sleep. */
  advance(ms: number): void;
}

/**
 * Makes a clock that starts at zero. A sleep takes no time outside and exactly its time inside.
 *
 * @param wallStartMs Wall-clock time at zero. @default {2026-11-30T00:00:00Z}
 */
export function scriptedClock(wallStartMs: number = Date.UTC(2026, 10, 30)): ScriptedClock {
  let nowMs = 0;
  const wallMs = () => wallStartMs + nowMs;
  return {
    nowMs: () => nowMs,
    wallMs,
    wallIso: () => new Date(wallMs()).toISOString(),
    sleep(ms, signal) {
      if (!signal?.aborted) nowMs += Math.max(0, ms);
      return Promise.resolve();
    },
    advance(ms) {
      nowMs += ms;
    },
  };
}

/**
 * The one place that reads time and draws chance. Everything else takes a {@linkcode Clock} or a
 * {@linkcode Random} as a parameter, so that tests can fake both.
 *
 * @module
 */

/** Time as the lab sees it. */
export interface Clock {
  /**
   * Monotonic milliseconds; never goes back. Each thread counts from its own start, so readings of a
   * worker and of the program that started it cannot be compared.
   */
  nowMs(): number;
  /** Wall-clock milliseconds since the epoch; may jump, so use it only to compare with files. */
  wallMs(): number;
  /** Wall-clock time as ISO 8601 in UTC. */
  wallIso(): string;
  /** Resolves after `ms` milliseconds, or at once when `signal` is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** A longer timer would fire at once; a sleep of more than 24 days ends early instead. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/** The real clock of this machine. */
export const systemClock: Clock = {
  nowMs: () => performance.now(),
  wallMs: () => Date.now(),
  wallIso: () => new Date().toISOString(),
  sleep(ms, signal) {
    if (signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", done);
        resolve();
      };
      const timer = setTimeout(done, Math.min(ms, TIMER_MS_MAX));
      signal?.addEventListener("abort", done);
    });
  },
};

/** Limits of one wait. */
export interface WaitOptions {
  /** Give up after this many milliseconds. */
  limitMs: number;
  /** Look again after this many milliseconds. @default {10} */
  everyMs?: number;
  /** Stop waiting when this is aborted. */
  signal?: AbortSignal;
  /** What to wait on. @default {systemClock} */
  clock?: Clock;
}

/**
 * Asks `probe` until it gives something other than `null`, `undefined` or `false`. It is asked once
 * more when the limit has passed, so that a late wake-up does not decide. A probe that itself takes
 * long is not interrupted.
 *
 * @returns What the probe gave, or `null` when the limit passed or the signal was aborted first.
 */
export async function waitUntil<T>(
  probe: () => T | Promise<T>,
  options: WaitOptions,
): Promise<NonNullable<T> | null> {
  const clock = options.clock ?? systemClock;
  const everyMs = options.everyMs ?? 10;
  const endMs = clock.nowMs() + options.limitMs;
  while (true) {
    const answer = await probe();
    if (answer !== null && answer !== undefined && answer !== false) {
      return answer as NonNullable<T>;
    }
    const leftMs = endMs - clock.nowMs();
    if (leftMs <= 0 || options.signal?.aborted) return null;
    await clock.sleep(Math.min(everyMs, leftMs), options.signal);
  }
}

/** A repeatable source of chance. */
export interface Random {
  /** A number in [0, 1). */
  next(): number;
  /** A whole number from `min` to `max`, both included. Throws RangeError when there is none. */
  integer(min: number, max: number): number;
  /** One element of a list that is not empty. Throws RangeError on an empty list. */
  pick<T>(list: readonly T[]): T;
}

/**
 * A seeded generator (mulberry32, a public-domain 32-bit mixer by Tommy Ettinger): the same seed
 * draws the same numbers on every machine.
 */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  return {
    next,
    integer(min, max) {
      if (!Number.isSafeInteger(min) || !Number.isSafeInteger(max) || min > max) {
        throw new RangeError(`Cannot draw a whole number from ${min} to ${max}`);
      }
      return min + Math.floor(next() * (max - min + 1));
    },
    pick<T>(list: readonly T[]): T {
      if (list.length === 0) throw new RangeError("Cannot pick from an empty list");
      return list[Math.floor(next() * list.length)] as T;
    },
  };
}

/** A seed for a run whose user gave none: 31 random bits of the system. */
export function drawSeed(): number {
  const bytes = crypto.getRandomValues(new Uint32Array(1));
  return (bytes[0] ?? 0) >>> 1;
}

/** A fresh marker or run name: 32 hexadecimal digits of system randomness. */
export function drawToken(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

import { assert, assertEquals } from "@std/assert";
import { attemptGaps } from "./attempt_gaps.ts";
import type { LogEntry } from "./request_log.ts";
import { makeEntry } from "./_testing.ts";

/** Failed attempts with these waits between them; each takes 5 ms. */
function attemptsWithGaps(gapsMs: readonly number[], fields: Partial<LogEntry> = {}): LogEntry[] {
  let atMs = 1000;
  return [0, ...gapsMs].map((gapMs, at) => {
    atMs += gapMs;
    const entry = makeEntry({
      atMs,
      endMs: atMs + 5,
      attempt: at + 1,
      fault: "529",
      status: 529,
      ...fields,
    });
    atMs += 5;
    return entry;
  });
}

function judge(gapsMs: readonly number[], fields: Partial<LogEntry> = {}) {
  return attemptGaps({ entries: attemptsWithGaps(gapsMs, fields) });
}

Deno.test("attemptGaps() measures from the end of a failed attempt to the next start", () => {
  assertEquals(judge([500, 1000]).keys[0]?.gapsMs, [500, 1000]);
});

Deno.test("attemptGaps() does not know with fewer than 3 attempts", () => {
  assertEquals([judge([]).grows, judge([500]).grows], ["unknown", "unknown"]);
  assertEquals(judge([500]).keys[0]?.reason, "fewer than 3 attempts in a row");
  assertEquals(attemptGaps({ entries: [] }).grows, "unknown");
});

Deno.test("attemptGaps() accepts the back-off of real clients, with jitter and a cap", () => {
  // Claude Code, Codex, opencode: measured.
  assertEquals(judge([600, 1200, 2300, 4600, 9000, 19000, 34000, 33000]).grows, true);
  assertEquals(judge([200, 400]).grows, true);
  assertEquals(judge([3000, 3000, 3000, 4000, 10000, 19000, 36000]).grows, true);
});

Deno.test("attemptGaps() refuses constant waits, hammering and a reset back-off", () => {
  assertEquals(judge([1000, 1000, 1000, 1000]).grows, false);
  assertEquals(judge([1000, 1300, 900, 1200]).grows, false);
  assertEquals(judge([0, 0, 0]).grows, false);
  const restarted = judge([1000, 2000, 4000, 1000, 2000, 4000]);
  assertEquals(restarted.grows, false);
  assertEquals(restarted.keys[0]?.reason, "a wait of 1000 ms came after one of 4000 ms");
});

Deno.test("attemptGaps() is not fooled by a fresh idempotency key for each attempt", () => {
  const entries = attemptsWithGaps([100, 100, 100])
    .map((entry, at) => ({ ...entry, idempotencyKey: `fresh-${at}` }));
  assertEquals(attemptGaps({ entries }).grows, false);
});

Deno.test("attemptGaps() sees whether Retry-After was waited for", () => {
  const asked = { retryAfterMs: 3000, retryAfterForm: "seconds" } as const;
  assertEquals(judge([3000, 3100], asked).honoursRetryAfter, true);
  assertEquals(judge([2960], asked).honoursRetryAfter, true);
  assertEquals(judge([3000, 2900], asked).honoursRetryAfter, false);
  assertEquals(judge([3000]).honoursRetryAfter, "unknown");
  assertEquals(judge([], asked).honoursRetryAfter, "unknown");
});

Deno.test("attemptGaps() does not blame a client for constant waits that it was asked for", () => {
  const asked = { retryAfterMs: 1000, retryAfterForm: "seconds" } as const;
  const kept = judge([1040, 1010, 1020], asked);
  assertEquals([kept.grows, kept.honoursRetryAfter], ["unknown", true]);
  assertEquals(judge([1000, 900, 1000], asked).grows, false);
  assertEquals(judge([1000, 2000, 4000], asked).grows, true);
  const [first, second, third] = attemptsWithGaps([1000, 1000], asked);
  assert(first !== undefined && second !== undefined && third !== undefined);
  const onceAsked = [first, { ...second, retryAfterMs: null }, third];
  assertEquals(attemptGaps({ entries: onceAsked }).grows, false);
});

Deno.test("attemptGaps() allows for the resolution of an HTTP date", () => {
  const asked = { retryAfterMs: 3000, retryAfterForm: "http-date" } as const;
  assertEquals(judge([2100], asked).honoursRetryAfter, true);
  assertEquals(judge([1900], asked).honoursRetryAfter, false);
});

Deno.test("attemptGaps() measures no gap after an answer, and none across dropped entries", () => {
  const answered = attemptsWithGaps([100, 100]).map((entry) => ({ ...entry, fault: null }));
  assertEquals(attemptGaps({ entries: answered }).keys, []);
  const [first, , third, fourth] = attemptsWithGaps([100, 200, 400]);
  const entries = [first, third, fourth].filter((entry) => entry !== undefined);
  assertEquals(attemptGaps({ entries }).keys[0]?.gapsMs, [400]);
});

Deno.test("attemptGaps() lets one bad key decide, and ignores what is not work", () => {
  const good = attemptsWithGaps([100, 200, 400]);
  const bad = attemptsWithGaps([100, 100, 100], { attemptKey: "b" });
  assertEquals(attemptGaps({ entries: [...good, ...bad] }).grows, false);
  const side = attemptsWithGaps([1, 1, 1], { attemptKey: null, work: false });
  assertEquals(attemptGaps({ entries: [...good, ...side] }).grows, true);
});

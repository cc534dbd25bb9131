import { assertEquals, assertNotEquals, assertThrows } from "@std/assert";
import { type Arrival, type LogEntry, RequestLog } from "./request_log.ts";
import { startProvider } from "./server.ts";
import { onlyEntry, post } from "./_testing.ts";

const WORK: Arrival = {
  atMs: 0,
  wallIso: "2026-01-01T00:00:00.000Z",
  method: "POST",
  path: "/v1/messages",
  protocol: "anthropic-messages",
  work: true,
};

function answer(log: RequestLog, entry: LogEntry): void {
  entry.status = 200;
  log.end(entry, "complete", 1);
}

Deno.test("RequestLog keeps the first and the last entries, and counts all", () => {
  const log = new RequestLog({ keepFirst: 2, keepLast: 3 });
  for (let number = 1; number <= 100; number++) answer(log, log.begin(WORK));
  const { entries, dropped, counters } = log.snapshot();
  assertEquals(entries.map(({ sequence }) => sequence), [1, 2, 98, 99, 100]);
  assertEquals(dropped, 95);
  assertEquals([counters.requests, counters.work, counters.answered], [100, 100, 100]);
});

Deno.test("RequestLog can keep no entry at all and still counts", () => {
  const log = new RequestLog({ keepFirst: 0, keepLast: 0 });
  log.begin(WORK);
  assertEquals([log.snapshot().entries.length, log.snapshot().dropped], [0, 1]);
});

Deno.test("RequestLog gives copies that later requests do not change", () => {
  const log = new RequestLog();
  const entry = log.begin(WORK);
  const before = log.snapshot();
  answer(log, entry);
  assertEquals([before.entries[0]?.outcome, before.counters.answered], ["open", 0]);
});

Deno.test("RequestLog numbers attempts by unit first, then by idempotency key", () => {
  const log = new RequestLog();
  const attempts = [
    { unit: "a", idempotencyKey: "k1" },
    { unit: "a", idempotencyKey: "k2" },
    { idempotencyKey: "k1" },
    { idempotencyKey: "k1" },
  ].map((labels) => log.begin({ ...WORK, ...labels }));
  assertEquals(attempts.map(({ attemptKey, attempt }) => [attemptKey, attempt]), [
    ["a", 1],
    ["a", 2],
    ["k1", 1],
    ["k1", 2],
  ]);
});

Deno.test("RequestLog counts attempts without any key by turn, until the turn is answered", () => {
  const log = new RequestLog();
  const first = log.begin(WORK);
  log.meetFault(first, { kind: "529" });
  log.end(first, "complete", 1);
  const second = log.begin(WORK);
  answer(log, second);
  const third = log.begin(WORK);
  assertEquals([first, second, third].map(({ attemptKey, attempt }) => [attemptKey, attempt]), [
    ["turn-1", 1],
    ["turn-1", 2],
    ["turn-2", 1],
  ]);
});

Deno.test("RequestLog forgets the quietest keys first when there are too many", () => {
  const log = new RequestLog({ keysMax: 2 });
  const attemptOf = (unit: string) => log.begin({ ...WORK, unit }).attempt;
  assertEquals(["a", "b", "a", "c", "a", "b"].map(attemptOf), [1, 1, 2, 1, 3, 1]);
});

Deno.test("RequestLog counts a fault at once, also while the request is stalled", () => {
  const log = new RequestLog();
  log.meetFault(log.begin(WORK), { kind: "stall-mid-stream" });
  log.meetFault(log.begin({ ...WORK, work: false }), { kind: "529" });
  assertEquals(log.snapshot().counters.faulted, 1);
});

Deno.test("RequestLog notes how long a fault asks to wait, and in which form", () => {
  const log = new RequestLog();
  const formOf = (fault: Parameters<RequestLog["meetFault"]>[1]) => {
    const entry = log.begin(WORK);
    log.meetFault(entry, fault);
    return [entry.retryAfterMs, entry.retryAfterForm];
  };
  assertEquals(formOf({ kind: "429" }), [3000, "seconds"]);
  assertEquals(formOf({ kind: "429", retryAfterForm: "none" }), [null, null]);
  assertEquals(formOf({ kind: "503", retryAfterSeconds: 2, retryAfterForm: "http-date" }), [
    2000,
    "http-date",
  ]);
  assertEquals(formOf({ kind: "529" }), [null, null]);
});

Deno.test("RequestLog refuses a limit that is no whole number", () => {
  assertThrows(
    () => new RequestLog({ keepLast: -1 }),
    RangeError,
    "Cannot keep a log as 'keepLast' must be a whole number from 0: current value is -1",
  );
});

Deno.test("an entry says what was asked and what was sent", async () => {
  await using provider = await startProvider();
  const body = { model: "m", stream: true, messages: [] };
  const headers = { "idempotency-key": "k1", "x-lab-unit": "a" };
  await (await post(provider, "/v1/messages?beta=true", body, headers)).text();
  const entry = await onlyEntry(provider);
  const text = JSON.stringify(body);
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  assertEquals(
    entry.bodySha256,
    [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join(""),
  );
  const { bodyBytes, path, stream, idempotencyKey, unit, status, eventCount, pingCount } = entry;
  assertEquals(
    { bodyBytes, path, stream, idempotencyKey, unit, status, eventCount, pingCount },
    {
      bodyBytes: text.length,
      path: "/v1/messages",
      stream: true,
      idempotencyKey: "k1",
      unit: "a",
      status: 200,
      eventCount: 6,
      pingCount: 0,
    },
  );
  assertNotEquals(entry.bytesSent, 0);
  assertEquals(entry.endMs !== null && entry.endMs >= entry.atMs, true);
});

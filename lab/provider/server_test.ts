import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { gzipSync } from "node:zlib";
import { outageSchedule } from "./fault_schedule.ts";
import { startProvider } from "./server.ts";
import {
  ENDLESS_SCRIPT,
  inTime,
  onlyEntry,
  post,
  rawConnection,
  readText,
  startFaulty,
  toolRequest,
  waitForLog,
} from "./_testing.ts";

const UNIT_REQUEST = "POST /lab/unit/a HTTP/1.1\r\nhost: lab\r\ncontent-length: 2\r\n\r\n{}";

Deno.test("startProvider() listens on 127.0.0.1, on a port that the system chose", async () => {
  await using one = await startProvider();
  await using two = await startProvider();
  assert(one.port !== two.port);
  assertEquals(one.url, `http://127.0.0.1:${one.port}`);
});

Deno.test("stop() ends stalled streams, idle connections and half requests at once", async () => {
  const provider = await startProvider({
    script: ENDLESS_SCRIPT,
    schedule: [
      { fault: { kind: "stall-before-first-byte" }, units: ["silent"] },
      { fault: { kind: "stall-with-pings", pingEveryMs: 5 }, units: ["pings"] },
      { fault: { kind: "stall-mid-stream" }, units: ["middle"] },
    ],
  });
  using idle = await rawConnection(provider, UNIT_REQUEST);
  assertStringIncludes(await readText(idle, "ok a\n"), "200 OK");
  using half = await rawConnection(provider, "POST /lab/unit/a HTTP/1.1\r\nho");
  const silent = post(provider, "/lab/unit/silent", {});
  const streams = await Promise.all(
    ["pings", "middle"].map((unit) =>
      post(provider, "/v1/messages", toolRequest(true), { "x-lab-unit": unit })
    ),
  );
  await waitForLog(provider, ({ counters }) => counters.faulted === 3);
  await inTime(provider.stop(), "stop()");
  await assertRejects(() => silent);
  for (const stream of streams) await assertRejects(() => stream.text());
  assertEquals(await readText(idle).catch(() => ""), "");
  assertEquals(await readText(half).catch(() => ""), "");
  const outcomes = provider.log().entries.map(({ outcome }) => outcome);
  assertEquals(outcomes, ["complete", "stopped", "stopped", "stopped", "stopped"]);
  await assertRejects(() => Deno.connect({ hostname: "127.0.0.1", port: provider.port }));
});

Deno.test("stop() ends a wait before an answer, and can be called again", async () => {
  const provider = await startProvider({ delayMs: 60_000 });
  using conn = await rawConnection(provider, UNIT_REQUEST);
  await waitForLog(provider, ({ counters }) => counters.work === 1);
  await inTime(Promise.all([provider.stop(), provider.stop()]), "stop()");
  await provider.stop();
  assertEquals(await readText(conn).catch(() => ""), "");
  assertEquals(provider.log().entries[0]?.outcome, "stopped");
});

Deno.test("stop() throws what an observer threw", async () => {
  const provider = await startProvider({
    observe: () => {
      throw new Error("the observer failed");
    },
  });
  using conn = await rawConnection(provider, UNIT_REQUEST);
  assertEquals(await readText(conn), "");
  await assertRejects(() => provider.stop(), Error, "the observer failed");
});

Deno.test("setSchedule() works from the next request on, and bad ones change nothing", async () => {
  await using provider = await startProvider();
  const statusNow = async () => {
    const response = await post(provider, "/lab/unit/a", {});
    await response.text();
    return response.status;
  };
  const before = await statusNow();
  provider.setSchedule(outageSchedule({ fromMs: provider.nowMs(), forMs: 60_000 }));
  const during = await statusNow();
  await assertRejects(async () => {
    await Promise.resolve(provider.setSchedule([{ fault: { kind: "429" }, count: 0 }]));
  }, RangeError);
  const still = await statusNow();
  provider.setSchedule([]);
  assertEquals([before, during, still, await statusNow()], [200, 529, 529, 200]);
});

Deno.test("a schedule in time follows the clock that it was given", async () => {
  let nowMs = 1_000_000;
  await using provider = await startProvider({
    clock: {
      nowMs: () => nowMs,
      wallIso: () => "2026-01-01T00:00:00.000Z",
      sleep: () => Promise.resolve(),
    },
    schedule: outageSchedule({ fromMs: 100, forMs: 100 }),
  });
  const statuses: number[] = [];
  for (const atMs of [0, 100, 199, 200]) {
    nowMs = 1_000_000 + atMs;
    const response = await post(provider, "/lab/unit/a", {});
    await response.text();
    statuses.push(response.status);
  }
  assertEquals(statuses, [200, 529, 529, 200]);
  const { firstMs, lastMs, recoveredMs, gaps } = provider.outage();
  assertEquals([firstMs, lastMs, recoveredMs], [100, 199, 200]);
  assertEquals(gaps.keys[0]?.gapsMs, [99, 1]);
});

Deno.test("an observer sees each request when it is planned and when it has ended", async () => {
  const seen: string[] = [];
  await using provider = await startProvider({
    observe: (moment, entry) => seen.push(`${moment} ${entry.unit} ${entry.outcome}`),
  });
  await (await post(provider, "/lab/unit/a", {})).text();
  await onlyEntry(provider);
  assertEquals(seen, ["started a open", "ended a complete"]);
});

Deno.test("a script that throws is a 500 that says so, and not work", async () => {
  await using provider = await startProvider({
    script: { ...ENDLESS_SCRIPT, nextUnit: () => Promise.reject(new Error("disk is gone")) },
  });
  const response = await post(provider, "/v1/messages", toolRequest(true));
  await response.text();
  assertEquals(response.status, 500);
  const entry = await onlyEntry(provider);
  assertEquals([entry.note, entry.work], ["the script failed: disk is gone", false]);
});

Deno.test("the unit of a scripted turn is logged; a unit in the header goes first", async () => {
  await using provider = await startProvider({ script: ENDLESS_SCRIPT });
  await (await post(provider, "/v1/messages", toolRequest(true))).text();
  await (await post(provider, "/v1/messages", toolRequest(true), { "x-lab-unit": "b" })).text();
  const { entries, effects } = provider.log();
  assertEquals(entries.map(({ unit, attempt }) => [unit, attempt]), [["unit-1", 1], ["b", 1]]);
  assertEquals(effects.map(({ unit }) => unit), ["b"]);
});

Deno.test("a body compressed with gzip is understood, also when a reset was due", async () => {
  await using provider = await startFaulty({ kind: "reset-before-headers" });
  const send = (encoding: string) =>
    fetch(`${provider.url}/v1/messages`, {
      method: "POST",
      headers: { "x-api-key": provider.key, "content-encoding": encoding },
      body: new Uint8Array(gzipSync(JSON.stringify(toolRequest(true)))),
    });
  await assertRejects(() => send("gzip"), TypeError);
  provider.setSchedule([]);
  const response = await send("gzip");
  assertStringIncludes(await response.text(), "event: message_stop");
  const unknown = await send("zstd");
  await unknown.text();
  assertEquals(unknown.status, 415);
});

Deno.test("a body that is no JSON object is refused with 400", async () => {
  await using provider = await startProvider();
  for (const body of ["", "[", '"text"', "null"]) {
    const response = await fetch(`${provider.url}/v1/messages`, {
      method: "POST",
      headers: { "x-api-key": provider.key },
      body,
    });
    assertEquals((await response.json()).error.type, "invalid_request_error");
    assertEquals(response.status, 400);
  }
  assertEquals(provider.log().counters.work, 0);
});

Deno.test("one connection serves many requests, also when they are sent ahead", async () => {
  await using provider = await startProvider();
  using conn = await rawConnection(provider, UNIT_REQUEST + UNIT_REQUEST.replace("/a", "/b"));
  const text = await readText(conn, "ok b\n");
  assertEquals(text.match(/HTTP\/1\.1 200 OK/g)?.length, 2);
  assertStringIncludes(text, "ok a\n");
});

Deno.test("old clients get no chunks and a closed connection", async () => {
  await using provider = await startProvider();
  const body = '{"stream":true}';
  using conn = await rawConnection(
    provider,
    `POST /v1/messages HTTP/1.0\r\nx-api-key: ${provider.key}\r\n` +
      `content-length: ${body.length}\r\n\r\n${body}`,
  );
  const text = await readText(conn);
  assertStringIncludes(text, "connection: close\r\n\r\nevent: message_start\n");
  assertEquals(text.includes("chunked"), false);
});

Deno.test("a client that waits for 100 Continue gets it before its body is read", async () => {
  await using provider = await startProvider();
  using conn = await rawConnection(
    provider,
    "POST /lab/unit/a HTTP/1.1\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\n",
  );
  await readText(conn, "HTTP/1.1 100 Continue\r\n\r\n");
  await conn.write(new TextEncoder().encode("{}"));
  assertStringIncludes(await readText(conn, "ok a\n"), "HTTP/1.1 200 OK");
});

Deno.test("what is no request is answered 400, logged, and disconnected", async () => {
  await using provider = await startProvider();
  const requests = [
    "NONSENSE\r\n\r\n",
    "POST /lab/unit/a HTTP/1.1\r\ncontent-length: x\r\n\r\n",
    "POST /lab/unit/a HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
  ];
  for (const request of requests) {
    using conn = await rawConnection(provider, request);
    assertStringIncludes(await readText(conn), "HTTP/1.1 400 Bad Request\r\n");
  }
  const { entries } = provider.log();
  assertEquals(entries.map(({ status, work }) => [status, work]), Array(3).fill([400, false]));
});

Deno.test("too long a head is answered 431, too long a body 413", async () => {
  await using provider = await startProvider();
  using head = await rawConnection(provider, `GET / HTTP/1.1\r\nx: ${"y".repeat(66_000)}`);
  assertStringIncludes(await readText(head, "431"), "HTTP/1.1 431 ");
  using body = await rawConnection(
    provider,
    "POST /lab/unit/a HTTP/1.1\r\ncontent-length: 99999999999\r\n\r\n",
  );
  assertStringIncludes(await readText(body), "HTTP/1.1 413 ");
});

import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  onlyEntry,
  post,
  readBodyUntil,
  readSse,
  startFaulty,
  toolRequest,
  waitForLog,
} from "../_testing.ts";

Deno.test("a stall before the first byte sends nothing until the client gives up", async () => {
  await using provider = await startFaulty({ kind: "stall-before-first-byte" });
  const giveUp = new AbortController();
  const answer = post(provider, "/v1/messages", toolRequest(true), {}, giveUp.signal);
  await waitForLog(provider, ({ counters }) => counters.faulted === 1);
  giveUp.abort();
  await assertRejects(() => answer);
  const entry = await onlyEntry(provider);
  assertEquals([entry.status, entry.bytesSent, entry.outcome], [null, 0, "client-left"]);
});

Deno.test("a stall in mid-stream goes silent inside the tool JSON", async () => {
  await using provider = await startFaulty({ kind: "stall-mid-stream" });
  const giveUp = new AbortController();
  const response = await post(provider, "/v1/messages", toolRequest(true), {}, giveUp.signal);
  assert(response.body !== null);
  const reader = response.body.getReader();
  const text = await readBodyUntil(reader, "input_json_delta");
  assertEquals(readSse(text + "\n\n").at(-1)?.event, "content_block_delta");
  const next = reader.read();
  giveUp.abort();
  await assertRejects(() => next);
  const entry = await onlyEntry(provider);
  assertEquals([entry.eventCount, entry.pingCount, entry.outcome], [6, 0, "client-left"]);
});

Deno.test("a stall with pings sends pings, and no provider event more", async () => {
  await using provider = await startFaulty({
    kind: "stall-with-pings",
    pingEveryMs: 5,
    after: "text",
  });
  const giveUp = new AbortController();
  const response = await post(provider, "/v1/messages", toolRequest(true), {}, giveUp.signal);
  assert(response.body !== null);
  const reader = response.body.getReader();
  const text = await readBodyUntil(reader, 'event: ping\ndata: {"type":"ping"}\n\n');
  const { entries } = await waitForLog(provider, (log) => (log.entries[0]?.pingCount ?? 0) >= 5);
  assertEquals([entries[0]?.eventCount, entries[0]?.outcome], [4, "open"]);
  assertEquals(readSse(text).filter(({ event }) => event !== "ping").length, 4);
  giveUp.abort();
  await assertRejects(async () => {
    while (!(await reader.read()).done);
  });
  assertEquals((await onlyEntry(provider)).outcome, "client-left");
});

Deno.test("pings are comments for OpenAI, and empty lines before a document", async () => {
  for (const [stream, ping] of [[true, ": ping\n\n"], [false, "\n"]] as const) {
    await using provider = await startFaulty({
      kind: "stall-with-pings",
      pingEveryMs: 1,
      after: "headers",
    });
    const giveUp = new AbortController();
    const body = { stream, tools: [{ function: { name: "write" } }] };
    const response = await post(provider, "/v1/chat/completions", body, {}, giveUp.signal);
    assert(response.body !== null);
    const reader = response.body.getReader();
    const text = await readBodyUntil(reader, ping);
    assertEquals(text.replaceAll(ping, ""), "");
    giveUp.abort();
    await assertRejects(async () => {
      while (!(await reader.read()).done);
    });
  }
});

import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import {
  onlyEntry,
  post,
  rawConnection,
  readText,
  startFaulty,
  toolRequest,
  waitForLog,
} from "../_testing.ts";

Deno.test("a reset before headers is seen by fetch as a failed connection", async () => {
  await using provider = await startFaulty({ kind: "reset-before-headers" });
  await assertRejects(() => post(provider, "/v1/messages", toolRequest(true)), TypeError);
  // fetch may try once more by itself, because no response had begun.
  const { entries } = await waitForLog(
    provider,
    (log) => log.entries.every(({ endMs }) => endMs !== null),
  );
  for (const entry of entries) {
    assertEquals([entry.status, entry.bytesSent, entry.outcome], [null, 0, "reset"]);
    assertEquals(entry.bodyBytes > 0, true);
  }
});

Deno.test({
  name: "a reset before headers is a real TCP reset, with a body, in chunks and without a body",
  fn: async () => {
    await using provider = await startFaulty({ kind: "reset-before-headers" });
    const start = `POST /lab/unit/a HTTP/1.1\r\nhost: lab\r\n`;
    const requests = [
      `${start}content-length: 2\r\n\r\n{}`,
      `${start}transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
      `${start}\r\n`,
    ];
    for (const request of requests) {
      using conn = await rawConnection(provider, request);
      await assertRejects(() => readText(conn), Deno.errors.ConnectionReset);
    }
  },
});

Deno.test("a reset in mid-stream lets status 200 and half of the tool JSON through", async () => {
  await using provider = await startFaulty({ kind: "reset-mid-stream" });
  const response = await post(provider, "/v1/messages", toolRequest(true));
  assertEquals(response.status, 200);
  await assertRejects(() => response.text(), TypeError);
  const entry = await onlyEntry(provider);
  assertEquals([entry.status, entry.eventCount, entry.outcome], [200, 6, "reset"]);
});

Deno.test("a reset in mid-stream can come right after the headers", async () => {
  await using provider = await startFaulty({ kind: "reset-mid-stream", after: "headers" });
  const response = await post(provider, "/v1/messages", toolRequest(true));
  await assertRejects(() => response.text(), TypeError);
  assertEquals((await onlyEntry(provider)).eventCount, 0);
});

Deno.test({
  name: "a reset in the middle of one document arrives after half of it",
  fn: async () => {
    await using provider = await startFaulty({ kind: "reset-mid-stream" });
    using conn = await rawConnection(
      provider,
      "POST /lab/unit/abcdef HTTP/1.1\r\nhost: lab\r\ncontent-length: 2\r\n\r\n{}",
    );
    assertStringIncludes(await readText(conn, "ok ab"), "HTTP/1.1 200 OK");
    await assertRejects(() => readText(conn), Deno.errors.ConnectionReset);
  },
});

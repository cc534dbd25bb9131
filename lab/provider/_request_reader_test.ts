import { assertEquals, assertRejects } from "@std/assert";
import { BadRequestError, RequestReader } from "./_request_reader.ts";
import type { Wire } from "./_wire.ts";

/** A connection that delivers these pieces and then ends. */
function makeWire(pieces: readonly string[]): Wire {
  const queue = pieces.map((piece) => new TextEncoder().encode(piece));
  return { read: () => Promise.resolve(queue.shift() ?? null) } as unknown as Wire;
}

const LENGTH = "POST /a?x=1 HTTP/1.1\r\nX-Name:  v \r\ncontent-length: 4\r\n\r\nbody";
const CHUNKS = "POST /b HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n" +
  "3;note=x\r\nabc\r\nA\r\n0123456789\r\n0\r\ntrailer: t\r\n\r\n";
const EMPTY = "get /c HTTP/1.1\r\n\r\n";

async function readAll(pieces: readonly string[]): Promise<string[]> {
  const reader = new RequestReader(makeWire(pieces));
  const seen: string[] = [];
  while (true) {
    const head = await reader.readHead();
    if (head === null) return seen;
    const body = await reader.readBody(head, () => Promise.resolve());
    const { method, url, modern, headers } = head;
    const text = new TextDecoder().decode(body);
    seen.push([method, url.pathname + url.search, modern, headers.get("x-name"), text].join(" "));
  }
}

const EXPECTED = [
  "POST /a?x=1 true v body",
  "POST /b false  abc0123456789",
  "GET /c true  ",
];

Deno.test("RequestReader reads request after request, wherever they are cut", async () => {
  const all = LENGTH + CHUNKS + EMPTY;
  assertEquals(await readAll([...all]), EXPECTED);
  for (let at = 0; at <= all.length; at++) {
    assertEquals(await readAll([all.slice(0, at), all.slice(at)]), EXPECTED, `cut at ${at}`);
  }
});

Deno.test("RequestReader asks the client to go on only when it waits", async () => {
  const withExpect = LENGTH.replace("X-Name", "Expect: 100-continue\r\nX-Name");
  const asked: number[] = [];
  for (const text of [LENGTH, withExpect]) {
    let count = 0;
    const reader = new RequestReader(makeWire([text]));
    const head = await reader.readHead();
    if (head !== null) await reader.readBody(head, () => Promise.resolve(void count++));
    asked.push(count);
  }
  assertEquals(asked, [0, 1]);
});

Deno.test("RequestReader refuses what is not whole, not HTTP, or badly framed", async () => {
  const refused: [string, number, string][] = [
    [LENGTH.slice(0, 10), 400, "The request head is not whole"],
    [LENGTH.slice(0, -1), 400, "The request body is not whole"],
    [CHUNKS.slice(0, -3), 400, "The request body is not whole"],
    ["SSH-2.0-x\r\n\r\n", 400, "The request is not HTTP/1"],
    ["M".repeat(21) + " / HTTP/1.1\r\n\r\n", 400, "The request is not HTTP/1"],
    ["GET / HTTP/1.1\r\nno colon\r\n\r\n", 400, "The request head cannot be read"],
    [LENGTH.replace("length: 4", "length: -4"), 400, "The content length is not a number"],
    [CHUNKS.replace("3;note", "x;note"), 400, "The chunk size is not a number"],
    [CHUNKS.replace("3;note", "fffffffff"), 413, "The request body is too long"],
  ];
  for (const [text, status, message] of refused) {
    const error = await assertRejects(() => readAll([text]), BadRequestError, message);
    assertEquals(error.status, status, message);
  }
});

/**
 * Helpers for the tests of this folder.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { systemClock, waitUntil } from "../clock.ts";
import type { Fault } from "./fault_schedule.ts";
import type { AnswerContext, Dialect, Turn } from "./protocol.ts";
import type { LogEntry, ProviderLog } from "./request_log.ts";
import type { Script } from "./scripted_turns.ts";
import { type Provider, startProvider } from "./server.ts";

/** Limit of every wait in these tests; generous, because two cores may run many tests. */
export const WAIT_LIMIT_MS = 10_000;

/** A tool call whose arguments are long enough to be cut. */
export const TOOL_INPUT = { path: "out/unit-1.md", content: "# unit 1\nline two\n" };

/** A turn with that call. */
export const CALL_TURN: Turn = {
  text: "unit 1",
  call: { id: "call_lab_1_abc", name: "write", input: TOOL_INPUT },
};

/** A turn without a call. */
export const DONE_TURN: Turn = { text: "done", call: null };

/** A script that asks for unit 1 for ever. */
export const ENDLESS_SCRIPT: Script = {
  nextUnit: () => "unit-1",
  toolFor: () => ({ name: "write", input: TOOL_INPUT }),
  workTools: "any",
};

/** An Anthropic request that offers a tool. */
export function toolRequest(stream: boolean): Record<string, unknown> {
  return { model: "m", stream, tools: [{ name: "write" }], messages: [] };
}

/** Sends JSON with the provider's key. */
export function post(
  provider: Provider,
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
  signal?: AbortSignal,
): Promise<Response> {
  return fetch(provider.url + path, {
    method: "POST",
    headers: { "x-api-key": provider.key, "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  });
}

/** A provider whose every work request meets one fault. */
export function startFaulty(fault: Fault): Promise<Provider> {
  return startProvider({ script: ENDLESS_SCRIPT, schedule: [{ fault }] });
}

/** One server-sent event, as a client reads it. */
export interface SseEvent {
  event: string | null;
  data: string;
}

/** Reads server-sent events as WHATWG HTML 9.2.6 says; what follows the last blank line is lost. */
export function readSse(text: string): SseEvent[] {
  const events: SseEvent[] = [];
  for (const block of text.split("\n\n").slice(0, -1)) {
    const lines = block.split("\n").filter((line) => !line.startsWith(":"));
    const valueOf = (name: string) =>
      lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
    const data = valueOf("data");
    if (data !== undefined) events.push({ event: valueOf("event") ?? null, data });
  }
  return events;
}

/** The JSON payloads of a stream of a dialect. */
export function streamPayloads(
  dialect: Dialect,
  turn: Turn,
  context: AnswerContext,
  // deno-lint-ignore no-explicit-any -- tests pick fields from foreign formats
): any[] {
  const { opening, callHead, callTail, ending } = dialect.stream(turn, context);
  const text = [...opening, ...callHead, ...callTail, ...ending].map((frame) => frame.text).join(
    "",
  );
  return readSse(text).filter(({ data }) => data !== "[DONE]").map(({ data }) => JSON.parse(data));
}

/** The JSON document of a dialect. */
// deno-lint-ignore no-explicit-any -- tests pick fields from foreign formats
export function wholeDocument(dialect: Dialect, turn: Turn, context: AnswerContext): any {
  const { opening, ending } = dialect.whole(turn, context);
  return JSON.parse([...opening, ...ending].map((frame) => frame.text).join(""));
}

/** Waits until the log of a provider shows something. */
export async function waitForLog(
  provider: Provider,
  test: (log: ProviderLog) => boolean,
): Promise<ProviderLog> {
  const seen = await waitUntil(() => test(provider.log()), { limitMs: WAIT_LIMIT_MS });
  assert(seen, `The log never showed it: ${JSON.stringify(provider.log().entries)}`);
  return provider.log();
}

/** Waits until the only request has ended, and returns its entry. */
export async function onlyEntry(provider: Provider): Promise<LogEntry> {
  const { entries } = await waitForLog(
    provider,
    ({ entries }) => entries.length > 0 && entries.every((entry) => entry.endMs !== null),
  );
  assertEquals(entries.length, 1);
  const [entry] = entries;
  assert(entry !== undefined);
  return entry;
}

/** A raw connection that has sent `text`. */
export async function rawConnection(provider: Provider, text: string): Promise<Deno.TcpConn> {
  const conn = await Deno.connect({ hostname: "127.0.0.1", port: provider.port });
  let rest: Uint8Array = new TextEncoder().encode(text);
  while (rest.length > 0) rest = rest.subarray(await conn.write(rest));
  return conn;
}

/** What a promise gives, or an error when it takes longer than every wait in these tests may. */
export async function inTime<T>(promise: Promise<T>, what: string): Promise<T> {
  const over = new AbortController();
  const late = systemClock.sleep(WAIT_LIMIT_MS, over.signal).then((): T => {
    throw new Error(`Waited ${WAIT_LIMIT_MS} ms for ${what}`);
  });
  late.catch(() => {}); // when the race is over already
  try {
    return await Promise.race([promise, late]);
  } finally {
    promise.catch(() => {});
    over.abort();
  }
}

/** Reads until `wanted` has arrived or the connection ends; a reset is thrown. */
export async function readText(conn: Deno.Conn, wanted?: string): Promise<string> {
  const buffer = new Uint8Array(4096);
  return await readUntil(async () => {
    const count = await conn.read(buffer);
    return count === null ? null : buffer.subarray(0, count);
  }, wanted);
}

/** Reads until `wanted` is in what a response has sent so far. The reader stays locked. */
export async function readBodyUntil(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  wanted: string,
): Promise<string> {
  return await readUntil(async () => (await reader.read()).value ?? null, wanted);
}

async function readUntil(
  read: () => Promise<Uint8Array | null>,
  wanted: string | undefined,
): Promise<string> {
  let text = "";
  const endMs = systemClock.nowMs() + WAIT_LIMIT_MS;
  while (wanted === undefined || !text.includes(wanted)) {
    const what = `${wanted ?? "the end"} after: ${text.slice(-200)}`;
    const bytes = await inTime(read(), what);
    if (bytes === null) break;
    text += new TextDecoder().decode(bytes);
    assert(systemClock.nowMs() < endMs, `Waited too long for ${what}`); // pings can go on for ever
  }
  return text;
}

/** A log entry as the log makes it, with what a test says. */
export function makeEntry(fields: Partial<LogEntry>): LogEntry {
  return {
    sequence: 1,
    atMs: 0,
    wallIso: "2026-01-01T00:00:00.000Z",
    method: "POST",
    path: "/lab/unit/a",
    protocol: "lab-unit",
    work: true,
    stream: false,
    bodyBytes: 0,
    bodySha256: null,
    idempotencyKey: null,
    unit: "a",
    attemptKey: "a",
    attempt: 1,
    fault: null,
    retryAfterMs: null,
    retryAfterForm: null,
    status: 200,
    bytesSent: 0,
    eventCount: 0,
    pingCount: 0,
    endMs: 0,
    outcome: "complete",
    note: null,
    ...fields,
  };
}

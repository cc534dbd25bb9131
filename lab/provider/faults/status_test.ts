import { assertEquals } from "@std/assert";
import type { Fault } from "../fault_schedule.ts";
import { DEFAULT_KEY } from "../key_guard.ts";
import { startProvider } from "../server.ts";
import { onlyEntry, post, startFaulty, toolRequest } from "../_testing.ts";
import { retryAfterMs } from "./status.ts";

const WALL_ISO = "2026-01-01T00:00:00.250Z";

async function meet(fault: Fault) {
  await using provider = await startFaulty(fault);
  const response = await post(provider, "/v1/messages", toolRequest(true));
  const { error } = await response.json();
  const entry = await onlyEntry(provider);
  assertEquals([entry.fault, entry.status], [fault.kind, response.status]);
  const retryAfter = response.headers.get("retry-after");
  return { status: response.status, type: error.type, message: error.message, retryAfter };
}

Deno.test("429 comes with the error of the protocol and with Retry-After in seconds", async () => {
  assertEquals(await meet({ kind: "429" }), {
    status: 429,
    type: "rate_limit_error",
    message: "Rate limited",
    retryAfter: "3",
  });
  assertEquals((await meet({ kind: "429", retryAfterSeconds: 70 })).retryAfter, "70");
});

Deno.test("429 can ask with an HTTP date that never asks for less, or not ask at all", async () => {
  await using provider = await startProvider({
    schedule: [{ fault: { kind: "429", retryAfterForm: "http-date" } }],
    clock: { nowMs: () => 0, wallIso: () => WALL_ISO, sleep: () => Promise.resolve() },
  });
  const response = await post(provider, "/lab/unit/a", {});
  await response.text();
  assertEquals(response.headers.get("retry-after"), "Thu, 01 Jan 2026 00:00:04 GMT");
  assertEquals((await meet({ kind: "429", retryAfterForm: "none" })).retryAfter, null);
});

Deno.test("529 is the overloaded error of Anthropic, with a text of one's own", async () => {
  assertEquals(await meet({ kind: "529" }), {
    status: 529,
    type: "overloaded_error",
    message: "Overloaded",
    retryAfter: null,
  });
  const own = await meet({ kind: "529", message: "Come back later", retryAfterSeconds: 0 });
  assertEquals([own.message, own.retryAfter], ["Come back later", "0"]);
});

Deno.test("500, 503, 401 and 400 carry the error type of their status", async () => {
  const types: [Fault["kind"], string][] = [
    ["500", "api_error"],
    ["503", "api_error"],
    ["401", "authentication_error"],
    ["400", "invalid_request_error"],
  ];
  for (const [kind, type] of types) {
    const met = await meet({ kind });
    assertEquals([String(met.status), met.type], [kind, type]);
  }
});

Deno.test("a used-up quota outlasts the run, and OpenAI names it", async () => {
  await using provider = await startFaulty({ kind: "quota" });
  const response = await fetch(`${provider.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${DEFAULT_KEY}` },
    body: JSON.stringify({ tools: [{ function: { name: "write" } }] }),
  });
  assertEquals([response.status, response.headers.get("retry-after")], [429, "3600"]);
  assertEquals((await response.json()).error.code, "insufficient_quota");
});

Deno.test("a fault reaches shell jobs as a status and one line of text", async () => {
  await using provider = await startFaulty({ kind: "503" });
  const response = await post(provider, "/lab/unit/a", {});
  assertEquals(response.headers.get("content-type"), "text/plain; charset=utf-8");
  assertEquals([response.status, await response.text()], [
    503,
    "error 503: Service unavailable\n",
  ]);
});

Deno.test("retryAfterMs() is what the header will say", () => {
  assertEquals(retryAfterMs({ kind: "429" }), 3000);
  assertEquals(retryAfterMs({ kind: "503" }), null);
  assertEquals(retryAfterMs({ kind: "503", retryAfterSeconds: 5 }), 5000);
});

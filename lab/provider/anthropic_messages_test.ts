import { assertEquals } from "@std/assert";
import { anthropicMessages } from "./anthropic_messages.ts";
import { startProvider } from "./server.ts";
import {
  CALL_TURN,
  DONE_TURN,
  ENDLESS_SCRIPT,
  post,
  readSse,
  streamPayloads,
  TOOL_INPUT,
  toolRequest,
  wholeDocument,
} from "./_testing.ts";

const CONTEXT = { serial: 7, model: "m" };

Deno.test("anthropicMessages.stream() carries the tool input in two JSON parts", () => {
  const payloads = streamPayloads(anthropicMessages, CALL_TURN, CONTEXT);
  const parts = payloads.filter(({ delta }) => delta?.type === "input_json_delta");
  assertEquals(parts.length, 2);
  assertEquals(JSON.parse(parts.map(({ delta }) => delta.partial_json).join("")), TOOL_INPUT);
  assertEquals(payloads.map(({ type }) => type), [
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "content_block_start",
    "content_block_delta",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
  ]);
  assertEquals(payloads.at(-2).delta.stop_reason, "tool_use");
});

Deno.test("anthropicMessages closes a cut call with max_tokens at the token limit", () => {
  const context = { ...CONTEXT, tokenLimit: true, cutAt: 0.9 };
  const payloads = streamPayloads(anthropicMessages, CALL_TURN, context);
  const parts = payloads.filter(({ delta }) => delta?.type === "input_json_delta");
  const json = JSON.stringify(TOOL_INPUT);
  assertEquals(parts.map(({ delta }) => delta.partial_json), [
    json.slice(0, Math.floor(json.length * 0.9)),
  ]);
  assertEquals(payloads.at(-2).delta.stop_reason, "max_tokens");
  assertEquals(
    wholeDocument(anthropicMessages, CALL_TURN, context).content.map(
      (block: { type: string }) => block.type,
    ),
    ["text"],
  );
});

Deno.test("anthropicMessages.whole() says the same as one document", () => {
  const message = wholeDocument(anthropicMessages, CALL_TURN, CONTEXT);
  assertEquals(message.content[1], {
    type: "tool_use",
    id: "call_lab_1_abc",
    name: "write",
    input: TOOL_INPUT,
  });
  assertEquals(message.stop_reason, "tool_use");
  assertEquals(wholeDocument(anthropicMessages, DONE_TURN, CONTEXT).stop_reason, "end_turn");
});

Deno.test("anthropicMessages.parse() reads tools and the ids of answered calls", () => {
  const request = anthropicMessages.parse({
    model: "m",
    stream: true,
    tools: [{ name: "Write" }, { name: "Bash" }, {}],
    messages: [
      { role: "user", content: "text" },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "a" }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "a" }, { type: "text" }] },
    ],
  }, "/v1/messages");
  assertEquals(request.tools, ["Write", "Bash"]);
  assertEquals([...request.answeredCallIds], ["a"]);
  assertEquals([request.stream, request.model, request.wantsJson], [true, "m", false]);
});

Deno.test("POST /v1/messages streams events, and each is named after its type", async () => {
  await using provider = await startProvider({ script: ENDLESS_SCRIPT });
  const response = await post(provider, "/v1/messages?beta=true", toolRequest(true));
  assertEquals(response.headers.get("content-type"), "text/event-stream");
  const events = readSse(await response.text());
  assertEquals(events.length, 10);
  for (const { event, data } of events) assertEquals(JSON.parse(data).type, event);
});

Deno.test("POST /v1/messages without stream answers one JSON document", async () => {
  await using provider = await startProvider({ script: ENDLESS_SCRIPT });
  const response = await post(provider, "/v1/messages", toolRequest(false));
  assertEquals(response.headers.get("content-type"), "application/json");
  assertEquals((await response.json()).content[1].input, TOOL_INPUT);
});

Deno.test("HEAD / and count_tokens are answered and are not work", async () => {
  await using provider = await startProvider();
  const head = await fetch(provider.url, { method: "HEAD" });
  await head.text();
  const count = await post(provider, "/v1/messages/count_tokens?beta=true", { messages: [] });
  assertEquals([head.status, count.status], [200, 200]);
  assertEquals(await count.json(), { "input_tokens": 10 });
  assertEquals(provider.log().entries.map(({ eventCount }) => eventCount), [0, 1]);
  assertEquals(provider.log().counters, {
    requests: 2,
    work: 0,
    faulted: 0,
    answered: 0,
    refused: 0,
  });
});

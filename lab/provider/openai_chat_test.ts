import { assertEquals } from "@std/assert";
import { openaiChat } from "./openai_chat.ts";
import { startProvider } from "./server.ts";
import {
  CALL_TURN,
  DONE_TURN,
  ENDLESS_SCRIPT,
  post,
  readSse,
  streamPayloads,
  TOOL_INPUT,
  wholeDocument,
} from "./_testing.ts";

const CONTEXT = { serial: 7, model: "m" };
const PATH = "/v1/chat/completions";
const TOOLS = [{ type: "function", function: { name: "write" } }];

Deno.test("openaiChat.stream() carries the tool arguments in two JSON parts", () => {
  const payloads = streamPayloads(openaiChat, CALL_TURN, CONTEXT);
  const calls = payloads.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? []);
  assertEquals(calls.map((call) => call.id), ["call_lab_1_abc", undefined]);
  const args = calls.map((call) => call.function.arguments);
  assertEquals(JSON.parse(args.join("")), TOOL_INPUT);
  assertEquals(payloads.at(-2).choices[0].finish_reason, "tool_calls");
  assertEquals(payloads.at(-1).usage.total_tokens, 30);
});

Deno.test("openaiChat closes a cut call with length when the token limit is reached", () => {
  const context = { ...CONTEXT, tokenLimit: true };
  const payloads = streamPayloads(openaiChat, CALL_TURN, context);
  const calls = payloads.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? []);
  assertEquals(calls.length, 1);
  assertEquals(payloads.at(-2).choices[0].finish_reason, "length");
  const [choice] = wholeDocument(openaiChat, CALL_TURN, context).choices;
  assertEquals(choice.finish_reason, "length");
  assertEquals(choice.message.tool_calls[0].function.arguments, calls[0].function.arguments);
});

Deno.test("openaiChat.whole() says the same as one document", () => {
  const [choice] = wholeDocument(openaiChat, CALL_TURN, CONTEXT).choices;
  assertEquals(JSON.parse(choice.message.tool_calls[0].function.arguments), TOOL_INPUT);
  assertEquals(choice.finish_reason, "tool_calls");
  const [done] = wholeDocument(openaiChat, DONE_TURN, CONTEXT).choices;
  assertEquals([done.message.content, done.finish_reason], ["done", "stop"]);
});

Deno.test("openaiChat.parse() reads tools, answered calls and the wish for JSON", () => {
  const request = openaiChat.parse({
    model: "m",
    tools: TOOLS,
    messages: [{ role: "tool", "tool_call_id": "a" }, { role: "user", content: "b" }],
    "response_format": { type: "json_object" },
  }, PATH);
  assertEquals(request, {
    stream: false,
    model: "m",
    tools: ["write"],
    answeredCallIds: new Set(["a"]),
    wantsJson: true,
  });
});

Deno.test("POST /v1/chat/completions streams chunks and ends with [DONE]", async () => {
  await using provider = await startProvider({ script: ENDLESS_SCRIPT });
  const response = await post(provider, PATH, { stream: true, tools: TOOLS });
  const events = readSse(await response.text());
  assertEquals(events.length, 7);
  assertEquals(events.at(-1), { event: null, data: "[DONE]" });
});

Deno.test("POST /v1/chat/completions takes the key as a bearer token", async () => {
  await using provider = await startProvider({ script: ENDLESS_SCRIPT });
  const response = await fetch(provider.url + PATH, {
    method: "POST",
    headers: { authorization: `Bearer ${provider.key}` },
    body: JSON.stringify({ tools: TOOLS }),
  });
  assertEquals((await response.json()).choices[0].message.content, "unit unit-1");
});

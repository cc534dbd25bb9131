import { assertEquals } from "@std/assert";
import { openaiResponses } from "./openai_responses.ts";
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
const PATH = "/v1/responses";
const TOOLS = [{ type: "function", name: "write" }];

Deno.test("openaiResponses.stream() numbers its events and repeats the call in full", () => {
  const payloads = streamPayloads(openaiResponses, CALL_TURN, CONTEXT);
  assertEquals(payloads.map((event) => event.sequence_number), [...payloads.keys()]);
  const deltas = payloads.filter(({ type }) => type === "response.function_call_arguments.delta");
  const args = deltas.map(({ delta }) => delta).join("");
  assertEquals(deltas.length, 2);
  assertEquals(JSON.parse(args), TOOL_INPUT);
  const { type, response } = payloads.at(-1);
  assertEquals([type, response.status], ["response.completed", "completed"]);
  assertEquals(response.output[1].arguments, args);
  assertEquals(response.output[1].call_id, "call_lab_1_abc");
});

Deno.test("openaiResponses closes a cut call as incomplete when the token limit is reached", () => {
  const context = { ...CONTEXT, tokenLimit: true };
  const payloads = streamPayloads(openaiResponses, CALL_TURN, context);
  const { type, response } = payloads.at(-1);
  assertEquals(type, "response.incomplete");
  assertEquals(response.incomplete_details, { reason: "max_output_tokens" });
  const json = JSON.stringify(TOOL_INPUT);
  assertEquals(response.output[1].arguments, json.slice(0, Math.floor(json.length / 2)));
  const whole = wholeDocument(openaiResponses, CALL_TURN, context);
  assertEquals([whole.status, whole.output[1].status], ["incomplete", "incomplete"]);
});

Deno.test("openaiResponses.whole() says the same as one document", () => {
  const { output, status } = wholeDocument(openaiResponses, CALL_TURN, CONTEXT);
  assertEquals(JSON.parse(output[1].arguments), TOOL_INPUT);
  assertEquals(status, "completed");
  assertEquals(wholeDocument(openaiResponses, DONE_TURN, CONTEXT).output.length, 1);
});

Deno.test("openaiResponses.parse() reads tools with and without a name, and answered calls", () => {
  const request = openaiResponses.parse({
    model: "m",
    stream: true,
    tools: [...TOOLS, { type: "local_shell" }],
    input: [
      { type: "function_call", "call_id": "not answered" },
      { type: "function_call_output", "call_id": "a" },
      { type: "custom_tool_call_output", "call_id": "b" },
    ],
    text: { format: { type: "json_schema" } },
  }, PATH);
  assertEquals(request.tools, ["write", "local_shell"]);
  assertEquals([...request.answeredCallIds], ["a", "b"]);
  assertEquals(request.wantsJson, true);
});

Deno.test("POST /v1/responses streams events, and each is named after its type", async () => {
  await using provider = await startProvider({ script: ENDLESS_SCRIPT });
  const response = await post(provider, PATH, { stream: true, tools: TOOLS });
  const events = readSse(await response.text());
  for (const { event, data } of events) assertEquals(JSON.parse(data).type, event);
  assertEquals(events.at(-1)?.event, "response.completed");
});

Deno.test("POST /v1/responses without stream answers one JSON document", async () => {
  await using provider = await startProvider({ script: ENDLESS_SCRIPT });
  const response = await post(provider, PATH, { tools: TOOLS });
  assertEquals((await response.json()).output[1].name, "write");
});

import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import type { Fault } from "../fault_schedule.ts";
import { onlyEntry, post, readSse, startFaulty, TOOL_INPUT, toolRequest } from "../_testing.ts";

/** What a client gets to read; the response ends properly in all these faults. */
async function meet(fault: Fault, stream = true, path = "/v1/messages"): Promise<string> {
  await using provider = await startFaulty(fault);
  const response = await post(provider, path, toolRequest(stream));
  assertEquals(response.status, 200);
  const text = await response.text();
  assertEquals((await onlyEntry(provider)).outcome, "complete");
  assertEquals(provider.log().counters.answered, 0);
  return text;
}

function eventTypes(text: string): (string | null)[] {
  return readSse(text).map(({ event }) => event);
}

/** All of the tool JSON that arrived. */
function toolJson(text: string): string {
  return readSse(text).map(({ data }) => JSON.parse(data).delta?.partial_json ?? "").join("");
}

Deno.test("a stream that ends early has text, no tool call and no end mark", async () => {
  const types = eventTypes(await meet({ kind: "ends-early" }));
  assertEquals(types.slice(-2), ["content_block_delta", "content_block_stop"]);
  assertEquals(types.length, 4);
});

Deno.test("a document that ends early is cut JSON behind a proper length or chunks", async () => {
  const text = await meet({ kind: "ends-early" }, false);
  assertThrows(() => JSON.parse(text), SyntaxError);
});

Deno.test("a cut inside the tool JSON stops where it is told to", async () => {
  const whole = JSON.stringify(TOOL_INPUT);
  const half = toolJson(await meet({ kind: "cut-tool-json" }));
  assertEquals(half, whole.slice(0, Math.floor(whole.length * 0.5)));
  const most = toolJson(await meet({ kind: "cut-tool-json", cutAt: 0.88 }));
  assertEquals(most, whole.slice(0, Math.floor(whole.length * 0.88)));
});

Deno.test("a cut by the token limit closes by the book around broken tool JSON", async () => {
  const text = await meet({ kind: "cut-tool-json", tokenLimit: true });
  assertEquals(eventTypes(text).at(-1), "message_stop");
  assertStringIncludes(text, '"stop_reason":"max_tokens"');
  assertThrows(() => JSON.parse(toolJson(text)), SyntaxError);
});

Deno.test("a cut inside a Gemini call leaves half a frame", async () => {
  const path = "/v1beta/models/m:streamGenerateContent";
  await using provider = await startFaulty({ kind: "cut-tool-json" });
  const body = { tools: [{ functionDeclarations: [{ name: "write" }] }] };
  const text = await (await post(provider, path, body)).text();
  const [first = "", rest = ""] = text.split("\n\n");
  assertEquals(JSON.parse(first.slice(6)).candidates[0].content.parts[0].text, "unit unit-1");
  assertThrows(() => JSON.parse(rest.slice(6)), SyntaxError);
  assertEquals((await onlyEntry(provider)).eventCount, 1);
});

Deno.test("a malformed frame stands in a stream that is otherwise whole", async () => {
  const frames = readSse(await meet({ kind: "malformed-frame" }));
  const broken = frames.filter(({ data }) => {
    try {
      return JSON.parse(data) === undefined;
    } catch {
      return true;
    }
  });
  assertEquals(broken.map(({ event }) => event), ["content_block_delta"]);
  assertEquals([frames.length, frames.at(-1)?.event], [11, "message_stop"]);
  const document = await meet({ kind: "malformed-frame" }, false);
  assertThrows(() => JSON.parse(document), SyntaxError);
});

Deno.test("an error event comes inside a 200, after half of the tool JSON", async () => {
  const text = await meet({ kind: "error-event", message: "Too busy" });
  const last = readSse(text).at(-1);
  assertEquals(last?.event, "error");
  assertEquals(JSON.parse(last?.data ?? ""), {
    type: "error",
    error: { type: "overloaded_error", message: "Too busy" },
  });
  assertEquals(JSON.parse(await meet({ kind: "error-event" }, false)).error.message, "Overloaded");
});

Deno.test("an error event of OpenAI Responses is response.failed", async () => {
  await using provider = await startFaulty({ kind: "error-event" });
  const body = { stream: true, tools: [{ name: "write" }] };
  const text = await (await post(provider, "/v1/responses", body)).text();
  const last = readSse(text).at(-1);
  assertEquals(last?.event, "response.failed");
  assertEquals(JSON.parse(last?.data ?? "").response.error.code, "server_is_overloaded");
});

import { assertEquals } from "@std/assert";
import { gemini } from "./gemini.ts";
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
const TOOLS = [{ functionDeclarations: [{ name: "write" }] }];

Deno.test("gemini.stream() carries the call whole, in one frame that can be cut", () => {
  const payloads = streamPayloads(gemini, CALL_TURN, CONTEXT);
  const parts = payloads.map(({ candidates }) => candidates[0].content.parts[0]);
  assertEquals(parts[1].functionCall.args, TOOL_INPUT);
  assertEquals(payloads.at(-1).candidates[0].finishReason, "STOP");
  const { callHead, callTail } = gemini.stream(CALL_TURN, CONTEXT);
  assertEquals(callHead.map((frame) => frame.counts), ["none"]);
  assertEquals(callTail.map((frame) => frame.counts), ["event"]);
});

Deno.test("gemini drops the call when the token limit is reached", () => {
  const context = { ...CONTEXT, tokenLimit: true };
  const payloads = streamPayloads(gemini, CALL_TURN, context);
  assertEquals(payloads.length, 2);
  assertEquals(payloads.at(-1).candidates[0].finishReason, "MAX_TOKENS");
  const [candidate] = wholeDocument(gemini, CALL_TURN, context).candidates;
  assertEquals([candidate.finishReason, candidate.content.parts.length], ["MAX_TOKENS", 1]);
});

Deno.test("gemini.whole() says the same as one document", () => {
  const [candidate] = wholeDocument(gemini, CALL_TURN, CONTEXT).candidates;
  assertEquals(candidate.content.parts[1].functionCall.args, TOOL_INPUT);
  const [done] = wholeDocument(gemini, DONE_TURN, CONTEXT).candidates;
  assertEquals(done.content.parts, [{ text: "done" }]);
});

Deno.test("gemini.parse() reads the model and the wish for a stream from the path", () => {
  const body = {
    tools: TOOLS,
    contents: [{ parts: [{ functionResponse: { id: "a", name: "write" } }, { text: "b" }] }],
    generationConfig: { responseMimeType: "application/json" },
  };
  assertEquals(gemini.parse(body, "/v1beta/models/gem-1:streamGenerateContent"), {
    stream: true,
    model: "gem-1",
    tools: ["write"],
    answeredCallIds: new Set(["a"]),
    wantsJson: true,
  });
  assertEquals(gemini.parse({}, "/v1beta/models/gem-1:generateContent").stream, false);
});

Deno.test("POST :streamGenerateContent streams, :generateContent does not", async () => {
  await using provider = await startProvider({ script: ENDLESS_SCRIPT });
  const path = "/v1beta/models/gem-1";
  const streamed = await post(provider, `${path}:streamGenerateContent?alt=sse`, { tools: TOOLS });
  assertEquals(readSse(await streamed.text()).length, 3);
  const whole = await post(provider, `${path}:generateContent`, { tools: TOOLS });
  const { candidates, modelVersion } = await whole.json();
  assertEquals(candidates[0].content.parts[1].functionCall.name, "write");
  assertEquals(modelVersion, "gem-1");
});

Deno.test("the Gemini key may come in the query, and a foreign one is refused", async () => {
  await using provider = await startProvider();
  const url = `${provider.url}/v1beta/models/gem-1:generateContent?key=`;
  const ours = await fetch(url + provider.key, { method: "POST", body: "{}" });
  await ours.text();
  const foreign = await fetch(`${url}AIza-real`, { method: "POST", body: "{}" });
  assertEquals((await foreign.json()).error.status, "UNAUTHENTICATED");
  assertEquals([ours.status, foreign.status], [200, 401]);
});

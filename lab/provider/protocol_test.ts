import { assertEquals } from "@std/assert";
import { splitToolJson, SSE_COMMENT_PING, sseFrame, wholeAnswer } from "./protocol.ts";
import { readSse } from "./_testing.ts";

Deno.test("splitToolJson() leaves something on both sides, even of a short text", () => {
  assertEquals(splitToolJson("{}", 0.01), ["{", "}"]);
  assertEquals(splitToolJson("{}", 0.99), ["{", "}"]);
  assertEquals(splitToolJson("0123456789", 0.88), ["01234567", "89"]);
});

Deno.test("splitToolJson() never tears a surrogate pair", () => {
  assertEquals(splitToolJson("a\u{1F600}b", 0.5), ["a\u{1F600}", "b"]);
});

Deno.test("sseFrame() is read back as one event, and a comment ping as none", () => {
  assertEquals(readSse(sseFrame({ a: 1 }, "x").text), [{ event: "x", data: '{"a":1}' }]);
  assertEquals(readSse(SSE_COMMENT_PING.text), []);
});

Deno.test("wholeAnswer() is cut inside the text that it is told to cut", () => {
  const { opening, ending } = wholeAnswer('{"long":"aaaaaaaaaaaaaaaaaa","call":"bb"}', "t", '"bb"');
  assertEquals(opening[0]?.text.endsWith('"call":"b'), true);
  assertEquals(ending[0]?.text, 'b"}');
  assertEquals(wholeAnswer("abcd", "t").opening[0]?.text, "ab");
});

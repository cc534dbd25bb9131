import { assertEquals, assertStringIncludes } from "@std/assert";
import { onlyEntry, post, startFaulty, toolRequest } from "../_testing.ts";

Deno.test("an empty 200 has no byte of body, streamed or not", async () => {
  for (const stream of [true, false]) {
    await using provider = await startFaulty({ kind: "empty-200" });
    const response = await post(provider, "/v1/messages", toolRequest(stream));
    assertEquals([response.status, await response.text()], [200, ""]);
    const entry = await onlyEntry(provider);
    assertEquals([entry.fault, entry.eventCount, entry.outcome], ["empty-200", 0, "complete"]);
    assertEquals(provider.log().counters.answered, 0);
  }
});

Deno.test("an HTML 200 is a page of a proxy", async () => {
  await using provider = await startFaulty({ kind: "html-200" });
  const response = await post(provider, "/v1/messages", toolRequest(true));
  assertEquals(response.headers.get("content-type"), "text/html; charset=utf-8");
  assertStringIncludes(await response.text(), "<!DOCTYPE html>");
  assertEquals((await onlyEntry(provider)).eventCount, 0);
});

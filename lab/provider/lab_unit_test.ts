import { assertEquals, assertStringIncludes } from "@std/assert";
import { startProvider } from "./server.ts";
import { onlyEntry, post } from "./_testing.ts";

Deno.test("POST /lab/unit/<key> answers ok and the key, and needs no API key", async () => {
  await using provider = await startProvider();
  const response = await fetch(`${provider.url}/lab/unit/unit%201`, { method: "POST" });
  assertEquals([response.status, await response.text()], [200, "ok unit 1\n"]);
  const entry = await onlyEntry(provider);
  assertEquals([entry.unit, entry.protocol, entry.attempt], ["unit 1", "lab-unit", 1]);
});

Deno.test("a repeated idempotency key is one effect, a fresh one is another", async () => {
  await using provider = await startProvider();
  for (const key of ["k1", "k1", "k2"]) {
    await (await post(provider, "/lab/unit/a", {}, { "idempotency-key": key })).text();
  }
  await (await post(provider, "/lab/unit/b", {})).text();
  assertEquals(provider.log().effects, [
    { unit: "a", effects: 2, answers: 3, keys: 2 },
    { unit: "b", effects: 1, answers: 1, keys: 0 },
  ]);
});

Deno.test("an idempotency key that belongs to another unit is refused with 422", async () => {
  await using provider = await startProvider();
  const headers = { "idempotency-key": "k1" };
  await (await post(provider, "/lab/unit/a", {}, headers)).text();
  const response = await post(provider, "/lab/unit/b", {}, headers);
  assertEquals(response.status, 422);
  assertStringIncludes(await response.text(), "error 422: this idempotency key belongs");
  assertEquals(provider.log().effects.map(({ unit }) => unit), ["a"]);
});

Deno.test("a request that met a fault has no effect, unless only its answer was lost", async () => {
  await using provider = await startProvider({
    schedule: [
      { fault: { kind: "503" }, count: 1 },
      { fault: { kind: "500", effectFirst: true }, count: 1 },
    ],
  });
  const headers = { "idempotency-key": "k1" };
  const statuses: number[] = [];
  const effects: number[] = [];
  for (let attempt = 1; attempt <= 3; attempt++) {
    const response = await post(provider, "/lab/unit/a", {}, headers);
    await response.text();
    statuses.push(response.status);
    effects.push(provider.log().effects[0]?.effects ?? 0);
  }
  assertEquals(statuses, [503, 500, 200]);
  assertEquals(effects, [0, 1, 1]);
  assertEquals(provider.log().effects[0]?.answers, 1);
});

Deno.test("model requests count as effects by x-lab-unit", async () => {
  await using provider = await startProvider();
  const headers = { "x-lab-unit": "a", "idempotency-key": "k1" };
  await (await post(provider, "/v1/messages", { messages: [] }, headers)).text();
  await (await post(provider, "/v1/messages", { messages: [] }, headers)).text();
  assertEquals(provider.log().effects, [{ unit: "a", effects: 1, answers: 2, keys: 1 }]);
});

Deno.test("a unit name or an idempotency key that is too long is refused with 400", async () => {
  await using provider = await startProvider();
  const long = "x".repeat(400);
  const byPath = await post(provider, `/lab/unit/${long}`, {});
  await byPath.text();
  const byHeader = await post(provider, "/lab/unit/a", {}, { "idempotency-key": long });
  assertStringIncludes(await byHeader.text(), "must have at most 255 characters");
  assertEquals([byPath.status, byHeader.status], [400, 400]);
  const log = provider.log();
  assertEquals([log.counters.work, log.entries[0]?.path], [0, `/lab/unit/${long}`.slice(0, 300)]);
});

import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { checkFakeKey, judgeKey } from "./key_guard.ts";
import { startProvider } from "./server.ts";

const REAL_KEY = "sk-ant-api03-this-could-be-real";
const OURS = "sk-lab-fake-7";

function judge(headers: Record<string, string>, query = "") {
  return judgeKey(new Headers(headers), new URLSearchParams(query), OURS);
}

Deno.test("checkFakeKey() refuses a key that could be real, without repeating it", () => {
  checkFakeKey(OURS);
  const error = assertThrows(() => checkFakeKey(REAL_KEY), TypeError, 'begin with "sk-lab-fake"');
  assertEquals(String(error).includes(REAL_KEY), false);
});

Deno.test("a provider does not start with a key that could be real", async () => {
  await assertRejects(
    () => startProvider({ key: REAL_KEY }),
    TypeError,
    "Cannot start the provider",
  );
});

Deno.test("judgeKey() looks in every place where a protocol puts its key", () => {
  for (const name of ["x-api-key", "x-goog-api-key", "api-key"]) {
    assertEquals(judge({ [name]: OURS }), "ours");
    assertEquals(judge({ [name]: REAL_KEY }), "foreign");
  }
  assertEquals(judge({ authorization: `Bearer ${OURS}` }), "ours");
  assertEquals(judge({ authorization: `bearer ${REAL_KEY}` }), "foreign");
  assertEquals(judge({}, `key=${OURS}`), "ours");
  assertEquals(judge({}, `key=${REAL_KEY}`), "foreign");
  assertEquals(judge({}), "none");
});

Deno.test("judgeKey() does not let one of our keys cover for a foreign one", () => {
  assertEquals(judge({ "x-api-key": OURS, authorization: `Bearer ${REAL_KEY}` }), "foreign");
  assertEquals(judge({ "x-api-key": "sk-lab-fake-8" }), "foreign");
});

Deno.test("a real key that arrives is refused with 401, and nothing of it is kept", async () => {
  const seen: string[] = [];
  await using provider = await startProvider({
    observe: (_moment, entry) => seen.push(JSON.stringify(entry)),
  });
  const paths = [
    "/v1/messages",
    `/v1/messages/${REAL_KEY}`,
    `/lab/unit/${REAL_KEY}`,
    `/v1beta/models/${REAL_KEY}:generateContent?key=${REAL_KEY}`,
  ];
  for (const path of paths) {
    const response = await fetch(provider.url + path, {
      method: "POST",
      headers: {
        "x-api-key": REAL_KEY,
        "idempotency-key": REAL_KEY,
        "x-lab-unit": REAL_KEY,
      },
      body: JSON.stringify({ model: REAL_KEY }),
    });
    assertEquals(response.status, 401);
    assertEquals((await response.text()).includes(REAL_KEY), false);
  }
  const log = provider.log();
  assertEquals([log.counters.refused, log.counters.work, log.effects.length], [4, 0, 0]);
  for (const entry of log.entries) {
    assertEquals([entry.note, entry.bodySha256], ["a key that is not ours arrived", null]);
  }
  const kept = JSON.stringify([log, provider.outage(), seen]);
  assert(kept.includes("/messages"));
  assertEquals(kept.includes(REAL_KEY), false);
});

Deno.test("a model request without any key is refused, and not as a foreign key", async () => {
  await using provider = await startProvider();
  const response = await fetch(`${provider.url}/v1/messages`, { method: "POST", body: "{}" });
  assertEquals((await response.json()).error.type, "authentication_error");
  const log = provider.log();
  assertEquals([log.entries[0]?.note, log.counters.refused], ["no key arrived", 0]);
});

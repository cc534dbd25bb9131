import { assertEquals, assertMatch, assertNotEquals, assertRejects } from "@std/assert";
import type { ModelRequest } from "./protocol.ts";
import {
  callId,
  isWorkRequest,
  planTurn,
  type Script,
  unitsByCallId,
  unitsOnDisk,
} from "./scripted_turns.ts";
import { ENDLESS_SCRIPT, TOOL_INPUT } from "./_testing.ts";

const UNITS = ["unit-1", "unit-2", "unit-3"];

function makeRequest(fields: Partial<ModelRequest> = {}): ModelRequest {
  return {
    stream: false,
    model: "m",
    tools: ["write"],
    answeredCallIds: new Set(),
    wantsJson: false,
    ...fields,
  };
}

Deno.test("unitsOnDisk() asks for the first missing unit, also in the middle", async () => {
  const whole = new Set(["unit-1", "unit-3"]);
  const nextUnit = unitsOnDisk(UNITS, (unit) => Promise.resolve(whole.has(unit)));
  assertEquals(await nextUnit(makeRequest()), "unit-2");
  whole.add("unit-2");
  assertEquals(await nextUnit(makeRequest()), null);
});

Deno.test("unitsOnDisk() does not care what the history says", async () => {
  const answeredCallIds = new Set(UNITS.map((unit) => callId(unit, 1)));
  const nextUnit = unitsOnDisk(UNITS, () => false);
  assertEquals(await nextUnit(makeRequest({ answeredCallIds })), "unit-1");
});

Deno.test("unitsByCallId() goes by the unit in the id, not by the number of results", () => {
  const nextUnit = unitsByCallId(UNITS);
  const twice = new Set([callId("unit-1", 1), callId("unit-1", 9)]);
  assertEquals(nextUnit(makeRequest({ answeredCallIds: twice })), "unit-2");
  const dropped = new Set([callId("unit-2", 2)]);
  assertEquals(nextUnit(makeRequest({ answeredCallIds: dropped })), "unit-1");
  const all = new Set(UNITS.map((unit) => callId(unit, 1)));
  assertEquals(nextUnit(makeRequest({ answeredCallIds: all })), null);
});

Deno.test("callId() fits the narrowest protocol and differs by unit and by answer", () => {
  assertMatch(callId("out/ünit 1.md".repeat(50), 123456), /^[A-Za-z0-9_-]{1,64}$/);
  assertNotEquals(callId("a", 1), callId("b", 1));
  assertNotEquals(callId("a", 1), callId("a", 2));
});

Deno.test("planTurn() makes a call for a missing unit and ends when nothing is left", async () => {
  const script: Script = { ...ENDLESS_SCRIPT, nextUnit: () => "unit-1" };
  const { turn, unit } = await planTurn(script, makeRequest(), 4);
  assertEquals(unit, "unit-1");
  assertEquals(turn.call, { id: callId("unit-1", 4), name: "write", input: TOOL_INPUT });
  const done = { ...script, nextUnit: () => null, doneText: "all there" };
  assertEquals(await planTurn(done, makeRequest(), 5), {
    turn: { text: "all there", call: null },
    unit: null,
  });
});

Deno.test("planTurn() answers side requests without asking the disk", async () => {
  const script: Script = {
    ...ENDLESS_SCRIPT,
    nextUnit: () => {
      throw new Error("must not be asked");
    },
    workTools: ["write"],
  };
  const side = makeRequest({ tools: ["think"] });
  assertEquals((await planTurn(script, side, 1)).turn, { text: "lab", call: null });
  const title = { ...side, wantsJson: true };
  assertEquals((await planTurn(script, title, 1)).turn.text, '{"title":"lab"}');
  await assertRejects(() => planTurn(script, makeRequest(), 1), Error, "must not be asked");
});

Deno.test("isWorkRequest() tells work by the tools on offer", () => {
  const script: Script = { ...ENDLESS_SCRIPT, workTools: ["write", "bash"] };
  assertEquals(isWorkRequest(script, ["read", "bash"]), true);
  assertEquals(isWorkRequest(script, []), false);
  assertEquals(isWorkRequest({ ...script, workTools: "any" }, ["read"]), true);
  assertEquals(isWorkRequest({ ...script, workTools: "any" }, []), false);
  assertEquals(isWorkRequest(null, []), true);
});

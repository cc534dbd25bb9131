import { assertEquals, assertThrows } from "@std/assert";
import { runRecordSchema } from "../record.ts";
import { mixedSet, passSet } from "./_fixture_sets.ts";
import { NASTY } from "./_fixtures.ts";
import { jsonReport, parseRunSet } from "./json.ts";

function shuffledKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shuffledKeys);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).reverse().map(([key, each]) => [key, shuffledKeys(each)]),
  );
}

Deno.test("nothing is lost: what was written is read back exactly, nasty names included", () => {
  assertEquals(parseRunSet(jsonReport(mixedSet)) as unknown, mixedSet);
  const record = parseRunSet(jsonReport(passSet)).runs[0]?.record;
  assertEquals(runRecordSchema.parse(record), passSet.runs[0]?.record);
});

Deno.test("the same content gives the same bytes, whatever the order of its keys was", () => {
  const text = jsonReport(mixedSet);
  assertEquals(jsonReport(shuffledKeys(mixedSet) as typeof mixedSet), text);
  assertEquals(Object.keys(JSON.parse(text)).slice(0, 5), [
    "schema",
    "version",
    "command",
    "verdict",
    "exitCode",
  ]);
});

Deno.test("a key of the user's data called __proto__ is kept as data", () => {
  const declared = JSON.parse('{"__proto__": {"polluted": 1}, "constructor": 2}');
  const [run] = structuredClone(passSet.runs);
  if (run === undefined) throw new Error("fixture");
  run.record.options = declared;
  const text = jsonReport({ ...passSet, runs: [run] });
  assertEquals(text.includes('"__proto__": {'), true);
  assertEquals(({} as Record<string, unknown>)["polluted"], undefined);
});

Deno.test("what is no report is refused with what it is", () => {
  assertThrows(() => parseRunSet("{"), SyntaxError);
  assertThrows(() => parseRunSet("[]"), TypeError, "not a report of failure-lab");
  assertThrows(() => parseRunSet('{"schema":"x"}'), TypeError, '"x"');
  const future = { ...passSet, version: 99 };
  assertThrows(() => parseRunSet(JSON.stringify(future)), TypeError, "has version 99");
  const damaged = { ...passSet, runs: [NASTY] };
  assertThrows(() => parseRunSet(JSON.stringify(damaged)), TypeError, '"runs" must be a list');
});

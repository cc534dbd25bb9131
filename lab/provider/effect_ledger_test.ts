import { assertEquals } from "@std/assert";
import { EffectLedger } from "./effect_ledger.ts";

Deno.test("EffectLedger counts one effect per key, and one per call without a key", () => {
  const ledger = new EffectLedger(10);
  ledger.record("a", "k1", true);
  ledger.record("a", "k1", true);
  ledger.record("b", null, true);
  ledger.record("b", null, true);
  assertEquals(ledger.units(), [
    { unit: "a", effects: 1, answers: 2, keys: 1 },
    { unit: "b", effects: 2, answers: 2, keys: 0 },
  ]);
});

Deno.test("EffectLedger shows an effect whose answer was lost", () => {
  const ledger = new EffectLedger(10);
  ledger.record("a", "k1", false);
  assertEquals(ledger.units(), [{ unit: "a", effects: 1, answers: 0, keys: 1 }]);
  assertEquals(ledger.classify("a", "k1"), "repeat");
});

Deno.test("EffectLedger does not let a key stand for two units", () => {
  const ledger = new EffectLedger(10);
  ledger.record("a", "k1", true);
  assertEquals(ledger.classify("b", "k1"), "conflict");
  ledger.record("b", "k1", true);
  assertEquals(ledger.units().map(({ unit }) => unit), ["a"]);
});

Deno.test("EffectLedger is bounded and says what it could not count", () => {
  const ledger = new EffectLedger(2);
  for (const unit of ["a", "b", "c"]) ledger.record(unit, unit, true);
  ledger.record("a", "a", true);
  assertEquals([ledger.units().length, ledger.notCounted], [2, 1]);
  assertEquals(ledger.units()[0]?.answers, 2);
});

Deno.test("EffectLedger gives copies", () => {
  const ledger = new EffectLedger(10);
  ledger.record("a", null, true);
  const before = ledger.units();
  ledger.record("a", null, true);
  assertEquals(before[0]?.effects, 1);
});

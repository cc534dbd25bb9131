import { assertEquals, assertThrows } from "@std/assert";
import { benchTable, median } from "./bench.ts";

const ROW = { name: "start", ours: "90 ms", reference: "80 ms", figure: 1.125, bar: 1.3 };

Deno.test("median() takes the middle and refuses no values", () => {
  assertEquals(median([9, 1, 5]), 5);
  assertEquals(median([10, 1, 2, 3]), 2.5);
  assertThrows(() => median([]), RangeError);
});

Deno.test("benchTable() names each line that is over its bar", () => {
  assertEquals(benchTable([ROW, { ...ROW, name: "slow", figure: 1.31 }]).overBar, ["slow"]);
  assertEquals(benchTable([{ ...ROW, bar: undefined, figure: 99 }]).overBar, []);
});

Deno.test("benchTable() counts a figure that could not be measured as over the bar", () => {
  assertEquals(benchTable([{ ...ROW, figure: NaN }]).overBar, ["start"]);
});

import { assertEquals } from "@std/assert";
import { didYouMean, editDistance, suggest } from "./suggest.ts";

const NAMES = ["demo", "drills", "init", "rehearse", "replay", "repair", "report", "self-test"];

Deno.test("one slip of any kind counts as one", () => {
  for (const word of ["rport", "rreport", "repoet", "reprot"]) {
    assertEquals(editDistance(word, "report"), 1, word);
  }
  assertEquals(editDistance("", "abc"), 3);
  assertEquals(editDistance("abc", ""), 3);
  assertEquals(editDistance("same", "same"), 0);
});

Deno.test("the nearest name is suggested, and nothing when none is near", () => {
  const cases: [string, string | null][] = [
    ["dril", "drills"],
    ["DEMO", "demo"],
    ["rehersal", "rehearse"],
    ["slef-test", "self-test"],
    ["exit", null],
    ["int", "init"],
    ["x", null],
    ["", null],
    ["rep", null],
    ["install", null],
    ["a".repeat(10_000), null],
  ];
  for (const [word, expected] of cases) assertEquals(suggest(word, NAMES), expected, word);
  assertEquals(didYouMean("dmeo", NAMES), " Did you mean demo?");
  assertEquals(didYouMean("nothing", NAMES), "");
});

import { assertEquals } from "@std/assert";
import {
  EXIT_CODE_TEXTS,
  EXIT_CODES,
  exitCodeFor,
  mergeVerdicts,
  type Verdict,
  VERDICT_PRECEDENCE,
} from "./verdict.ts";

const MERGES: [Verdict[], Verdict][] = [
  [[], "unproven"],
  [["pass"], "pass"],
  [["fail"], "fail"],
  [["unproven"], "unproven"],
  [["not-applicable"], "unproven"],
  [["not-applicable", "not-applicable"], "unproven"],
  [["pass", "pass"], "pass"],
  [["pass", "not-applicable"], "pass"],
  [["pass", "unproven"], "unproven"],
  [["not-applicable", "unproven"], "unproven"],
  [["pass", "fail"], "fail"],
  [["unproven", "fail"], "fail"],
  [["not-applicable", "fail"], "fail"],
  [["pass", "unproven", "not-applicable", "fail"], "fail"],
];

for (const [verdicts, expected] of MERGES) {
  Deno.test(`mergeVerdicts() makes ${expected} of [${verdicts.join(", ")}] in any order`, () => {
    assertEquals(mergeVerdicts(verdicts), expected);
    assertEquals(mergeVerdicts(verdicts.toReversed()), expected);
  });
}

Deno.test("mergeVerdicts() takes the worse one of any two, as the precedence says", () => {
  const graded = VERDICT_PRECEDENCE.filter((verdict) => verdict !== "not-applicable");
  for (const [i, worse] of graded.entries()) {
    for (const better of graded.slice(i)) assertEquals(mergeVerdicts([better, worse]), worse);
  }
});

const EXITS: [Verdict, number][] = [
  ["pass", 0],
  ["fail", 1],
  ["unproven", 3],
  ["not-applicable", 3],
];

for (const [verdict, code] of EXITS) {
  Deno.test(`exitCodeFor() gives ${code} for ${verdict}, and 5 with broken containment`, () => {
    assertEquals(exitCodeFor(verdict, false), code);
    assertEquals(exitCodeFor(verdict, true), 5);
  });
}

Deno.test("EXIT_CODES are the documented ones, and each has its line of text", () => {
  assertEquals(Object.values(EXIT_CODES), [0, 1, 2, 3, 4, 5, 70, 130, 143]);
  const documented = EXIT_CODE_TEXTS.map(([code]) => code);
  assertEquals([...documented, EXIT_CODES.terminated], Object.values(EXIT_CODES));
});

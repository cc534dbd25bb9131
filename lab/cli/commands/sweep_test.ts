// Which kill point of a sweep is the worst.

import { assertEquals, assertStringIncludes } from "@std/assert";
import type { RunSet } from "../../record.ts";
import { command, worstOf } from "./sweep.ts";

type Run = RunSet["runs"][number];

function run(verdict: string, point: string, whole: number, variant = "kill"): Run {
  const artifacts = Array.from({ length: whole }, () => ({ problems: [] }));
  return {
    record: { artifacts, contract: { count: 6 }, options: { point }, fault: { variant } },
    grade: { verdict, reason: `because of ${point}` },
    expected: null,
  } as unknown as Run;
}

Deno.test("the worst point is the worst verdict, then the most that is lost", () => {
  const runs = [
    run("pass", "after 1 output", 6),
    run("fail", "after 2 outputs", 5),
    run("fail", "after 3 outputs", 2),
    run("unproven", "after 4 outputs", 0),
  ];
  assertEquals(
    worstOf({ runs }),
    "The worst point: killed after 3 outputs: because of after 3 outputs",
  );
  const temp = [...runs, run("fail", "after 5 outputs", 1, "temp-file")];
  assertStringIncludes(worstOf({ runs: temp }), "killed inside a temporary file, after 5 outputs");
});

Deno.test("when every point passes, that is said, and points that could not be tried do not count", () => {
  const runs = [run("pass", "a", 6), run("not-applicable", "b", 0), run("pass", "c", 6)];
  assertEquals(worstOf({ runs }), "The recovery is right after a kill at each of 2 points.");
  assertEquals(worstOf({ runs: runs.slice(1, 2) }), "No kill point could be tried.");
});

Deno.test("the command says how many copies run at the same time", () => {
  const lanes = command.flags.find((flag) => flag.name === "lanes");
  assertEquals(lanes?.defaultText, "one for each core");
});

// Collecting graded runs.

import { assertEquals } from "@std/assert";
import { scriptedClock } from "../../tests/support/scripted_clock.ts";
import { damaged, goodRecord } from "../_grader_fixtures.ts";
import type { RunRecord } from "../record.ts";
import { jsonReport, parseRunSet } from "../report/json.ts";
import { toolInfo } from "../run_record.ts";
import { addRun, newRunSet } from "./run_set.ts";

const FAIL = () => damaged((r) => void r.artifacts.pop());
const UNPROVEN = () => damaged((r) => r.quiet = null);
const BROKEN = () => damaged((r) => Object.assign(r.containment ?? {}, { sentinelIntact: false }));

function outcome(...records: RunRecord[]): [string, number] {
  const set = newRunSet("replay", scriptedClock());
  for (const record of records) addRun(set, record);
  return [set.verdict, set.exitCode];
}

Deno.test("newRunSet() is unproven until something was run", () => {
  const clock = scriptedClock();
  assertEquals(newRunSet("replay", clock), {
    schema: "failure-lab/run-set",
    version: 1,
    command: "replay",
    tool: toolInfo(),
    startedAt: clock.wallIso(),
    endedAt: null,
    interrupted: null,
    verdict: "unproven",
    exitCode: 3,
    runs: [],
  });
});

Deno.test("addRun() grades, and verdict and exit code of the set follow", () => {
  const set = newRunSet("replay", scriptedClock());
  const record = goodRecord();
  const grade = addRun(set, record);
  assertEquals(grade.verdict, "pass");
  assertEquals(set.runs, [{ record, grade, expected: null }]);
  assertEquals([set.verdict, set.exitCode], ["pass", 0]);
  assertEquals(addRun(set, UNPROVEN()).reasonId, "quiet-after-success");
  assertEquals([set.verdict, set.exitCode], ["unproven", 3]);
  addRun(set, FAIL());
  assertEquals([set.verdict, set.exitCode], ["fail", 1]);
  addRun(set, BROKEN());
  assertEquals([set.verdict, set.exitCode], ["fail", 5]);
  addRun(set, goodRecord());
  assertEquals([set.verdict, set.exitCode, set.runs.length], ["fail", 5, 5]);
  assertEquals<unknown>(parseRunSet(jsonReport(set)), set);
});

Deno.test("the order of the runs decides nothing", () => {
  assertEquals(outcome(FAIL(), UNPROVEN(), goodRecord()), ["fail", 1]);
  assertEquals(outcome(goodRecord(), UNPROVEN(), FAIL()), ["fail", 1]);
  assertEquals(outcome(UNPROVEN(), goodRecord()), ["unproven", 3]);
});

Deno.test("where something is expected, what counts is whether it came", () => {
  const set = newRunSet("drills", scriptedClock());
  addRun(set, FAIL(), { verdict: "fail", reasonId: "artifacts-complete", met: true });
  assertEquals([set.verdict, set.exitCode], ["pass", 0]);
  addRun(set, goodRecord(), { verdict: "pass", reasonId: null, met: true });
  assertEquals([set.verdict, set.exitCode], ["pass", 0]);
  addRun(set, goodRecord(), { verdict: "fail", reasonId: "hung", met: false });
  assertEquals([set.verdict, set.exitCode], ["fail", 1]);
  const broken = newRunSet("drills", scriptedClock());
  addRun(broken, BROKEN(), { verdict: "fail", reasonId: "sentinel", met: true });
  assertEquals(broken.exitCode, 5, "a broken containment is never what was wanted");
});

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { runRecordSchema } from "../record.ts";
import { drillSet, emptySet, mixedSet, nastyRun, passSet } from "./_fixture_sets.ts";
import { factsOf, NOT_A_SANDBOX, watchFactsOf } from "./facts.ts";
import { createStyle } from "./style.ts";
import { terminalReport } from "./terminal.ts";
import { displayWidth } from "./text.ts";

// deno-lint-ignore no-control-regex
const CONTROLS = /[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\ufeff]/;

Deno.test("the handwritten records are what the lab writes, apart from broken names", () => {
  for (const { record } of [...passSet.runs, ...drillSet.runs]) runRecordSchema.parse(record);
});

Deno.test("a replay is told in its table: proof, processes, outputs, time, verdict, reason", () => {
  const text = terminalReport(passSet, { width: 140 });
  for (
    const part of [
      "hung-process",
      "yes: state of every process: T, T",
      "2 processes, proven",
      "exit 0",
      "3/3",
      "not declared",
      "1.05 s",
      "PASS",
      "Recovered in 1.05 s",
      "Content checks that were on: not empty, endsWith.",
      'declares no "effects" file',
      "2 places with 13 files hashed before and after: nothing changed.",
    ]
  ) assertStringIncludes(text, part);
  assertStringIncludes(text.replace(/\n +/g, " "), NOT_A_SANDBOX);
  assertEquals(text.split("\n").at(-1), "PASS  1 run: 1 pass. (exit 0)");
});

Deno.test("drills are told by drill, with both halves, and what was not expected stands out", () => {
  const text = terminalReport(drillSet, { width: 120 });
  const lines = text.split("\n");
  const hung = lines.find((line) => line.startsWith("01-hung-process")) ?? "";
  assert(
    /01-hung-process +fail, as expected +pass, as expected +3\/3 +0 +1\.05 s/.test(hung),
    hung,
  );
  const torn = lines.find((line) => line.startsWith("03-torn-checkpoint")) ?? "";
  assert(/fail, as expected +fail, NOT as expected +2\/3 +1 +1\.05 s/.test(torn), torn);
  assertStringIncludes(text, "The answer key expects pass; this run gave fail (doubled)");
  assertStringIncludes(lines.at(-1) ?? "", "1 not as the answer key expects");
});

Deno.test("repeats of a drill are counted, not listed", () => {
  const runs = Array.from({ length: 20 }, () => drillSet.runs.slice(0, 2)).flat();
  const text = terminalReport({ ...drillSet, runs }, { width: 120 });
  assertStringIncludes(text, "20 x pass, as expected");
  assertEquals(text.match(/01-hung-process/g)?.length, 1);
});

Deno.test("no width is exceeded, and no control character gets through", () => {
  for (const width of [40, 60, 80, 100, 200]) {
    for (const set of [passSet, mixedSet, drillSet, emptySet]) {
      const text = terminalReport(set, { width });
      assert(!CONTROLS.test(text), `${width}: ${JSON.stringify(CONTROLS.exec(text))}`);
      for (const line of text.split("\n")) {
        assert(displayWidth(line) <= width, `${width}: ${displayWidth(line)}: ${line}`);
      }
    }
  }
});

Deno.test("every verdict is a word, with its reason, and a missing declaration says what to add", () => {
  const text = terminalReport(mixedSet, { width: 200 });
  for (const word of ["PASS", "FAIL", "UNPROVEN", "NOT APPLICABLE"]) {
    assertStringIncludes(text, word);
  }
  assertStringIncludes(text, 'Add "lock": {"path": "run.lock"}');
  assertStringIncludes(text, "2 processes, 1 still alive");
  assertStringIncludes(text, "also: The effect");
  assertStringIncludes(text, "1 change outside the lab");
  assertStringIncludes(text, "changed beside the workspace: in lost-handoff");
  assertStringIncludes(text, "Not complete: a\\nb</script>");
});

Deno.test("an empty set never reads like a pass", () => {
  assertEquals(
    terminalReport(emptySet),
    "UNPROVEN  No run was finished, so nothing was shown. (exit 1)",
  );
});

Deno.test("paths are printed whole, even when they are wider than the terminal", () => {
  const path = `/tmp/${"deep/".repeat(20)}report.html`;
  const text = terminalReport(passSet, {
    width: 60,
    paths: [{ format: "html", path }, { format: "json", path: "/tmp/report.json" }],
    notes: ["junit.xml could not be written"],
  });
  assertStringIncludes(text, `  html  ${path}\n`);
  assertStringIncludes(text, "junit.xml could not be written");
});

Deno.test("colour changes nothing but colour", () => {
  const plain = terminalReport(mixedSet, { width: 120 });
  const coloured = terminalReport(mixedSet, { width: 120, style: createStyle(true) });
  assert(coloured.includes("\x1b[31m"));
  // deno-lint-ignore no-control-regex
  assertEquals(coloured.replace(/\x1b\[[0-9]+m/g, ""), plain);
});

Deno.test("finished work that was rewritten with the same content is counted", () => {
  const facts = factsOf(nastyRun);
  assertEquals([facts.rewritten, facts.doubled, facts.artifacts], [1, 1, "0/3"]);
});

Deno.test("a run that nobody watched is never clean", () => {
  const [run] = passSet.runs;
  assert(run !== undefined);
  const blind = { ...run, record: { ...run.record, containment: null } };
  const facts = watchFactsOf([run, blind]);
  assertEquals([facts.isClean, facts.notObserved.length], [false, 1]);
  assertEquals(watchFactsOf([]).isClean, false);
});

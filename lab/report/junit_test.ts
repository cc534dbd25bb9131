import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { drillSet, emptySet, mixedSet, passSet } from "./_fixture_sets.ts";
import { findAll, parseMarkup, textOf } from "./_markup_checker.ts";
import { junitReport } from "./junit.ts";

function suite(set: typeof passSet) {
  const root = parseMarkup(junitReport(set), "xml");
  const [top] = findAll(root, "testsuite");
  assert(top !== undefined);
  const numbers = ["tests", "failures", "errors", "skipped"].map((name) =>
    Number(top.attributes.get(name))
  );
  const elements = ["testcase", "failure", "error", "skipped"].map((name) =>
    findAll(top, name).length
  );
  assertEquals(numbers, elements, "the numbers at the top are those of the elements");
  return { top, numbers };
}

Deno.test("every verdict becomes what a build understands", () => {
  assertEquals(suite(passSet).numbers, [1, 0, 0, 0]);
  const { top, numbers } = suite(mixedSet);
  assertEquals(numbers, [5, 1, 2, 1]);
  const types = findAll(top, "error").map((one) => one.attributes.get("type"));
  assertEquals(types, ["unproven", "unproven"]);
  assertEquals(findAll(top, "failure")[0]?.attributes.get("type"), "artifacts-whole");
});

Deno.test("a broken half that fails as it should is a passed test, another result is not", () => {
  const { top, numbers } = suite(drillSet);
  assertEquals(numbers, [4, 1, 0, 0]);
  const [failure] = findAll(top, "failure");
  assertEquals(failure?.attributes.get("type"), "unexpected");
  assertStringIncludes(failure?.attributes.get("message") ?? "", "The answer key expects pass");
});

Deno.test("broken containment is red even where a fail was expected", () => {
  const [run] = drillSet.runs;
  assert(run !== undefined);
  const broken = { ...run, grade: { ...run.grade, containmentBroken: true } };
  const { top } = suite({ ...drillSet, runs: [broken] });
  assertEquals(findAll(top, "failure")[0]?.attributes.get("type"), "containment");
});

Deno.test("nothing run and not all run are never green", () => {
  assertEquals(suite(emptySet).numbers, [1, 0, 1, 0]);
  assertEquals(suite({ ...passSet, interrupted: "Ctrl-C" }).numbers, [2, 0, 1, 0]);
});

Deno.test("each test carries its checks, its seed and the line to run it again", () => {
  const { top } = suite(passSet);
  const [text] = findAll(top, "system-out").map(textOf);
  assertStringIncludes(text ?? "", "ok      containment-clean: Nothing on the watch list changed");
  assertStringIncludes(text ?? "", "Run it again: failure-lab replay hung-process --seed 7");
  const properties = findAll(top, "property").map((one) => one.attributes.get("name"));
  assertEquals(properties, ["id", "seed", "verdict", "rerun"]);
  assertEquals(top.attributes.get("timestamp"), "2026-01-02T03:04:05");
});

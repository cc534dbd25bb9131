import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { drillSet, emptySet, mixedSet, passSet } from "./_fixture_sets.ts";
import { NASTY } from "./_fixtures.ts";
import { codeBlock, escapeMarkdown, markdownReport } from "./markdown.ts";

/** Cells of a table row, split at the pipes that are not escaped. */
function cells(line: string): string[] {
  return line.split(/(?<!\\)\|/).slice(1, -1);
}

Deno.test("every row of a table has as many cells as its headings, nasty names included", () => {
  for (const set of [passSet, mixedSet, drillSet]) {
    const tables = markdownReport(set).split("\n\n").filter((part) => part.startsWith("|"));
    assert(tables.length > 0);
    for (const table of tables) {
      const [head = "", ...rows] = table.split("\n");
      for (const row of rows) assertEquals(cells(row).length, cells(head).length, row);
    }
  }
});

Deno.test("nothing of a name is markup, and nobody is mentioned", () => {
  assertEquals(
    escapeMarkdown("a|b`c*d_<e>&f[g](h) #1 @me"),
    "a\\|b\\`c\\*d\\_&lt;e&gt;&amp;f\\[g\\](h) \\#1 @\u2060me",
  );
  const text = markdownReport(mixedSet);
  const prose = text.replace(/^(`{3,}).*\n[^]*?\n\1$/gm, "");
  assert(!/<(?:img|script|\/script)/.test(prose), prose);
  // deno-lint-ignore no-control-regex
  assert(!/[\x00-\x09\x0b-\x1f\u202e]/.test(text));
});

Deno.test("a block of code cannot be closed by its text", () => {
  assertEquals(codeBlock("a ``` b ```` c"), "`````text\na ``` b ```` c\n`````");
  assertStringIncludes(codeBlock(NASTY), "```text\n");
});

Deno.test("the verdict comes first, and only what needs reading is told at length", () => {
  assert(markdownReport(passSet).startsWith("# PASS: failure-lab replay\n\n1 run: 1 pass."));
  assert(!markdownReport(passSet).includes("## PASS"));
  const mixed = markdownReport(mixedSet);
  assertStringIncludes(mixed, "## FAIL: lost-handoff");
  assertStringIncludes(mixed, "## UNPROVEN: torn-checkpoint, cut-utf8");
  assertStringIncludes(mixed, "- not ok: The effect");
  assertStringIncludes(mixed, "observation, not a sandbox");
  const drills = markdownReport(drillSet);
  assertStringIncludes(drills, "| 01-hung-process | fail, as expected | pass, as expected | 3/3 |");
  assertStringIncludes(drills, "## FAIL: 03-torn-checkpoint, repaired");
  assertStringIncludes(markdownReport(emptySet), "No run was finished");
});

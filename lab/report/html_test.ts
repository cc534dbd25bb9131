import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { drillSet, emptySet, mixedSet, passSet } from "./_fixture_sets.ts";
import { NASTY } from "./_fixtures.ts";
import { allElements, type Element, findAll, parseMarkup, textOf } from "./_markup_checker.ts";
import { htmlReport } from "./html.ts";
import { escapeMarkup, Markup, markup } from "./markup.ts";
import { visible } from "./text.ts";

const SETS = { passSet, mixedSet, drillSet, emptySet };

function page(set: typeof passSet): Element {
  return parseMarkup(htmlReport(set), "html");
}

Deno.test("the checker of these tests sees what is not well-formed", () => {
  for (
    const bad of [
      "<p>",
      "<p></b></p>",
      "<p>a & b</p>",
      '<p title="<">x</p>',
      "<p title=x>y</p>",
      '<p a="1" a="2"></p>',
      "<p></p></p>",
      "<p>\x1b</p>",
      "<p>\ud800</p>",
      "a > b",
    ]
  ) assertThrows(() => parseMarkup(bad, "html"), Error, undefined, bad);
});

Deno.test("every page is well-formed and each id is there once", () => {
  for (const [name, set] of Object.entries(SETS)) {
    const ids = allElements(page(set)).flatMap((one) => one.attributes.get("id") ?? []);
    assertEquals(new Set(ids).size, ids.length, name);
  }
});

Deno.test("nothing is loaded and nothing can run", () => {
  for (const set of Object.values(SETS)) {
    for (const element of allElements(page(set))) {
      assert(!["script", "img", "iframe", "link", "object"].includes(element.name), element.name);
      for (const [name, value] of element.attributes) {
        assert(!name.startsWith("on") && name !== "src", name);
        if (name === "href") assert(/^#run-\d+$/.test(value), value);
        if (name === "style") assert(!value.includes("url("), value);
      }
    }
    assertStringIncludes(htmlReport(set), "default-src 'none'");
  }
});

Deno.test("nasty names arrive as text, visible, and in every place", () => {
  const text = textOf(page(mixedSet));
  const shown = visible(NASTY);
  assert(text.split(shown).length > 30, `${text.split(shown).length}`);
  assert(!htmlReport(mixedSet).includes("<img"));
});

Deno.test("tables have captions and headings for columns and rows", () => {
  for (const set of Object.values(SETS)) {
    for (const table of findAll(page(set), "table")) {
      assertEquals(findAll(table, "caption").length, 1);
      const [head] = findAll(table, "thead");
      const [body] = findAll(table, "tbody");
      assert(head !== undefined && body !== undefined);
      const columns = findAll(head, "th");
      assert(columns.every((cell) => cell.attributes.get("scope") === "col"));
      for (const row of findAll(body, "tr")) {
        const cells = row.children.filter((cell) => typeof cell !== "string");
        assertEquals(cells.length, columns.length, textOf(row));
        assertEquals(cells[0]?.attributes.get("scope"), "row");
      }
    }
  }
});

Deno.test("each run tells its verdict and reason before anything else", () => {
  const sections = findAll(page(mixedSet), "section").filter((section) =>
    section.attributes.get("id")?.startsWith("run-")
  );
  assertEquals(sections.length, 4);
  const [pass, fail, unproven, notApplicable] = sections.map(textOf);
  assert(/^\s*hung-process\s+PASS Recovered in 1\.05 s/.test(pass ?? ""), pass);
  assert(/^\s*lost-handoff, .*\s+FAIL The file/.test(fail ?? ""), fail);
  assert(/UNPROVEN The failure was not shown/.test(unproven ?? ""), unproven);
  assertStringIncludes(notApplicable ?? "", 'Add "lock": {"path": "run.lock"}');
  for (
    const part of [
      "failure-lab replay hung-process --seed 7",
      "--deny-write=/home/me/.bashrc",
      "state of every process",
      "2 processes",
      "untouched",
      "SIGTERM to 2 processes at 1.50 s",
      "doubled sends cannot be seen",
      "0123abcd, with changes",
    ]
  ) assertStringIncludes(pass ?? "", part);
});

Deno.test("links lead to sections that are there, and the list of sections is bounded", () => {
  const [run] = passSet.runs;
  assert(run !== undefined);
  const bad = { ...run, grade: { ...run.grade, verdict: "fail" as const } };
  const many = { ...passSet, runs: [...Array.from({ length: 230 }, () => run), bad] };
  const root = page(many);
  const ids = new Set(allElements(root).flatMap((one) => one.attributes.get("id") ?? []));
  const links = findAll(root, "a").map((link) => link.attributes.get("href")?.slice(1) ?? "");
  assertEquals(links.length, 200);
  assert(links.every((link) => ids.has(link)));
  assert(ids.has("run-231"), "a run that needs reading is never left out for good ones");
  assertStringIncludes(textOf(root), "31 more runs are in report.json");
});

Deno.test("markup is escaped unless it was made as markup", () => {
  const inner = markup`<b>${"<&>"}</b>`;
  assertEquals(
    markup`<p title="${`"'`}">${inner}${["a<", 1, null]}</p>`.text,
    '<p title="&quot;&#39;"><b>&lt;&amp;&gt;</b>a&lt;1</p>',
  );
  assertEquals(escapeMarkup("a\nb", { keepNewlines: true }), "a\nb");
  assertEquals(new Markup("<i>").toString(), "<i>");
});

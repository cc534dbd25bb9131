import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { mixedSet } from "./_fixture_sets.ts";
import { artifact, NASTY, phase, record } from "./_fixtures.ts";
import { findAll, parseMarkup, textOf } from "./_markup_checker.ts";
import { timelineSvg } from "./timeline.ts";
import type { RunRecord } from "../record.ts";

function draw(of: RunRecord) {
  const root = parseMarkup(timelineSvg(of, { id: "x" }), "xml");
  const [text] = findAll(root, "desc").map(textOf);
  return { root, text: text ?? "" };
}

Deno.test("the course of a run is drawn and told in words", () => {
  const { root, text } = draw(record());
  assertEquals(
    text,
    "control run from 10 ms to 0.40 s; first run from 0.45 s to 1.72 s; failure at 1.45 s; " +
      "kill: 2; resume from 2.00 s to 2.60 s; recovery time from 1.45 s to 2.50 s; " +
      "outputs whole: 3; quiet period from 2.60 s to 3.10 s.",
  );
  assertEquals(findAll(root, "rect").length, 5);
  const [svg] = findAll(root, "svg");
  assertEquals(svg?.attributes.get("role"), "img");
  assertEquals(svg?.attributes.get("aria-labelledby"), "x-title x-text");
});

Deno.test("everything is drawn inside the picture, whatever the record says", () => {
  const odd = [
    record(),
    ...mixedSet.runs.map((run) => run.record),
    record({ start: phase({ startedMs: 0, endedMs: null }), recoveryMs: 9_999_999 }),
    record({
      artifacts: [artifact("old", { mtimeMs: 0 }), artifact("late", { mtimeMs: 9e15 })],
      subject: NASTY,
    }),
    record({
      fault: { ...record().fault, provenAtMs: 192_000 },
      recoveryMs: null,
      quiet: null,
    }),
    record({
      control: null,
      start: null,
      kill: null,
      attempts: [],
      artifacts: [],
      quiet: null,
      recoveryMs: null,
      fault: { ...record().fault, provenAtMs: null },
    }),
  ];
  for (const of of odd) {
    const { root } = draw(of);
    for (const rect of findAll(root, "rect")) {
      const x = Number(rect.attributes.get("x"));
      const end = x + Number(rect.attributes.get("width"));
      assert(x >= 132 && end <= 760, `${x} to ${end}`);
    }
    for (const path of findAll(root, "path")) {
      const x = Number(/^M(\d+(?:\.\d+)?) /.exec(path.attributes.get("d") ?? "")?.[1]);
      assert(x >= 132 && x <= 760, path.attributes.get("d"));
    }
    for (const text of findAll(root, "text")) {
      const x = Number(text.attributes.get("x"));
      const width = textOf(text).length * 6.7;
      const isEnd = text.attributes.get("text-anchor") === "end";
      assert(isEnd ? x - width > 0 : x + width <= 765, `${textOf(text)} at ${x}`);
    }
    assert(!timelineSvg(of, { id: "x" }).includes("NaN"));
  }
});

Deno.test("a thousand outputs do not make a thousand marks", () => {
  const artifacts = Array.from({ length: 1000 }, (_, index) => artifact(`out/${index}`));
  const { text } = draw(record({ artifacts }));
  assertStringIncludes(text, "outputs whole: 300");
});

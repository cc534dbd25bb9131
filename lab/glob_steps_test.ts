// Globs taken apart.

import { assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import { globSteps } from "./glob_steps.ts";

/** Steps in short: names as they are, `<…>` for a pattern, `**` for any depth. */
function short(glob: string): string[] {
  return globSteps(glob).map((steps) =>
    steps.map((step) =>
      step.kind === "name" ? step.name : step.kind === "deep" ? "**" : `<${step.pattern.source}>`
    ).join(" ")
  );
}

function fits(glob: string, name: string): boolean {
  return globSteps(glob).some(([step]) => step?.kind === "match" && step.pattern.test(name));
}

Deno.test("globSteps() makes one step of each folder", () => {
  const any = String.raw`<^[^/]*\/*$>`;
  const markdown = String.raw`<^[^/]*\.md\/*$>`;
  const table: Record<string, string[]> = {
    "a/b.txt": ["a b.txt"],
    "./a//b/./c.txt": ["a b c.txt"],
    "a/../b.txt": ["b.txt"],
    "../b.txt": [".. b.txt"],
    "../../b.txt": [".. .. b.txt"],
    "*/../b.txt": [`${any} .. b.txt`],
    "out/*.md": [`out ${markdown}`],
    "**/*.md": [`** ${markdown}`],
    "out/**": [`out ** ${any}`],
    "**/**/*.md": [`** ${markdown}`],
    "": [""],
  };
  for (const [glob, steps] of Object.entries(table)) assertEquals(short(glob), steps, glob);
});

Deno.test("globSteps() chooses between the parts in braces", () => {
  const table: Record<string, string[]> = {
    "{a,b}.md": ["a.md", "b.md"],
    "{a/b,c}/d.md": ["a b d.md", "c d.md"],
    "{a,b}{c,d}": ["ac", "ad", "bc", "bd"],
    "{a,{b,c}d}e": ["ae", "bde", "cde"],
    "{a,}b": ["ab", "b"],
    "x{1}.md": ["x{1}.md"],
    "x{1}{a,b}": ["x{1}a", "x{1}b"],
    "x{.md": ["x{.md"],
    "x}.md": ["x}.md"],
    [String.raw`\{a,b\}.md`]: ["{a,b}.md"],
    [String.raw`\{a,b}.md`]: ["{a,b}.md"],
    [String.raw`{a\,b,c}`]: ["a,b", "c"],
  };
  for (const [glob, steps] of Object.entries(table)) assertEquals(short(glob), steps, glob);
});

Deno.test("globSteps() refuses braces that stand for too many globs", () => {
  const glob = "{a,b}".repeat(10);
  assertThrows(
    () => globSteps(glob),
    RangeError,
    `Cannot use the glob "${glob}": its braces stand for more than 1000 globs`,
  );
  assertEquals(globSteps("{a,b}".repeat(9)).length, 512);
});

Deno.test("globSteps() matches whole names, with what is special taken away by a backslash", () => {
  assertEquals(fits("*.md", "a b\nc.md"), true);
  assertEquals(fits("*.md", "a.md.txt"), false);
  assertEquals(fits("?.md", "\n.md"), true);
  assertEquals(fits("?.md", "ab.md"), false);
  assertEquals(fits("[ab].md", "b.md"), true);
  assertEquals(fits("[!ab].md", "b.md"), false);
  assertEquals(fits("[!ab].md", "c.md"), true);
  assertEquals(fits("@(a|b).md", "b.md"), true);
  assertEquals(fits("*.m.d", "axmxd"), false);
  assertEquals(fits(String.raw`\[1\]*`, "[1].md"), true);
  assertEquals(short(String.raw`\[1\].md`), ["[1].md"]);
  assertEquals(short(String.raw`a\*b`), ["a*b"]);
});

Deno.test("globSteps() keeps its answer", () => {
  assertStrictEquals(globSteps("kept/*.md"), globSteps("kept/*.md"));
});

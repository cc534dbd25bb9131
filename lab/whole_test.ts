// When an end mark tells the end, and when not.

import { assertEquals } from "@std/assert";
import { makeTestDir } from "../tests/support/temp_dir.ts";
import { isMarkRepeated } from "./whole.ts";

Deno.test("isMarkRepeated() tells a mark of parts from the mark of the whole", async () => {
  await using dir = await makeTestDir("whole");
  const texts: Record<string, [mark: string, text: string, expected: boolean]> = {
    "once, at the end": ["END", "a\nb\nEND", false],
    "once, with white space behind": ["END", "a\nEND \n\n", false],
    "JSON lines": ["}", '{"a":1}\n{"a":2}\n', true],
    "one JSON line": ["}", '{"a":1}\n', false],
    "within a word": ["end", "sender\nend\n", true],
    "not there": ["END", "a\nb\n", false],
    "only once, and not at the end": ["END", "a END b\n", true],
    "a line feed": ["\n", "a\nb\n", true],
    "an empty mark": ["", "a", true],
    "an empty file": ["END", "", false],
    "in other letters than ASCII": ["ende ✓", "straße ✓\nende ✓\n", false],
  };
  for (const [name, [mark, text, expected]] of Object.entries(texts)) {
    const path = `${dir.path}/file`;
    await Deno.writeTextFile(path, text);
    const { size } = await Deno.stat(path);
    assertEquals(isMarkRepeated(path, size, mark), expected, name);
  }
});

Deno.test("isMarkRepeated() searches the first megabyte of a big file", async () => {
  await using dir = await makeTestDir("whole");
  const path = `${dir.path}/big`;
  await Deno.writeTextFile(path, `${"x".repeat(2_000_000)}END`);
  assertEquals(isMarkRepeated(path, 2_000_003, "END"), false);
  await Deno.writeTextFile(path, `one END ${"x".repeat(2_000_000)}END`);
  assertEquals(isMarkRepeated(path, 2_000_011, "END"), true);
});

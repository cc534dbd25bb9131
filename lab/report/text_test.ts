import { assert, assertEquals } from "@std/assert";
import { table } from "./table.ts";
import { displayWidth, formatBytes, formatDuration, plural, shortened, wrapped } from "./text.ts";

Deno.test("durations read like a person says them", () => {
  const cases: [number | null, string][] = [
    [0, "0 ms"],
    [35.4, "35 ms"],
    [99.4, "99 ms"],
    [99.6, "0.10 s"],
    [420, "0.42 s"],
    [9_994, "9.99 s"],
    [9_999, "10.0 s"],
    [12_340, "12.3 s"],
    [59_949, "59.9 s"],
    [59_999, "1 min 0 s"],
    [192_000, "3 min 12 s"],
    [3_599_600, "1 h 0 min"],
    [7_500_000, "2 h 5 min"],
    [null, "not known"],
    [Infinity, "not known"],
  ];
  for (const [ms, text] of cases) assertEquals(formatDuration(ms), text, String(ms));
});

Deno.test("sizes read like a person says them", () => {
  const cases: [number | null, string][] = [
    [0, "0 bytes"],
    [1, "1 byte"],
    [999, "999 bytes"],
    [1000, "1.0 KB"],
    [1530, "1.5 KB"],
    [9_960, "10 KB"],
    [85_186_352, "85 MB"],
    [999_600, "1.0 MB"],
    [1_073_741_824, "1.1 GB"],
    [5e15, "5000 TB"],
    [null, "not known"],
  ];
  for (const [bytes, text] of cases) assertEquals(formatBytes(bytes), text, String(bytes));
  assertEquals(plural(1234, "file"), "1,234 files");
});

Deno.test("wide, combining and joined characters are counted in columns", () => {
  assertEquals(displayWidth("abc"), 3);
  assertEquals(displayWidth("日本"), 4);
  assertEquals(displayWidth("e\u0301"), 1);
  assertEquals(displayWidth("\x1b[31mred\x1b[39m"), 3);
  assertEquals(shortened("a日本語", 3), "a日…");
});

Deno.test("wrapping loses nothing and never exceeds the width", () => {
  const text = "one two  three_is_a_very_long_word_indeed 日本語の長い言葉 x\nnext";
  for (const width of [1, 2, 5, 9, 40]) {
    const lines = wrapped(text, width);
    assertEquals(lines.join("").replaceAll(" ", ""), text.replace(/[ \n]/g, ""), `${width}`);
    if (width > 1) assert(lines.every((line) => displayWidth(line) <= width), lines.join("|"));
  }
  assertEquals(wrapped("", 10), [""]);
});

Deno.test("a table that does not fit gives every value its own line", () => {
  const columns = [{ heading: "name", minWidth: 10 }, { heading: "result", minWidth: 10 }];
  const rows = [{ cells: ["first drill", "it went well"], notes: ["a note"] }];
  assertEquals(table(columns, rows, 40), [
    "name         result",
    "-----------  ------------",
    "first drill  it went well",
    "    a note",
  ]);
  assertEquals(table(columns, rows, 22), [
    "name        result",
    "----------  ----------",
    "first       it went",
    "drill       well",
    "    a note",
  ]);
  assertEquals(table(columns, rows, 18), [
    "name    first",
    "        drill",
    "result  it went",
    "        well",
    "    a note",
  ]);
});

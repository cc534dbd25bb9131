import { assertEquals } from "@std/assert";
import { formatOf, readBytes } from "./_torn.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

Deno.test("formatOf goes by the end of the name", () => {
  assertEquals(["a.jsonl", "a.ndjson", "a.json", "state"].map(formatOf), [
    "jsonl",
    "jsonl",
    "json",
    "json",
  ]);
});

Deno.test("readBytes tells absent, empty, whole and torn apart", () => {
  for (const format of ["json", "jsonl"] as const) {
    assertEquals(readBytes(null, format).state, "absent");
    assertEquals(readBytes(bytes(""), format).state, "empty");
    assertEquals(readBytes(bytes('{"a":1}\n'), format).state, "whole");
    assertEquals(readBytes(bytes('{"a":'), format).state, "torn");
  }
  assertEquals(readBytes(bytes('{"a":1}'), "json").document, { a: 1 });
});

Deno.test("readBytes of a log names each damaged stretch and keeps every whole line", () => {
  const log = new Uint8Array([
    ...bytes('{"a":1}\n\n{"b"\n{"c":"'),
    0xc3,
    ...bytes('\n{"d":4}\n{"e":5}'),
  ]);
  const reading = readBytes(log, "jsonl");
  assertEquals(reading.lines.map((line) => line.value), [{ a: 1 }, { d: 4 }, { e: 5 }]);
  assertEquals(reading.damage.map(({ atByte, why }) => [atByte, why]), [
    [9, "it does not parse as JSON"],
    [14, "it is cut or damaged inside a character"],
    [30, "the last record has no line end"],
  ]);
});

Deno.test("readBytes does not believe a bare number without a line end: it may be a part of one", () => {
  const reading = readBytes(bytes("12\n123"), "jsonl");
  assertEquals(reading.lines.map((line) => line.value), [12]);
  assertEquals(readBytes(bytes("1\0\0\n"), "jsonl").damage[0]?.why, "it holds NUL bytes");
});

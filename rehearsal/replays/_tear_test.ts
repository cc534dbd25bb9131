// The bytes that a torn write leaves.

import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { tear, TEARS } from "./_tear.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);
const LINES = bytesOf('{"unit":"a"}\n{"unit":"b"}\n');

Deno.test("tear() cuts where its shape says", () => {
  const text = (bytes: Uint8Array) => new TextDecoder("latin1").decode(bytes);
  assertEquals(text(tear(LINES, "last-record")), '{"unit":"a"}\n{"unit');
  assertEquals(text(tear(LINES, "prefix")), '{"unit":"a"}\n');
  assertEquals(tear(LINES, "empty").length, 0);
  const nul = tear(LINES, "nul-block");
  assertEquals(nul.length, LINES.length);
  assertEquals([nul[0], nul.at(-1)], [LINES[0], 0]);
});

Deno.test("tear() cuts inside a character, and begins one where there is none", () => {
  const isCut = (bytes: Uint8Array) => {
    try {
      new TextDecoder("utf-8", { fatal: true }).decode(bytes);
      return false;
    } catch {
      return true;
    }
  };
  const own = bytesOf('{"by":"wörker"}\n');
  assertEquals(tear(own, "inside-character"), own.slice(0, 9));
  assert(isCut(tear(own, "inside-character")));
  assert(isCut(tear(LINES, "inside-character")));
  assert(isCut(tear(bytesOf("3\n"), "inside-character")));
});

Deno.test("tear() never gives back what it got", () => {
  for (const shape of TEARS) {
    for (const text of ["3\n", "x", "\0\0", "{}\n", "a\nb\nc\n", "ü"]) {
      assertNotEquals(tear(bytesOf(text), shape), bytesOf(text), `${shape} ${text}`);
    }
  }
});

import { assertEquals } from "@std/assert";
import { valueAt } from "./json_pointer.ts";

Deno.test("valueAt() follows a pointer through objects and lists", () => {
  const document = {
    done: ["a", { id: 7 }],
    "": { "": "empty names" },
    "a/b": { "m~n": 1, "~1": 2 },
    nothing: null,
    no: false,
  };
  const table: [string, unknown][] = [
    ["", document],
    ["/done", document.done],
    ["/done/0", "a"],
    ["/done/1/id", 7],
    ["done/1/id", 7],
    ["/", document[""]],
    ["//", "empty names"],
    ["/a~1b/m~0n", 1],
    ["/a~1b/~01", 2],
    ["/nothing", null],
    ["/no", false],
  ];
  for (const [pointer, value] of table) assertEquals(valueAt(document, pointer), value, pointer);
});

Deno.test("valueAt() finds nothing where nothing is, and no member that JSON does not have", () => {
  const document = { done: ["a"], text: "abc", none: null };
  const pointers = [
    "/other",
    "/done/1",
    "/done/-1",
    "/done/-",
    "/done/00",
    "/done/length",
    "/done/map",
    "/text/0",
    "/text/length",
    "/none/x",
    "/constructor",
    "/__proto__",
    "/toString",
  ];
  for (const pointer of pointers) assertEquals(valueAt(document, pointer), undefined, pointer);
  assertEquals(valueAt(undefined, "/a"), undefined);
  assertEquals(valueAt(JSON.parse('{"__proto__": 3}'), "/__proto__"), 3);
});

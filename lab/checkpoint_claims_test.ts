// What the bytes of a checkpoint claim, whole and torn in every way.

import { assertEquals } from "@std/assert";
import { type Claims, readClaims } from "./checkpoint_claims.ts";

const encode = (text: string) => new TextEncoder().encode(text);

function read(path: string, text: string | Uint8Array, doneAt?: string): Claims {
  return readClaims(typeof text === "string" ? encode(text) : text, { path, doneAt });
}

function units(path: string, text: string, doneAt?: string): Claims["units"] {
  const claims = read(path, text, doneAt);
  assertEquals([claims.parses, claims.problem], [true, null], text);
  return claims.units;
}

function joined(...parts: (string | number[])[]): Uint8Array {
  return new Uint8Array(
    parts.flatMap((part) => typeof part === "string" ? [...encode(part)] : part),
  );
}

const DONE = '{"version": 2, "done": ["unit-1", "unit-2", "Einheit-3 fertig ü"]}\n';

Deno.test("JSON: a list, an object or a number, at the top or where the pointer says", () => {
  assertEquals(units("s.json", '["a", 2, "a"]'), ["a", "2", "a"]);
  assertEquals(units("s.json", '{"done": ["a", "b"], "version": 3}'), ["a", "b"]);
  assertEquals(units("s.json", '{"x": [1], "done": ["a"]}', "/done"), ["a"]);
  assertEquals(units("s.json", '{"done": {"a": true, "b": 1}}', "/done"), ["a", "b"]);
  assertEquals(units("s.json", '{"state": {"count": 7}}', "/state/count"), 7);
  assertEquals(units("s.json", '{"a": {}}', "/a"), []);
  assertEquals(units("s.json", "[]"), []);
  assertEquals(units("state", "7"), 7);
  assertEquals(units("state", " 12 \n"), 12);
  assertEquals(units("s.json", '[{"id": 1}, {"id": 2}]'), ["1", "2"]);
  assertEquals(units("s.json", '[{"name": "n", "file": "f", "id": 1}]'), ["f"]);
  assertEquals(units("s.json", "\uFEFF[1]"), ["1"]);
});

Deno.test("JSON: without a pointer only what is plain is taken as the claims", () => {
  for (
    const text of [
      '{"a": [1], "b": [2]}',
      '{"cursor": 17}',
      '"text"',
      "true",
      "null",
      "-1",
      "1.5",
    ]
  ) assertEquals(read("s.json", text), { parses: true, units: null, problem: null }, text);
});

Deno.test("JSON: a pointer to nothing is a problem", () => {
  for (const text of ["{}", '{"done": "text"}', '{"done": null}', '{"done": -1}', "[]"]) {
    assertEquals(
      read("s.json", text, "/done"),
      {
        parses: true,
        units: null,
        problem: 'there is no list, object or number at "/done" in it',
      },
      text,
    );
  }
});

Deno.test("units that are noted as not finished are not claimed", () => {
  assertEquals(units("s.json", '{"a": true, "b": false, "c": null, "d": 0}', ""), ["a", "d"]);
  assertEquals(
    units("s.json", '{"a": "done", "b": "pending", "c": "In-Progress", "d": "queued"}', ""),
    ["a"],
  );
  assertEquals(
    units(
      "s.json",
      '{"a": {"status": "done"}, "b": {"status": "failed"}, "c": {"done": false}}',
      "",
    ),
    ["a"],
  );
  assertEquals(
    units("s.json", '[{"id": "a", "state": "ok"}, {"id": "b", "state": "running"}, {"id": "c"}]'),
    ["a", "c"],
  );
  assertEquals(units("s.json", '["a", null, "pending"]'), ["a", "pending"]);
});

Deno.test("JSON lines: one unit each, notes between them left out", () => {
  assertEquals(units("s.jsonl", '{"id": "a"}\n{"id": "b"}\n{"id": "a"}\n'), ["a", "b"]);
  assertEquals(units("s.ndjson", '"a"\n\n"b"\n'), ["a", "b"]);
  assertEquals(units("s.jsonl", '{"format": 2}\n{"id": "a"}\n'), ["a"]);
  assertEquals(units("s.jsonl", '{"row": 1}\n{"row": 2}\n'), ['{"row":1}', '{"row":2}']);
  assertEquals(units("s.jsonl", '{"row": 1}\n{"note": "x"}\n', "/row"), ["1"]);
  assertEquals(units("s.jsonl", '{"done": ["a"]}\n{"done": ["a", "b"]}\n', "/done"), ["a", "b"]);
  assertEquals(units("S.JSONL", '"a"\n'), ["a"]);
  assertEquals(units("s.jsonl", '{"done": ["a"]}\n{"done": "b"}\n', "/done"), ["b"]);
  // A log of JSON under another name.
  assertEquals(units("state", '{"id": "a"}\n{"id": "b"}\n'), ["a", "b"]);
  assertEquals(units("s.json", '{"id": "a"}\n{"id": "b"}\n'), ["a", "b"]);
});

Deno.test("plain lines: one name each", () => {
  assertEquals(units("journal.txt", "ok 1\nfailed 2\n3: pending\nok 4\n"), ["ok 1", "ok 4"]);
  assertEquals(units("done.txt", "failed\nrunning.md\n"), ["failed", "running.md"]);
  assertEquals(units("done.txt", "out/1.md\n out/2.md \n\nout/3.md\r\n"), [
    "out/1.md",
    "out/2.md",
    "out/3.md",
  ]);
  assertEquals(units("done", "unit 1\n"), ["unit 1"]);
  assertEquals(units("done", "name: 1\nout/1.md\n"), ["name: 1", "out/1.md"]);
});

Deno.test("settings are no list of units", () => {
  for (
    const text of [
      "last_done: 3\n",
      "LAST_DONE=3\nTOTAL=6\n",
      "[state]\nlast = 3\n",
      "# made by the job\nlast = 3\n",
      "---\nlast: 3\n",
      "[[unit]]\nname = 1\n",
    ]
  ) {
    assertEquals(
      read("state", text),
      { parses: null, units: null, problem: "it holds settings, and nothing says which is which" },
      text,
    );
  }
});

Deno.test("torn: an empty file", () => {
  const empty = { parses: false, units: null, problem: "it is empty" };
  for (const text of ["", "\n", "  \n\n"]) {
    assertEquals(read("s.json", text), empty);
    assertEquals(read("s.jsonl", text), empty);
    assertEquals(read("state", text, "/done"), empty);
    assertEquals(read("state", text), { ...empty, parses: null });
  }
});

Deno.test("torn: cut anywhere, a JSON file does not parse", () => {
  const bytes = encode(DONE);
  // What is left out at the very end is only white space.
  for (let length = 1; length < bytes.length - 1; length++) {
    const { parses, units } = read("s.json", bytes.subarray(0, length));
    assertEquals([parses, units], [false, null], `${length} bytes`);
    assertEquals(read("state", bytes.subarray(0, length)).parses, false, `${length} bytes`);
  }
  assertEquals(read("s.json", bytes.subarray(0, 30)).problem, "it does not parse as JSON");
});

Deno.test("torn: a log whose last line is cut", () => {
  const log = '{"id": "unit-1"}\n{"id": "unit-ü"}\n{"id": "unit-3"}\n';
  const bytes = encode(log);
  const lineEnds = [...bytes.entries()].filter(([, byte]) => byte === 10).map(([i]) => i + 1);
  for (let length = 1; length < bytes.length; length++) {
    const { parses } = read("s.jsonl", bytes.subarray(0, length));
    assertEquals(parses, lineEnds.includes(length), `${length} bytes`);
  }
  assertEquals(read("s.jsonl", log.slice(0, -1)).problem, "its last line has no end");
  assertEquals(read("s.jsonl", log.slice(0, -4)).problem, "line 3 does not parse as JSON");
});

Deno.test("torn: plain lines without an end may go on", () => {
  assertEquals(read("done.txt", "out/1.md\nout/1"), {
    parses: null,
    units: null,
    problem: "its last line has no end",
  });
});

Deno.test("torn: cut inside a character", () => {
  const cut = encode(DONE).subarray(0, encode(DONE).lastIndexOf(0xc3) + 1);
  const problem = "it is cut or damaged inside a character";
  for (const path of ["s.json", "s.jsonl", "s.txt", "state"]) {
    assertEquals(read(path, cut), { parses: false, units: null, problem }, path);
  }
  for (const character of ["ü", "—", "🎈"]) {
    const bytes = encode(`out/${character}`);
    for (let length = 5; length < bytes.length; length++) {
      assertEquals(read("done", bytes.subarray(0, length)).problem, problem);
    }
  }
  assertEquals(read("state", joined("[1,", [0xff, 0xfe], ",2]")).problem, problem);
  assertEquals(read("state", joined("a", [0xff, 0xfe], "b"), "/done").problem, problem);
});

Deno.test("torn: old and new mixed", () => {
  const old = '{"done": ["unit-1", "unit-2", "unit-3", "unit-4"]}\n';
  const newer = '{"done": ["unit-1"]}\n';
  // A shorter version written over a longer one, without cutting the rest off.
  assertEquals(read("s.json", newer + old.slice(newer.length)).parses, false);
  assertEquals(read("s.json", newer.slice(0, 10) + old.slice(3)).parses, false);
  assertEquals(read("s.jsonl", '{"id": "a"}\n{"id": {"id": "b"}\n').parses, false);
  assertEquals(read("s.json", `${newer}${newer.trim()}`).parses, false);
});

Deno.test("torn: a block of NUL bytes", () => {
  const nul = new Array(16).fill(0);
  const expected = { parses: false, units: null, problem: "it holds NUL bytes" };
  for (const path of ["s.json", "s.jsonl", "s.txt"]) {
    assertEquals(read(path, joined('{"id": "a"}\n', nul)), expected);
    assertEquals(read(path, joined('{"id"', nul, '"a"}\n')), expected);
    assertEquals(read(path, joined(nul)), expected);
  }
  assertEquals(read("state", joined("unit-1\nunit-2\n", nul)), expected);
  assertEquals(read("state", joined('{"id"', nul, '"a"}')), expected);
});

Deno.test("a format that is no text is not called torn", () => {
  const unknown = {
    parses: null,
    units: null,
    problem: "it is not text, so nothing says how to read it",
  };
  const database = joined("SQLite format 3", [0, 16, 0, 1, 1, 0, 64], "unit-1", [0, 0]);
  const pickle = [0x80, 4, 0x95, 0x1a, 0, 0, 0, 0, 0x8c, 4];
  assertEquals(read("state.db", database), unknown);
  assertEquals(read("state.pkl", joined(pickle, "done", [0x94, 0x2e])), unknown);
  assertEquals(read("state", joined([0, 0, 0, 0])), unknown);
  assertEquals(read("state.gz", joined([0x1f, 0x8b, 8, 0, 0xe2, 0x82])), unknown);
  // But where the contract says that something stands in it, it must be text.
  assertEquals(read("state.db", database, "/done").parses, false);
});

Deno.test("what begins like JSON and is cut is torn, a table of another format is not", () => {
  for (const text of ['{"a"', "{", "[", "[[", '["a", ', "[1, 2", "[tru", "[-", "[true, ", "[{"]) {
    const expected = text === "[tru" ? true : false;
    assertEquals(read("state", `${text}\n`).parses !== false, expected, text);
  }
  for (const text of ["[unit]\n", "[unit-1]\nx\n", "[truth]\nx\n"]) {
    assertEquals(read("state", text).parses === false, false, text);
  }
});

// Counting effects.

import { assert, assertEquals } from "@std/assert";
import { makeTestDir } from "../tests/support/temp_dir.ts";
import {
  EFFECT_KEYS_MAX,
  effectKeys,
  EFFECTS_BYTES_MAX,
  type EffectsSpec,
  readEffects,
} from "./effects_reader.ts";
import type { EffectsRecord } from "./record.ts";

const NONE: EffectsRecord = {
  path: "sent",
  total: 0,
  keys: 0,
  doubled: [],
  missing: [],
  unexpected: [],
  unreadable: 0,
  unknown: [],
};

interface Case {
  text: string | Uint8Array<ArrayBuffer>;
  keyAt?: EffectsSpec["keyAt"];
  expected?: string[];
  gives: Partial<EffectsRecord>;
  keys?: string[];
}

async function assertReads(cases: Record<string, Case>): Promise<void> {
  await using dir = await makeTestDir("effects");
  const { path: root } = dir;
  for (const [name, { text, keyAt, expected, gives, keys }] of Object.entries(cases)) {
    const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
    await Deno.writeFile(`${root}/sent`, bytes);
    const spec = { root, path: "sent", keyAt };
    const read = readEffects(spec, expected);
    assertEquals(read, { ...NONE, ...gives }, name);
    const more = read.doubled.reduce((sum, { count }) => sum + count - 1, 0);
    assertEquals(read.total, read.keys + more + read.unreadable, `${name}: adds up`);
    if (keys !== undefined) assertEquals(effectKeys(spec), keys, name);
  }
}

Deno.test("readEffects() counts over all parts of a log that a glob names", async () => {
  await using dir = await makeTestDir("effects");
  const spec = { root: dir.path, path: "sent.log*" };
  assertEquals(readEffects(spec).total, 0);
  // The older part has no end of line; the newest has a last line that may be cut.
  await Deno.writeTextFile(`${dir.path}/sent.log.1`, "msg-1\nmsg-2");
  await Deno.utime(`${dir.path}/sent.log.1`, 1000, 1000);
  await Deno.writeTextFile(`${dir.path}/sent.log`, "msg-2\nmsg-3\nmsg");
  const { keys, doubled, unreadable } = readEffects(spec);
  assertEquals([keys, doubled, unreadable], [3, [{ key: "msg-2", count: 2 }], 1]);
  assertEquals(effectKeys(spec), ["msg-1", "msg-2", "msg-3", "msg"]);
  await Deno.mkdir(`${dir.path}/sent.log.d`);
  assertEquals(readEffects(spec).keys, 3);
});

Deno.test("readEffects() counts per key: whole line, n-th word, JSON pointer", async () => {
  await assertReads({
    "whole line": {
      text: "a 1\nb 2\n\n  \na 1 \n",
      gives: { total: 3, keys: 2, doubled: [{ key: "a 1", count: 2 }] },
      keys: ["a 1", "b 2"],
    },
    "first word": {
      text: "a 1\nb  2\na\t9\n",
      keyAt: 1,
      gives: { total: 3, keys: 2, doubled: [{ key: "a", count: 2 }] },
    },
    "third word, which one line lacks": {
      text: "t send 1\nt send 2\nt failed\n",
      keyAt: 3,
      gives: { total: 3, keys: 2, unreadable: 1 },
      keys: ["1", "2"],
    },
    "pointer": {
      text: '{"id": "a"}\n{"id": 1}\n{"id": "1"}\n{"id": {"x": 1}}\n{"id": {"x": 2}}\n',
      keyAt: "/id",
      gives: { total: 5, keys: 4, doubled: [{ key: "1", count: 2 }] },
      keys: ["a", "1", '{"x":1}', '{"x":2}'],
    },
    "pointer deep in": {
      text: '{"message": {"keys": ["k1"]}}\n',
      keyAt: "/message/keys/0",
      gives: { total: 1, keys: 1 },
      keys: ["k1"],
    },
    "lines that are no JSON, or have no key": {
      text: '{"id": "a"}\nnoise\n{"id"\n{}\n{"id": null}\n',
      keyAt: "/id",
      gives: { total: 5, keys: 1, unreadable: 4 },
    },
    "lines that end the way of Windows": {
      text: '{"id": "a"}\r\n{"id": "b"}\r\n',
      keyAt: "/id",
      gives: { total: 2, keys: 2 },
    },
    "a mark before the first line": {
      text: '\uFEFF{"id": "a"}\n',
      keyAt: "/id",
      gives: { total: 1, keys: 1 },
    },
    "names that JavaScript knows": {
      text: "__proto__\nconstructor\n__proto__\n",
      gives: { total: 3, keys: 2, doubled: [{ key: "__proto__", count: 2 }] },
    },
    "nothing": { text: "", gives: {}, keys: [] },
    "bytes that are no text": {
      text: new Uint8Array([0xff, 0xfe, 10, 0xff, 0xfe, 10]),
      gives: { total: 2, keys: 1, doubled: [{ key: "\ufffd\ufffd", count: 2 }] },
    },
  });
});

Deno.test("readEffects() compares with what a whole run sends", async () => {
  await assertReads({
    "missing": {
      text: "1\n3\n",
      expected: ["1", "2", "3", "4"],
      gives: { total: 2, keys: 2, missing: ["2", "4"] },
    },
    "unexpected": {
      text: "1\n2\n2-again\n",
      expected: ["1", "2"],
      gives: { total: 3, keys: 3, unexpected: ["2-again"] },
    },
    "all missing": { text: "", expected: ["1"], gives: { missing: ["1"] } },
    "nothing to compare with": { text: "1\n", expected: [], gives: { total: 1, keys: 1 } },
    "an expectation that is said twice": {
      text: "",
      expected: ["1", "1"],
      gives: { missing: ["1"] },
    },
  });
});

Deno.test("readEffects() does not take half a key for a whole one", async () => {
  const expected = ["msg-1", "msg-2", "msg-12"];
  await assertReads({
    "the end of a longer key": {
      text: "msg-1\nmsg-2\nmsg-1",
      expected,
      gives: { total: 3, keys: 2, missing: ["msg-12"], unreadable: 1 },
    },
    "a key that begins no other": {
      text: "msg-1\nmsg-12\nmsg-2",
      expected,
      gives: { total: 3, keys: 3 },
    },
    "a key that nobody knows": {
      text: "msg-1\nms",
      expected,
      gives: { total: 2, keys: 1, missing: ["msg-2", "msg-12"], unreadable: 1 },
    },
    "without anything to compare with": {
      text: "msg-1\nmsg-2",
      gives: { total: 2, keys: 1, unreadable: 1 },
    },
    "a word with something behind it": {
      text: "msg-1 sent\nmsg-2 se",
      keyAt: 1,
      gives: { total: 2, keys: 2 },
    },
    "a word with nothing behind it": {
      text: "msg-1 sent\nmsg-2",
      keyAt: 1,
      gives: { total: 2, keys: 1, unreadable: 1 },
    },
    "JSON that is whole": {
      text: '{"id":"msg-1"}\n{"id":"msg-2"}',
      keyAt: "/id",
      gives: { total: 2, keys: 2 },
    },
    "JSON that is cut": {
      text: '{"id":"msg-1"}\n{"id":"msg-',
      keyAt: "/id",
      gives: { total: 2, keys: 1, unreadable: 1 },
    },
    "a bare number of JSON may go on": {
      text: "1\n2",
      keyAt: "",
      gives: { total: 2, keys: 1, unreadable: 1 },
    },
  });
});

Deno.test("readEffects() tells a file that is not there from one that cannot be read", async () => {
  await using dir = await makeTestDir("effects");
  const { path: root } = dir;
  assertEquals(readEffects({ root, path: "no/such/sent" }, ["1"]), {
    ...NONE,
    path: "no/such/sent",
    missing: ["1"],
  });
  assertEquals(effectKeys({ root, path: "no/such/sent" }), []);
  await Deno.mkdir(`${root}/folder`);
  await Deno.symlink("loop", `${root}/loop`);
  const fifo = await new Deno.Command("mkfifo", { args: [`${root}/fifo`] }).output();
  assert(fifo.success);
  await Deno.writeTextFile(`${root}/huge`, "");
  await Deno.truncate(`${root}/huge`, EFFECTS_BYTES_MAX + 1);
  for (const path of ["folder", "loop", "fifo", "huge"]) {
    const read = readEffects({ root, path }, ["1"]);
    assertEquals(read, { ...NONE, path, total: 1, unreadable: 1 }, path);
    assertEquals(effectKeys({ root, path }), []);
  }
});

Deno.test("readEffects() counts as unreadable what it can no longer tell apart", async () => {
  const text = Array.from({ length: EFFECT_KEYS_MAX + 2 }, (_, i) => `${i}\n`).join("") + "0\n";
  await assertReads({
    "too many keys": {
      text,
      gives: {
        total: EFFECT_KEYS_MAX + 3,
        keys: EFFECT_KEYS_MAX,
        unreadable: 2,
        doubled: [{ key: "0", count: 2 }],
      },
    },
  });
});

import { assert, assertEquals, assertThrows } from "@std/assert";
import { readClaims } from "../../lab/mod.ts";
import { TEAR_SHAPES, tearCheckpoint, tornBytes } from "./tear_checkpoint.ts";

const encoder = new TextEncoder();
const record = (unit: string) => `{"unit":"${unit}","by":"wörker","sha256":"${"a".repeat(64)}"}\n`;
const LOG = encoder.encode(["u-1", "u-2", "u-3", "u-4", "u-5", "u-6"].map(record).join(""));
const DOCUMENT = encoder.encode(
  JSON.stringify({ done: ["eins", "zwei", "drei", "größer"], note: "ende" }, null, 2),
);

async function withFile(
  name: string,
  bytes: Uint8Array,
  body: (path: string) => void,
): Promise<void> {
  const dir = await Deno.makeTempDir({ prefix: "tear-checkpoint-" });
  try {
    await Deno.writeFile(`${dir}/${name}`, bytes);
    body(`${dir}/${name}`);
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
}

Deno.test("tornBytes() leaves bytes that do not read as a whole checkpoint, in every shape", () => {
  for (const shape of TEAR_SHAPES) {
    for (const [name, bytes] of [["state.jsonl", LOG], ["state.json", DOCUMENT]] as const) {
      const after = tornBytes(bytes, shape, name);
      assertEquals(readClaims(after, { path: name }).parses, false, `${shape} of ${name}`);
    }
  }
});

Deno.test("tornBytes() does not change the bytes that it was given", () => {
  const copy = LOG.slice();
  for (const shape of TEAR_SHAPES) tornBytes(LOG, shape, "state.jsonl");
  assertEquals(LOG, copy);
});

Deno.test("tornBytes() cuts the last line without its end, and no line before it", () => {
  const text = new TextDecoder().decode(tornBytes(LOG, "cut-last-line", "state.jsonl"));
  const lines = text.split("\n");
  assertEquals(lines.length, 6);
  assertEquals(
    lines.slice(0, 5).join("\n") + "\n",
    ["u-1", "u-2", "u-3", "u-4", "u-5"]
      .map(record).join(""),
  );
  assert(lines[5] !== "" && record("u-6").startsWith(lines[5] ?? "?"));
});

Deno.test("tornBytes() cuts a last line that has no newline, too", () => {
  const after = tornBytes(LOG.slice(0, -1), "cut-last-line", "state.jsonl");
  assertEquals(new TextDecoder().decode(after).split("\n").length, 6);
});

Deno.test("tornBytes() cuts inside a character: a UTF-8 decoder refuses the rest", () => {
  const after = tornBytes(LOG, "cut-utf8", "state.jsonl");
  assertThrows(() => new TextDecoder("utf-8", { fatal: true }).decode(after), TypeError);
});

Deno.test("tornBytes() refuses to cut inside a character where there is none to cut", () => {
  assertThrows(
    () => tornBytes(encoder.encode('{"unit":"u-1"}\n'), "cut-utf8", "state.jsonl"),
    RangeError,
    "Cannot cut inside a character: every character takes one byte",
  );
});

Deno.test("tornBytes() refuses to cut the last line of a file that has no two bytes", () => {
  assertThrows(() => tornBytes(encoder.encode("1\n"), "cut-last-line", "n.jsonl"), RangeError);
  assertThrows(() => tornBytes(new Uint8Array(0), "cut-last-line", "n.jsonl"), RangeError);
});

Deno.test("tornBytes() never cuts a prefix between two lines", () => {
  // Lines of ten bytes: three fifths of ten lines is a place between two lines.
  const log = encoder.encode('{"u":123}\n'.repeat(10));
  const after = tornBytes(log, "prefix", "state.jsonl");
  assert(after.at(-1) !== 0x0a && after.length % 10 !== 0, `${after.length} bytes`);
  assertEquals(readClaims(after, { path: "state.jsonl" }).parses, false);
});

Deno.test("tornBytes() puts a block of NUL bytes inside and keeps the length", () => {
  const after = tornBytes(LOG, "nul-block", "state.jsonl");
  assertEquals(after.length, LOG.length);
  assertEquals(after.filter((byte) => byte === 0).length, 64);
  assert(after.at(0) !== 0 && after.at(-1) !== 0);
});

Deno.test("tornBytes() mixes old and new: longer than before, beginning and end as they were", () => {
  const after = tornBytes(LOG, "old-and-new-mixed", "state.jsonl");
  assert(after.length > LOG.length);
  assertEquals(after.slice(0, 20), LOG.slice(0, 20));
  assertEquals(after.slice(-20), LOG.slice(-20));
});

Deno.test("tearCheckpoint() tells bytes before and after, and the result of reading", async () => {
  await withFile("state.jsonl", LOG, (path) => {
    const torn = tearCheckpoint(path, "cut-last-line");
    assertEquals(torn.before, LOG);
    assertEquals(Deno.readFileSync(path), torn.after);
    assertEquals(torn.evidence.length, 2);
    assertEquals(
      torn.evidence[0]?.what,
      `the checkpoint had ${LOG.length} bytes and has ${torn.after.length}`,
    );
  });
});

Deno.test("tearCheckpoint() leaves a torn temporary file beside an older version", async () => {
  await withFile("state.jsonl", LOG, (path) => {
    const { evidence } = tearCheckpoint(path, "temp-left");
    assertEquals(readClaims(Deno.readFileSync(path), { path }).units, [
      "u-1",
      "u-2",
      "u-3",
      "u-4",
      "u-5",
    ]);
    assertEquals(readClaims(Deno.readFileSync(`${path}.tmp`), { path }).parses, false);
    assert(evidence[0]?.what.startsWith("the temporary file that was left"));
  });
});

Deno.test("tearCheckpoint() puts a new empty file in place, as a rename without data does", async () => {
  await withFile("state.jsonl", LOG, (path) => {
    const { ino } = Deno.statSync(path);
    const { evidence } = tearCheckpoint(path, "renamed-empty");
    assertEquals(Deno.statSync(path).size, 0);
    assert(Deno.statSync(path).ino !== ino);
    assertEquals(evidence.length, 2);
  });
});

Deno.test("tearCheckpoint() gives no evidence when what is left still reads whole", async () => {
  // A plain list of names without a rule: half of it is still a list of names.
  await withFile("done.txt", encoder.encode("alpha\nbeta\ngamma\n"), (path) => {
    assertEquals(tearCheckpoint(path, "empty").evidence, []);
  });
});

import { assertEquals, assertRejects } from "@std/assert";
import { extractEntry } from "./tarball.ts";

interface Entry {
  path: string;
  text: string;
  type?: string;
}

function tar(entries: readonly Entry[]): Uint8Array<ArrayBuffer> {
  const encoder = new TextEncoder();
  const blocks: Uint8Array[] = [];
  for (const { path, text, type = "0" } of entries) {
    const body = encoder.encode(text);
    const header = new Uint8Array(512);
    header.set(encoder.encode(path), 0);
    header.set(encoder.encode(body.length.toString(8).padStart(11, "0")), 124);
    header.set(encoder.encode(type), 156);
    const padded = new Uint8Array(Math.ceil(body.length / 512) * 512);
    padded.set(body);
    blocks.push(header, padded);
  }
  blocks.push(new Uint8Array(1024));
  const whole = new Uint8Array(blocks.reduce((sum, block) => sum + block.length, 0));
  let at = 0;
  for (const block of blocks) {
    whole.set(block, at);
    at += block.length;
  }
  return whole;
}

/** A gzipped stream that comes in pieces of odd size. */
function stream(bytes: Uint8Array<ArrayBuffer>): ReadableStream<Uint8Array<ArrayBuffer>> {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  for (let at = 0; at < bytes.length; at += 37) pieces.push(bytes.slice(at, at + 37));
  return ReadableStream.from(pieces).pipeThrough(new CompressionStream("gzip"));
}

const ENTRIES: Entry[] = [
  { path: "package/", text: "", type: "5" },
  { path: "package/README.md", text: "read me\n" },
  { path: "package/tool", text: "x".repeat(2_000) + "end" },
  { path: "package/later", text: "later" },
];

async function withFile(body: (path: string) => Promise<void>): Promise<void> {
  const path = await Deno.makeTempFile({ prefix: "failure-lab-tar-" });
  try {
    await body(path);
  } finally {
    await Deno.remove(path);
  }
}

Deno.test("extractEntry() writes one entry whole", () =>
  withFile(async (path) => {
    assertEquals(await extractEntry(stream(tar(ENTRIES)), "package/tool", path), true);
    assertEquals(await Deno.readTextFile(path), "x".repeat(2_000) + "end");
  }));

Deno.test("extractEntry() answers false when the archive has no such file", () =>
  withFile(async (path) => {
    assertEquals(await extractEntry(stream(tar(ENTRIES)), "package/tools", path), false);
    assertEquals(await extractEntry(stream(tar(ENTRIES)), "package/", path), false);
  }));

Deno.test("extractEntry() refuses an archive that ends in the middle of the entry", () =>
  withFile(async (path) => {
    const cut = tar(ENTRIES).slice(0, 4 * 512);
    await assertRejects(
      () => extractEntry(stream(cut), "package/tool", path),
      SyntaxError,
      "bytes before the end of an entry",
    );
  }));

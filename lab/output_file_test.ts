import { assert, assertEquals, assertThrows } from "@std/assert";
import { runFileSizeLimited } from "../tests/support/child_deno.ts";
import { makeTestDir } from "../tests/support/temp_dir.ts";
import { OutputFile, TAIL_BYTES } from "./output_file.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

Deno.test("OutputFile keeps the first bytes in the file and the last ones in memory", async () => {
  await using dir = await makeTestDir("output");
  const log = new OutputFile(`${dir.path}/log`, 10);
  for (const part of ["0123", "4567", "89AB", "CDEF"]) log.write(bytes(part));
  log.close();
  assertEquals(await Deno.readTextFile(`${dir.path}/log`), "0123456789");
  assertEquals(log.tail(), "0123456789ABCDEF");
  assertEquals(log.seenBytes, 16);
});

Deno.test("OutputFile keeps exactly the end, whatever the size of the parts", async () => {
  await using dir = await makeTestDir("output");
  const text = Array.from({ length: 9000 }, (_, i) => String.fromCharCode(97 + i % 26)).join("");
  for (const size of [1, 7, 4095, 4096, 4097, 9000]) {
    const log = new OutputFile(`${dir.path}/log-${size}`, 0);
    for (let at = 0; at < text.length; at += size) log.write(bytes(text.slice(at, at + size)));
    log.close();
    assertEquals(log.tail(), text.slice(-TAIL_BYTES), `parts of ${size}`);
    assertEquals((await Deno.stat(`${dir.path}/log-${size}`)).size, 0);
  }
});

Deno.test("OutputFile does not hold on to memory that its caller uses again", async () => {
  await using dir = await makeTestDir("output");
  const log = new OutputFile(`${dir.path}/log`, 0);
  const buffer = new Uint8Array(TAIL_BYTES).fill(97);
  log.write(buffer);
  buffer.fill(98);
  log.close();
  assertEquals(log.tail(), "a".repeat(TAIL_BYTES));
});

Deno.test("OutputFile shows bytes that are not UTF-8 as replacement characters", async () => {
  await using dir = await makeTestDir("output");
  const log = new OutputFile(`${dir.path}/log`, 100);
  log.write(new Uint8Array([0x61, 0xff, 0xc3]));
  log.close();
  assertEquals(log.tail(), "a\ufffd\ufffd");
  assertEquals(await Deno.readFile(`${dir.path}/log`), new Uint8Array([0x61, 0xff, 0xc3]));
});

Deno.test("OutputFile does not write over a file that is there", async () => {
  await using dir = await makeTestDir("output");
  await Deno.writeTextFile(`${dir.path}/log`, "mine");
  assertThrows(() => new OutputFile(`${dir.path}/log`, 10), Deno.errors.AlreadyExists);
});

Deno.test("OutputFile counts on after it was closed, and can be closed twice", async () => {
  await using dir = await makeTestDir("output");
  const log = new OutputFile(`${dir.path}/log`, 10);
  log.close();
  log.close();
  log.write(bytes("late"));
  assertEquals([log.seenBytes, log.tail()], [4, "late"]);
  assertEquals((await Deno.stat(`${dir.path}/log`)).size, 0);
});

Deno.test("OutputFile goes on counting when the disk takes nothing more", async () => {
  await using dir = await makeTestDir("output");
  const result = await runFileSizeLimited(
    dir.path,
    `
    import { OutputFile } from ${JSON.stringify(import.meta.resolve("./output_file.ts"))};
    const log = new OutputFile("log", 1 << 20);
    for (let i = 0; i < 100; i++) log.write(new Uint8Array(1000).fill(48 + i % 10));
    log.close();
    console.log(JSON.stringify([log.seenBytes, log.tail().slice(-2)]));
  `,
  );
  assertEquals(JSON.parse(result), [100_000, "99"]);
  const size = (await Deno.stat(`${dir.path}/log`)).size;
  assert(size > 0 && size < 100_000, `${size} bytes`);
});

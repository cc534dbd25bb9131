import { assertEquals, assertNotEquals, assertRejects, assertThrows } from "@std/assert";
import { createHash } from "node:crypto";
import { makeFifo, makeSocket } from "../tests/support/special_files.ts";
import { makeTestDir } from "../tests/support/temp_dir.ts";
import { localFileKit } from "./file_batch.ts";
import { hashBytes, hashFile, hashText, hashTree } from "./hash.ts";
import { KIT_CHUNK_BYTES } from "./_file_kit.ts";

const EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
// FIPS 180-2, appendix B.1.
const ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

Deno.test("hashes are those of the standard", async () => {
  await using dir = await makeTestDir("hash");
  assertEquals(hashBytes(new TextEncoder().encode("abc")), ABC);
  assertEquals(hashText("abc"), ABC);
  await Deno.writeTextFile(`${dir.path}/abc`, "abc");
  await Deno.writeTextFile(`${dir.path}/empty`, "");
  assertEquals(hashFile(`${dir.path}/abc`), { sha256: ABC, bytes: 3 });
  assertEquals(hashFile(`${dir.path}/empty`), { sha256: EMPTY, bytes: 0 });
});

Deno.test("hashFile() reads files around the size of its buffer whole", async () => {
  await using dir = await makeTestDir("hash");
  for (const bytes of [-1, 0, 1, KIT_CHUNK_BYTES].map((more) => KIT_CHUNK_BYTES + more)) {
    const content = new Uint8Array(bytes).map((_, i) => i * 7);
    await Deno.writeFile(`${dir.path}/file`, content);
    const sha256 = createHash("sha256").update(content).digest("hex");
    assertEquals(hashFile(`${dir.path}/file`), { sha256, bytes });
  }
});

Deno.test("a file that changed its size since it was seen is read again, whole", async () => {
  await using dir = await makeTestDir("hash");
  await Deno.writeTextFile(`${dir.path}/abc`, "abc");
  const kit = localFileKit();
  assertEquals(kit.hashSmall(`${dir.path}/abc`, 3), ABC);
  for (const seen of [0, 2, 4, 5000, KIT_CHUNK_BYTES]) {
    assertEquals(kit.hashSmall(`${dir.path}/abc`, seen), null);
  }
  const steps = [...kit.hashInSteps(`${dir.path}/abc`)];
  assertEquals(steps.length, 1);
});

Deno.test("hashFile() never opens a fifo, a socket, a device or a folder", async () => {
  await using dir = await makeTestDir("hash");
  await makeFifo(`${dir.path}/pipe`);
  await Deno.symlink("pipe", `${dir.path}/link`);
  const names = [
    "pipe",
    "link",
    ".",
    ...(await makeSocket(`${dir.path}/socket`) ? ["socket"] : []),
  ];
  // Opening the fifo would wait for a writer for ever.
  for (const path of names.map((name) => `${dir.path}/${name}`)) {
    assertThrows(() => hashFile(path), TypeError, "only a regular file can be");
  }
  assertThrows(() => hashFile("/dev/zero"), TypeError, "it is a device");
  assertThrows(() => hashFile(`${dir.path}/none`), Deno.errors.NotFound);
});

Deno.test("hashFile() follows a link to a file", async () => {
  await using dir = await makeTestDir("hash");
  await Deno.writeTextFile(`${dir.path}/abc`, "abc");
  await Deno.symlink("abc", `${dir.path}/link`);
  assertEquals(hashFile(`${dir.path}/link`).sha256, ABC);
});

/** Builds a small tree and gives its hash; `change` may alter it first. */
async function hashOf(change: (at: (name: string) => string) => unknown): Promise<string> {
  await using dir = await makeTestDir("tree-hash");
  const at = (name: string) => `${dir.path}/root-${dir.path.length}/${name}`;
  await Deno.mkdir(at("sub/empty"), { recursive: true });
  await Deno.writeTextFile(at("a"), "one");
  await Deno.writeTextFile(at("sub/b"), "two");
  await Deno.symlink("a", at("link"));
  await change(at);
  return (await hashTree(at("").slice(0, -1))).sha256;
}

Deno.test("hashTree() is the same for the same tree and changes with every part of it", async () => {
  const plain = await hashOf(() => {});
  assertEquals(await hashOf((at) => Deno.utime(at("a"), 1, 1)), plain);
  assertEquals(await hashOf((at) => Deno.chmod(at("a"), 0o600)), plain);
  const changes: ((at: (name: string) => string) => unknown)[] = [
    (at) => Deno.writeTextFile(at("a"), "One"),
    (at) => Deno.rename(at("a"), at("c")),
    (at) => Deno.remove(at("sub/empty")),
    (at) => Deno.writeTextFile(at("sub/new"), ""),
    (at) => Deno.chmod(at("a"), 0o755),
    (at) => Deno.remove(at("link")).then(() => Deno.symlink("sub", at("link"))),
    (at) => Deno.rename(at("sub/b"), at("b")),
  ];
  const hashes = [plain, ...await Promise.all(changes.map(hashOf))];
  assertEquals(new Set(hashes).size, changes.length + 1);
});

Deno.test("hashTree() counts, leaves out, and names what it never reads", async () => {
  await using dir = await makeTestDir("tree-hash");
  await Deno.mkdir(`${dir.path}/out`);
  await Deno.writeTextFile(`${dir.path}/out/x`, "x");
  await Deno.writeTextFile(`${dir.path}/a`, "abc");
  await makeFifo(`${dir.path}/pipe`);
  const all = await hashTree(dir.path);
  assertEquals([all.files, all.directories, all.links, all.bytes], [2, 1, 0, 4]);
  assertEquals(all.unread, [{ path: "pipe", reason: "it is a fifo" }]);
  const part = await hashTree(dir.path, { exclude: ["out"] });
  assertEquals([part.files, part.directories], [1, 0]);
  assertNotEquals(part.sha256, all.sha256);
  await assertRejects(() => hashTree(`${dir.path}/none`), Error, "it cannot be listed");
});

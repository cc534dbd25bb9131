import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { makeFifo, makeSocket } from "../tests/support/special_files.ts";
import { makeTestDir } from "../tests/support/temp_dir.ts";
import { lookAt, type WalkEntry, walkTree } from "./walk.ts";

async function listOf(
  root: string,
  options: Parameters<typeof walkTree>[2] = {},
): Promise<WalkEntry[]> {
  const entries: WalkEntry[] = [];
  await walkTree(root, (entry) => void entries.push(entry), options);
  return entries;
}

Deno.test("walkTree() visits in a fixed order, folders first, and names every kind", async () => {
  await using dir = await makeTestDir("walk");
  await Deno.mkdir(`${dir.path}/b/c`, { recursive: true });
  for (const name of ["b/c/z", "b/new\nline", "B", "a b", ".hidden"]) {
    await Deno.writeTextFile(`${dir.path}/${name}`, "");
  }
  await Deno.symlink("/", `${dir.path}/link`);
  await makeFifo(`${dir.path}/pipe`);
  const hasSocket = await makeSocket(`${dir.path}/socket`);
  const seen = await listOf(dir.path);
  assertEquals(seen.map(({ relative, kind }) => `${relative} ${kind}`), [
    ".hidden file",
    "B file",
    "a b file",
    "b directory",
    "b/c directory",
    "b/c/z file",
    "b/new\nline file",
    "link symlink",
    "pipe fifo",
    ...(hasSocket ? ["socket socket"] : []),
  ]);
  assertEquals(seen[3]?.path, `${dir.path}/b`);
});

Deno.test("walkTree() leaves out what is skipped, stays on top, and stops when told to", async () => {
  await using dir = await makeTestDir("walk");
  await Deno.mkdir(`${dir.path}/keep`);
  await Deno.mkdir(`${dir.path}/skip`);
  await Deno.writeTextFile(`${dir.path}/keep/a`, "");
  await Deno.writeTextFile(`${dir.path}/skip/a`, "");
  const names = (entries: WalkEntry[]) => entries.map(({ relative }) => relative);
  const skip = (relative: string) => relative === "skip";
  assertEquals(names(await listOf(dir.path, { skip })), ["keep", "keep/a"]);
  assertEquals(names(await listOf(dir.path, { deep: false })), ["keep", "skip"]);
  const first: string[] = [];
  await walkTree(dir.path, ({ relative }) => {
    first.push(relative);
    return "stop";
  });
  assertEquals(first, ["keep"]);
});

Deno.test("walkTree() goes down 900 folders and through 5,000 names", async () => {
  await using dir = await makeTestDir("walk");
  await Deno.mkdir(`${dir.path}/${"d/".repeat(900)}`, { recursive: true });
  await Deno.mkdir(`${dir.path}/wide`);
  await Promise.all(
    Array.from({ length: 5000 }, (_, i) => Deno.writeTextFile(`${dir.path}/wide/${i}`, "")),
  );
  assertEquals((await listOf(dir.path)).length, 900 + 1 + 5000);
});

Deno.test("walkTree() hands on a name that is not UTF-8 as unreadable, or does not see it", async () => {
  await using dir = await makeTestDir("walk");
  await new Deno.Command("sh", {
    args: ["-c", `: >"$(printf 'bad\\377name')"; : >good`],
    cwd: dir.path,
  }).output();
  const seen = await listOf(dir.path);
  assertEquals(seen.at(-1)?.relative, "good");
  // Deno 2.4 does not list such a name at all; 2.9 lists it in a form that opens nothing.
  if (seen.length > 1) {
    assertEquals(seen[0]?.kind, "unreadable");
    assertStringIncludes(seen[0]?.problem ?? "", "not valid UTF-8");
  }
});

Deno.test("walkTree() says why the root cannot be listed, and ends when it is aborted", async () => {
  await using dir = await makeTestDir("walk");
  assertStringIncludes(await walkTree(`${dir.path}/none`, () => {}) ?? "", "No such file");
  await Deno.writeTextFile(`${dir.path}/a`, "");
  const signal = AbortSignal.abort(new Error("enough"));
  await assertRejects(() => walkTree(dir.path, () => {}, { signal }), Error, "enough");
});

Deno.test("lookAt() tells a path at which nothing is from one that cannot be read", () => {
  assertEquals(lookAt("/nowhere/at/all").kind, "vanished");
  const long = lookAt(`/${"x".repeat(5000)}`);
  assertEquals(long.kind, "unreadable");
  assert(long.problem !== null);
});

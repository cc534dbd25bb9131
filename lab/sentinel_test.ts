import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { makeTestDir } from "../tests/support/temp_dir.ts";
import { checkSentinel, plantSentinel } from "./sentinel.ts";

Deno.test("a sentinel that nobody touched is intact", async () => {
  await using dir = await makeTestDir("sentinel");
  const sentinel = plantSentinel(dir.path);
  assertEquals(checkSentinel(sentinel).intact, true);
  assertEquals(((await Deno.lstat(sentinel.path)).mode ?? 0) & 0o777, 0o400);
  assertThrows(() => plantSentinel(dir.path), Deno.errors.AlreadyExists);
});

Deno.test("two sentinels are never alike", async () => {
  await using one = await makeTestDir("sentinel");
  await using two = await makeTestDir("sentinel");
  assertEquals(plantSentinel(one.path).sha256 === plantSentinel(two.path).sha256, false);
});

const DAMAGES: [what: string, act: (path: string, text: string) => unknown, told: string][] = [
  ["removed", (path) => Deno.remove(path), "it was removed"],
  ["changed", (path) => Deno.writeTextFile(path, "x"), "its content was changed"],
  ["made readable", (path) => Deno.chmod(path, 0o644), "from 0400 to 0644"],
  [
    "replaced by its equal",
    async (path, text) => {
      await Deno.writeTextFile(`${path}.new`, text, { mode: 0o400 });
      await Deno.rename(`${path}.new`, path);
    },
    "it was replaced",
  ],
  ["written again", (path) => Deno.utime(path, 7, 7), "it was written again"],
  [
    "swapped for a link",
    (path) => Deno.rename(path, `${path}.moved`).then(() => Deno.symlink(`${path}.moved`, path)),
    "no regular file",
  ],
];

for (const [what, act, told] of DAMAGES) {
  Deno.test(`a sentinel that was ${what} is not intact`, async () => {
    await using dir = await makeTestDir("sentinel");
    const sentinel = plantSentinel(dir.path);
    await Deno.chmod(sentinel.path, 0o600);
    const text = await Deno.readTextFile(sentinel.path);
    await Deno.chmod(sentinel.path, 0o400);
    if (what === "changed") await Deno.chmod(sentinel.path, 0o600);
    await act(sentinel.path, text);
    if (what === "changed") await Deno.chmod(sentinel.path, 0o400);
    const { intact, detail } = checkSentinel(sentinel);
    assertEquals(intact, false);
    assertStringIncludes(detail, told);
    assertStringIncludes(detail, sentinel.path);
  });
}

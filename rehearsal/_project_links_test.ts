import { assertEquals } from "@std/assert";
import { makeTestDir } from "../tests/support/temp_dir.ts";
import { gitFileFate, linkInCopy } from "./_project_links.ts";

async function makeProject(path: string): Promise<string> {
  const root = `${path}/proj`;
  await Deno.mkdir(`${root}/a/b`, { recursive: true });
  await Deno.mkdir(`${root}/.git/modules/sub`, { recursive: true });
  await Deno.mkdir(`${path}/proj2`);
  await Deno.writeTextFile(`${root}/a/file`, "");
  return root;
}

Deno.test("a link becomes one that stays in the copy, or none", async () => {
  await using dir = await makeTestDir("links");
  const root = await makeProject(dir.path);
  const cases: [link: string, target: string, inCopy: string | null][] = [
    ["l", "a/file", "a/file"],
    ["l", "./a/../a/file", "./a/../a/file"],
    ["a/b/l", "../file", "../file"],
    ["a/b/l", "../../", "../../"],
    ["l", "not-yet/there", "not-yet/there"],
    ["l", `${root}/a/file`, "a/file"],
    ["a/b/l", `${root}/a/file`, "../file"],
    ["a/l", `${root}`, ".."],
    ["l", `${root}/not-yet`, "not-yet"],
    // Out and in again: in the copy this would be the real project, or nothing.
    ["l", "../proj/a/file", "a/file"],
    ["a/b/l", "../../../proj/a", ".."],
    ["l", "..", null],
    ["l", "../proj2", null],
    ["l", `${root}2`, null],
    ["l", "/etc/passwd", null],
    ["a/b/l", "../../../nowhere", null],
  ];
  for (const [link, target, inCopy] of cases) {
    assertEquals([link, target, linkInCopy(root, link, target)], [link, target, inCopy]);
  }
});

Deno.test("a link over another link is judged by where it ends", async () => {
  await using dir = await makeTestDir("links");
  const root = await makeProject(dir.path);
  await Deno.symlink("../proj2", `${root}/door`);
  await Deno.symlink("loop", `${root}/loop`);
  assertEquals(linkInCopy(root, "l", "door/x"), null);
  assertEquals(linkInCopy(root, "loop", "loop"), "loop");
  assertEquals(linkInCopy(root, "l", `${root}/loop`), null);
});

Deno.test("a .git file that names a folder outside is a link that leads out", async () => {
  await using dir = await makeTestDir("links");
  const root = await makeProject(dir.path);
  const fateOf = async (text: string) => {
    await Deno.writeTextFile(`${root}/a/.git`, text);
    return gitFileFate(root, "a/.git");
  };
  assertEquals(await fateOf("gitdir: ../.git/modules/sub\n"), "keep");
  assertEquals(await fateOf(`gitdir: ${root}/.git/modules/sub\n`), {
    rewritten: "gitdir: ../.git/modules/sub\n",
  });
  assertEquals(await fateOf(`gitdir: ${dir.path}/proj2/.git/worktrees/a\n`), "link-out");
  assertEquals(await fateOf("gitdir: ../../proj2/.git\n"), "link-out");
  assertEquals(await fateOf("something else\n"), "keep");
});

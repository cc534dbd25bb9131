import { assertEquals, assertRejects } from "@std/assert";
import { makeTestDir } from "../tests/support/temp_dir.ts";
import { removeTree } from "./remove.ts";

async function exists(path: string): Promise<boolean> {
  return await Deno.lstat(path).then(() => true, () => false);
}

Deno.test("removeTree() removes closed folders, odd names and deep trees", async () => {
  await using dir = await makeTestDir("remove");
  const tree = `${dir.path}/tree`;
  await Deno.mkdir(`${tree}/closed/inner/deep`, { recursive: true });
  await Deno.mkdir(`${tree}/${"d/".repeat(900)}`, { recursive: true });
  await Deno.writeTextFile(`${tree}/closed/inner/file`, "", { mode: 0o400 });
  await Deno.writeTextFile(`${tree}/new\nline`, "");
  await new Deno.Command("sh", { args: ["-c", `: >"$(printf 'bad\\377')"`], cwd: tree }).output();
  for (const folder of ["closed/inner/deep", "closed/inner", "closed"]) {
    await Deno.chmod(`${tree}/${folder}`, 0o000);
  }
  await removeTree(tree, dir.path);
  assertEquals(await exists(tree), false);
});

Deno.test("removeTree() removes links and never what they point to", async () => {
  await using dir = await makeTestDir("remove");
  await Deno.mkdir(`${dir.path}/root/tree`, { recursive: true });
  await Deno.mkdir(`${dir.path}/kept`);
  await Deno.writeTextFile(`${dir.path}/kept/file`, "kept");
  await Deno.symlink(`${dir.path}/kept`, `${dir.path}/root/tree/link`);
  await Deno.symlink(`${dir.path}/kept`, `${dir.path}/root/top-link`);
  await removeTree(`${dir.path}/root/tree`, `${dir.path}/root`);
  await removeTree(`${dir.path}/root/top-link`, `${dir.path}/root`);
  assertEquals(await Array.fromAsync(Deno.readDir(`${dir.path}/root`)), []);
  assertEquals(await Deno.readTextFile(`${dir.path}/kept/file`), "kept");
});

Deno.test("removeTree() takes nothing at the path as done", async () => {
  await using dir = await makeTestDir("remove");
  await removeTree(`${dir.path}/none`, dir.path);
  await removeTree(`${dir.path}/none/below`, dir.path);
  await removeTree(`${dir.path}/no-root/x`, `${dir.path}/no-root`);
});

Deno.test("removeTree() refuses the root itself and everything outside it", async () => {
  await using dir = await makeTestDir("remove");
  const root = `${dir.path}/lab`;
  await Deno.mkdir(root);
  await Deno.mkdir(`${dir.path}/lab2/x`, { recursive: true });
  await Deno.symlink(`${dir.path}/lab2`, `${root}/out`);
  const refused = [
    root,
    `${root}/`,
    `${root}/.`,
    `${root}/..`,
    `${root}/../lab2`,
    `${root}/x/../../lab2`,
    `${dir.path}/lab2`,
    `${root}2`,
    `${root}/out/x`,
    "x",
    "/",
    "",
  ];
  for (const path of refused) {
    await assertRejects(() => removeTree(path, root), RangeError, "it must lie under");
  }
  assertEquals(await exists(`${dir.path}/lab2/x`), true);
});

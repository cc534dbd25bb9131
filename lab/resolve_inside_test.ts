import { assertEquals, assertThrows } from "@std/assert";
import { runNarrowed } from "../tests/support/narrowed.ts";
import { makeTestDir } from "../tests/support/temp_dir.ts";
import { isWithin, resolveInside } from "./resolve_inside.ts";

/** `lab` with a file, a folder and links of every kind, beside a `lab2` of a similar name. */
async function makeTree(path: string): Promise<string> {
  const root = `${path}/lab`;
  await Deno.mkdir(`${root}/src`, { recursive: true });
  await Deno.mkdir(`${path}/lab2`);
  await Deno.writeTextFile(`${root}/src/a.txt`, "a");
  await Deno.writeTextFile(`${path}/lab2/secret.txt`, "s");
  await Deno.symlink("../lab2", `${root}/out-dir`);
  await Deno.symlink(`${path}/lab2/secret.txt`, `${root}/out-file`);
  await Deno.symlink(`${path}/lab2/not-yet`, `${root}/out-dangling`);
  await Deno.symlink("src/not-yet", `${root}/in-dangling`);
  await Deno.symlink("src/a.txt", `${root}/in-file`);
  await Deno.symlink(`${root}/src`, `${root}/in-absolute`);
  await Deno.symlink("loop-b", `${root}/loop-a`);
  await Deno.symlink("loop-a", `${root}/loop-b`);
  await Deno.symlink("in-file", `${root}/chain`);
  await Deno.symlink("out-dir/secret.txt", `${root}/chain-out`);
  await Deno.symlink("../lab2/../lab/src", `${root}/out-and-in`);
  return root;
}

Deno.test("resolveInside() says of every shape of path whether it stays inside", async () => {
  await using dir = await makeTestDir("resolve");
  const root = await makeTree(dir.path);
  const cases: [path: string, inside: boolean, realPath: string][] = [
    ["src/a.txt", true, "lab/src/a.txt"],
    ["./src//a.txt", true, "lab/src/a.txt"],
    ["", true, "lab"],
    ["not/yet/there", true, "lab/not/yet/there"],
    ["src/../../lab2/secret.txt", false, "lab2/secret.txt"],
    ["..", false, ""],
    ["../lab/src", true, "lab/src"],
    ["out-dir", false, "lab2"],
    ["out-dir/new.txt", false, "lab2/new.txt"],
    ["out-file", false, "lab2/secret.txt"],
    ["out-dangling", false, "lab2/not-yet"],
    ["in-dangling", true, "lab/src/not-yet"],
    ["in-file", true, "lab/src/a.txt"],
    ["in-absolute/a.txt", true, "lab/src/a.txt"],
    ["chain", true, "lab/src/a.txt"],
    ["chain-out", false, "lab2/secret.txt"],
    // The way of the system: ".." after a link is above what the link leads to.
    ["out-dir/../lab2", false, "lab2"],
    ["in-absolute/../src", true, "lab/src"],
    ["out-and-in/a.txt", true, "lab/src/a.txt"],
  ];
  for (const [path, inside, realPath] of cases) {
    const found = resolveInside(root, path);
    assertEquals(
      [path, found.inside, found.realPath],
      [path, inside, `${dir.path}/${realPath}`.replace(/\/$/, "")],
    );
  }
});

Deno.test("resolveInside() takes absolute paths, and compares by parts and not by text", async () => {
  await using dir = await makeTestDir("resolve");
  const root = await makeTree(dir.path);
  assertEquals(resolveInside(root, `${root}/src/a.txt`).inside, true);
  assertEquals(resolveInside(root, `${root}2/secret.txt`).inside, false);
  assertEquals(resolveInside(root, "/etc/passwd").inside, false);
  assertEquals(resolveInside(`${root}/`, `${root}/src`).inside, true);
  assertEquals(isWithin("/a/lab", "/a/lab2"), false);
  assertEquals(isWithin("/a/lab", "/a/lab/x"), true);
  assertEquals(isWithin("/", "/a"), true);
});

Deno.test("resolveInside() tells a loop, a missing end, and a way that led outside", async () => {
  await using dir = await makeTestDir("resolve");
  const root = await makeTree(dir.path);
  const loop = resolveInside(root, "loop-a");
  assertEquals([loop.loop, loop.inside, loop.exists], [true, false, false]);
  assertEquals(resolveInside(root, "src/a.txt").exists, true);
  assertEquals(resolveInside(root, "in-dangling").exists, false);
  assertEquals(resolveInside(root, "out-and-in").leftRoot, true);
  assertEquals(resolveInside(root, "in-absolute").leftRoot, false);
  assertEquals(resolveInside(root, "chain").throughLink, true);
});

Deno.test("resolveInside() knows a root that was given through a link", async () => {
  await using dir = await makeTestDir("resolve");
  const root = await makeTree(dir.path);
  await Deno.symlink(root, `${dir.path}/alias`);
  assertEquals(resolveInside(`${dir.path}/alias`, `${dir.path}/alias/src`), {
    inside: true,
    realPath: `${root}/src`,
    exists: true,
    throughLink: false,
    leftRoot: false,
    loop: false,
  });
  assertEquals(resolveInside(`${dir.path}/alias`, `${root}/src`).inside, true);
  assertEquals(resolveInside(`${dir.path}/alias`, "out-dir").inside, false);
});

Deno.test("resolveInside() keeps names apart that differ in case where the disk does", async () => {
  await using dir = await makeTestDir("resolve");
  const root = await makeTree(dir.path);
  const ignoresCase = await Deno.lstat(`${dir.path}/LAB`).then(() => true, () => false);
  assertEquals(resolveInside(root, `${dir.path}/LAB/src`).inside, ignoresCase);
});

Deno.test("resolveInside() refuses a NUL byte and a root that is not there", () => {
  assertThrows(() => resolveInside("/", "a\0b"), TypeError, "must not hold a NUL byte");
  assertThrows(() => resolveInside("/nowhere/at/all", "a"), Deno.errors.NotFound);
});

Deno.test("resolveInside() gives the same answers with rights for the root alone", async () => {
  await using dir = await makeTestDir("resolve");
  const root = await makeTree(dir.path);
  const paths = ["src/a.txt", "out-dir/x", "out-file", "in-absolute", "..", "out-and-in"];
  const answers = await runNarrowed(
    { read: [root] },
    { lab: new URL("./resolve_inside.ts", import.meta.url).href },
    `const root = ${JSON.stringify(root)};
     return ${JSON.stringify(paths)}.map((path) => lab.resolveInside(root, path).inside);`,
  );
  assertEquals(answers, [true, false, false, true, false, true]);
});

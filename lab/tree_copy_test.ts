import { assert, assertEquals, assertRejects } from "@std/assert";
import { makeFifo, makeSocket } from "../tests/support/special_files.ts";
import { runNarrowed } from "../tests/support/narrowed.ts";
import { makeTestDir } from "../tests/support/temp_dir.ts";
import { hashTree } from "./hash.ts";
import { EnvironmentError } from "./system_tools.ts";
import { addToPlan, carryOut, cloneTree, emptyPlan } from "./tree_copy.ts";
import { walkTree } from "./walk.ts";

/** A tree with modes, times, links and odd names. */
async function makeTree(root: string): Promise<void> {
  await Deno.mkdir(`${root}/sub/empty`, { recursive: true });
  await Deno.mkdir(`${root}/closed`);
  await Deno.writeTextFile(`${root}/plain`, "plain");
  await Deno.writeTextFile(`${root}/sub/new\nline and space`, "odd");
  await Deno.writeTextFile(`${root}/closed/read-only`, "ro", { mode: 0o444 });
  await Deno.writeTextFile(`${root}/run.sh`, "#!/bin/sh\n");
  await Deno.chmod(`${root}/run.sh`, 0o775);
  await Deno.chmod(`${root}/sub`, 0o2770);
  await Deno.symlink("plain", `${root}/link`);
  await Deno.symlink("/nowhere/at/all", `${root}/dangling`);
  await Deno.symlink("../../outside", `${root}/sub/out`);
  await Deno.link(`${root}/plain`, `${root}/twin`);
  await Deno.utime(`${root}/plain`, 981173106, new Date(981173106789));
  await Deno.chmod(`${root}/closed`, 0o555);
  for (const folder of ["sub/empty", "sub", "closed", "."]) {
    await Deno.utime(`${root}/${folder}`, 1e9, new Date(1e12 + 123));
  }
}

/** Everything that a copy must keep, line by line. */
async function describe(root: string): Promise<string[]> {
  const lines: string[] = [];
  const put = (name: string, info: Deno.FileInfo | null) => {
    const mode = ((info?.mode ?? 0) & 0o7777).toString(8);
    lines.push(`${name} ${mode} ${info?.mtime?.getTime()}`);
  };
  put(".", await Deno.lstat(root));
  await walkTree(root, ({ relative, kind, info, path }) => {
    if (kind === "symlink") lines.push(`${relative} -> ${Deno.readLinkSync(path)}`);
    else put(relative, info);
  });
  return [...lines, (await hashTree(root)).sha256];
}

Deno.test("cloneTree() keeps contents, modes, times, links and odd names", async () => {
  await using dir = await makeTestDir("clone");
  await makeTree(`${dir.path}/from`);
  const report = await cloneTree(`${dir.path}/from`, `${dir.path}/to`);
  assertEquals(await describe(`${dir.path}/to`), await describe(`${dir.path}/from`));
  const { files, directories, links, bytes, skipped } = report;
  assertEquals([files, directories, links, bytes], [5, 3, 3, 5 + 5 + 3 + 2 + 10]);
  assertEquals(skipped, []);
  // Two names of one file become two files: a change of one must not show in the other.
  await Deno.writeTextFile(`${dir.path}/to/twin`, "changed");
  assertEquals(await Deno.readTextFile(`${dir.path}/to/plain`), "plain");
});

Deno.test("a clone of a clone is the same, also with rights for the lab alone", async () => {
  await using dir = await makeTestDir("clone");
  await makeTree(`${dir.path}/from`);
  await cloneTree(`${dir.path}/from`, `${dir.path}/first`);
  await runNarrowed(
    { read: [dir.path], write: [dir.path] },
    { copy: new URL("./tree_copy.ts", import.meta.url).href },
    `await copy.cloneTree(${JSON.stringify(`${dir.path}/first`)},
       ${JSON.stringify(`${dir.path}/second`)});`,
  );
  assertEquals(await describe(`${dir.path}/second`), await describe(`${dir.path}/from`));
});

Deno.test("cloneTree() leaves out what must not be opened, and says so", async () => {
  await using dir = await makeTestDir("clone");
  await Deno.mkdir(`${dir.path}/from`);
  await makeFifo(`${dir.path}/from/pipe`);
  const hasSocket = await makeSocket(`${dir.path}/from/socket`);
  const { skipped, files } = await cloneTree(`${dir.path}/from`, `${dir.path}/to`);
  assertEquals(files, 0);
  assertEquals(skipped, [
    { path: "pipe", reason: "fifo" },
    ...(hasSocket ? [{ path: "socket", reason: "socket" as const }] : []),
  ]);
});

Deno.test("a file with holes keeps its content and its holes", async () => {
  await using dir = await makeTestDir("clone");
  const from = `${dir.path}/from`;
  await Deno.mkdir(from);
  const holes: [name: string, bytes: number, dataAt: number[]][] = [
    ["all", 64 << 20, []],
    ["data-last", (20 << 20) + 5, [(20 << 20) + 2]],
    ["data-first-and-middle", 33 << 20, [0, (10 << 20) + 3]],
  ];
  for (const [name, bytes, dataAt] of holes) {
    using file = await Deno.open(`${from}/${name}`, { write: true, createNew: true });
    await file.truncate(bytes);
    for (const position of dataAt) {
      await file.seek(position, Deno.SeekMode.Start);
      await file.write(new TextEncoder().encode("xyz"));
    }
  }
  await cloneTree(from, `${dir.path}/to`);
  assertEquals((await hashTree(`${dir.path}/to`)).sha256, (await hashTree(from)).sha256);
  for (const [name] of holes) {
    const { size, blocks } = await Deno.lstat(`${dir.path}/to/${name}`);
    assert((blocks ?? 0) * 512 < size / 20, `${name} takes ${blocks} blocks for ${size} bytes`);
  }
});

Deno.test("what would have too long a path in the copy is left out, and said", async () => {
  await using dir = await makeTestDir("clone");
  const name = "n".repeat(200);
  const deep = `${dir.path}/from${`/${name}`.repeat(19)}`;
  await Deno.mkdir(deep, { recursive: true });
  await Deno.writeTextFile(`${deep}/file`, "");
  await Deno.mkdir(`${dir.path}/${"t".repeat(250)}`);
  const report = await cloneTree(`${dir.path}/from`, `${dir.path}/${"t".repeat(250)}/to`);
  assertEquals([report.directories, report.files], [18, 0]);
  assertEquals(report.skipped.map(({ reason }) => reason), ["unreadable", "unreadable"]);
  assert(report.skipped.every(({ detail }) => detail?.includes("4095 are allowed")));
});

Deno.test("a copy that cannot be written ends as a lack of the machine", async () => {
  await using dir = await makeTestDir("clone");
  await Deno.mkdir(`${dir.path}/from`);
  await Deno.writeTextFile(`${dir.path}/from/first`, "");
  await Deno.writeTextFile(`${dir.path}/from/second`, "");
  const plan = emptyPlan(`${dir.path}/from`);
  await walkTree(`${dir.path}/from`, (entry) => addToPlan(plan, entry));
  // A folder that was taken for one more file of the same name stands for a disk that refuses.
  const [first] = plan.files;
  assert(first !== undefined);
  plan.directories.push({ path: "first", info: plan.root });
  const error = await assertRejects(
    () => carryOut(plan, `${dir.path}/from`, `${dir.path}/to`, { wantsHash: true }),
    EnvironmentError,
    `Cannot copy "${dir.path}/from/first" to the lab`,
  );
  assertEquals((error as EnvironmentError).exitCode, 4);
});

Deno.test("cloneTree() copies a big file", async () => {
  await using dir = await makeTestDir("clone");
  await Deno.mkdir(`${dir.path}/from`);
  const content = new Uint8Array((17 << 20) + 1).map((_, i) => i >> 8);
  await Deno.writeFile(`${dir.path}/from/big`, content, { mode: 0o640 });
  await Deno.utime(`${dir.path}/from/big`, 1e9, 1e9);
  await cloneTree(`${dir.path}/from`, `${dir.path}/to`);
  assertEquals(await describe(`${dir.path}/to`), await describe(`${dir.path}/from`));
});

Deno.test("cloneTree() never writes where something is, and needs a folder", async () => {
  await using dir = await makeTestDir("clone");
  await Deno.mkdir(`${dir.path}/from`);
  await Deno.writeTextFile(`${dir.path}/file`, "");
  await Deno.mkdir(`${dir.path}/to`);
  await Deno.symlink("nowhere", `${dir.path}/link`);
  const clone = (from: string, to: string) => cloneTree(`${dir.path}/${from}`, `${dir.path}/${to}`);
  await assertRejects(() => clone("from", "to"), Deno.errors.AlreadyExists);
  await assertRejects(() => clone("from", "link"), Deno.errors.AlreadyExists);
  await assertRejects(() => clone("file", "new"), Error, "it is not a folder");
  await assertRejects(() => clone("none", "new"), Deno.errors.NotFound);
});

Deno.test("a tree whose files cannot be read is copied without them", {
  ignore: isRoot(),
}, async () => {
  await using dir = await makeTestDir("clone");
  const from = `${dir.path}/from`;
  await Deno.mkdir(`${from}/secret`, { recursive: true });
  await Deno.writeTextFile(`${from}/secret/x`, "");
  await Deno.writeTextFile(`${from}/mine`, "", { mode: 0o000 });
  await Deno.writeTextFile(`${from}/ok`, "");
  await Deno.chmod(`${from}/secret`, 0o000);
  const { skipped, files } = await cloneTree(from, `${dir.path}/to`);
  assertEquals(files, 1);
  assertEquals(skipped.map(({ path, reason }) => [path, reason]), [
    ["mine", "unreadable"],
    ["secret", "unreadable"],
  ]);
});

/** Root reads everything, so there is nothing to see. */
function isRoot(): boolean {
  return Deno.uid() === 0;
}

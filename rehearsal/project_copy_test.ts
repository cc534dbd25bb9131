import { assert, assertEquals, assertRejects } from "@std/assert";
import { hashTree } from "../lab/mod.ts";
import { runNarrowed } from "../tests/support/narrowed.ts";
import { makeFifo, makeSocket } from "../tests/support/special_files.ts";
import { makeTestDir } from "../tests/support/temp_dir.ts";
import { cloneTree, type CopyOptions, copyProject, type CopyReport } from "./project_copy.ts";

/** A folder with a project and a lab in it. */
interface Place extends AsyncDisposable {
  path: string;
  /** Path of something in the project. */
  at(name: string): string;
  /** Path of something in the copy. */
  copied(name: string): string;
  labRoot: string;
  copy(options?: Partial<CopyOptions>): Promise<CopyReport>;
}

async function makePlace(): Promise<Place> {
  const dir = await makeTestDir("copy");
  const labRoot = `${dir.path}/failure-lab-test`;
  await Deno.mkdir(`${dir.path}/proj/src`, { recursive: true });
  await Deno.mkdir(labRoot);
  await Deno.writeTextFile(`${dir.path}/proj/src/main.sh`, "echo hi\n");
  await Deno.writeTextFile(`${dir.path}/outside`, "outside");
  return {
    path: dir.path,
    labRoot,
    at: (name) => `${dir.path}/proj/${name}`,
    copied: (name) => `${labRoot}/pristine/${name}`,
    copy: (options = {}) =>
      copyProject({ from: `${dir.path}/proj`, to: `${labRoot}/pristine`, ...options }),
    [Symbol.asyncDispose]: () => dir[Symbol.asyncDispose](),
  };
}

const reasons = ({ skipped }: CopyReport) => skipped.map(({ path, reason }) => [path, reason]);

async function exists(path: string): Promise<boolean> {
  return await Deno.lstat(path).then(() => true, () => false);
}

Deno.test("a project is copied without its dangers, and each one is named", async () => {
  await using place = await makePlace();
  await Deno.writeTextFile(place.at(".env"), "SECRET=1");
  await Deno.writeTextFile(place.at(".env.example"), "SECRET=");
  await Deno.mkdir(place.at("home/.ssh"), { recursive: true });
  await Deno.writeTextFile(place.at("home/.ssh/id_rsa"), "key");
  await Deno.writeTextFile(place.at("new\nline and space"), "odd");
  await Deno.writeTextFile(place.at("read-only"), "ro", { mode: 0o444 });
  await Deno.symlink(`${place.path}/outside`, place.at("leads-out"));
  await Deno.symlink("../../outside", place.at("src/leads-out"));
  await Deno.symlink("src/main.sh", place.at("inside"));
  await Deno.symlink(place.at("src/main.sh"), place.at("inside-absolute"));
  await Deno.symlink("nowhere", place.at("dangling"));
  await makeFifo(place.at("pipe"));
  const hasSocket = await makeSocket(place.at("socket"));
  const report = await place.copy();
  assertEquals(reasons(report), [
    [".env", "credential"],
    ["home/.ssh", "credential"],
    ["leads-out", "link-out"],
    ["pipe", "fifo"],
    ...(hasSocket ? [["socket", "socket"]] : []),
    ["src/leads-out", "link-out"],
  ]);
  const { files, directories, links, bytes } = report;
  assertEquals([files, directories, links, bytes], [4, 2, 3, 8 + 7 + 3 + 2]);
  assertEquals(await Deno.readLink(place.copied("inside-absolute")), "src/main.sh");
  assertEquals(await Deno.readTextFile(place.copied("inside-absolute")), "echo hi\n");
  assertEquals(await Deno.readLink(place.copied("dangling")), "nowhere");
  assertEquals(await Deno.readTextFile(place.copied("new\nline and space")), "odd");
  assertEquals(await exists(place.copied("leads-out")), false);
  assertEquals(await Deno.readTextFile(place.at(".env")), "SECRET=1");
});

Deno.test("the report's hash and manifest are those of the copy, and of every clone of it", async () => {
  await using place = await makePlace();
  await Deno.writeTextFile(place.at("run"), "x");
  await Deno.chmod(place.at("run"), 0o755);
  await Deno.symlink(place.at("src"), place.at("absolute"));
  await Deno.writeTextFile(place.at(".env"), "left behind");
  const { sha256, manifest } = await place.copy();
  assertEquals(manifest.map(({ path }) => path), ["run", "src/main.sh"]);
  assertEquals(sha256, (await hashTree(place.copied("").slice(0, -1))).sha256);
  await cloneTree(place.copied("").slice(0, -1), `${place.labRoot}/work`);
  assertEquals(sha256, (await hashTree(`${place.labRoot}/work`)).sha256);
  const plain = await place.copy({ to: `${place.labRoot}/second`, hash: false });
  assertEquals([plain.sha256, plain.manifest], [null, []]);
});

Deno.test("what the user leaves behind stays behind, and a credential that he keeps comes along", async () => {
  await using place = await makePlace();
  await Deno.mkdir(place.at("web/node_modules/x"), { recursive: true });
  await Deno.mkdir(place.at("data/big"), { recursive: true });
  for (const name of ["web/node_modules/x/y", "data/big/1", "data/a.csv", "data/a.txt", ".npmrc"]) {
    await Deno.writeTextFile(place.at(name), "");
  }
  const leaveBehind = ["node_modules/", "./data/*.csv", "data/big"];
  const report = await place.copy({ leaveBehind, keep: [".npmrc"] });
  assertEquals(reasons(report), [
    ["data/a.csv", "left-behind"],
    ["data/big", "left-behind"],
    ["web/node_modules", "left-behind"],
  ]);
  assert(await exists(place.copied(".npmrc")));
  assert(await exists(place.copied("data/a.txt")));
});

Deno.test("a lab or report folder inside the project is not copied into itself", async () => {
  await using place = await makePlace();
  const labRoot = place.at("tmp/failure-lab-inside");
  await Deno.mkdir(labRoot, { recursive: true });
  await Deno.mkdir(place.at("report"));
  const options = { to: `${labRoot}/pristine`, exclude: [place.at("report"), "/nowhere/else"] };
  assertEquals(reasons(await place.copy(options)), [
    ["report", "left-behind"],
    ["tmp/failure-lab-inside", "left-behind"],
  ]);
  assertEquals(await exists(`${labRoot}/pristine/tmp`), true);
});

Deno.test("a copy comes only to be in a lab, where nothing is, and not of the lab itself", async () => {
  await using place = await makePlace();
  const refused = [`${place.path}/elsewhere`, `${place.path}/proj/copy`];
  for (const to of refused) {
    await assertRejects(() => place.copy({ to }), RangeError, "must be below the folder of a lab");
    assertEquals(await exists(to), false);
  }
  await Deno.symlink(place.path, `${place.labRoot}/door`);
  await assertRejects(() => place.copy({ to: `${place.labRoot}/door/x` }), RangeError, "of a lab");
  await assertRejects(
    () => place.copy({ to: `${place.path}/x`, labRoot: place.labRoot }),
    RangeError,
    "of a lab",
  );
  await assertRejects(
    () => place.copy({ exclude: [place.path] }),
    RangeError,
    "it lies in a folder that is to be left out",
  );
  await place.copy();
  await assertRejects(() => place.copy(), Deno.errors.AlreadyExists);
  await assertRejects(() => place.copy({ from: `${place.path}/none` }), Error, "not a folder");
});

Deno.test("a worktree's .git file stays behind, a submodule's leads into the copy", async () => {
  await using place = await makePlace();
  await Deno.mkdir(place.at(".git/modules/sub"), { recursive: true });
  await Deno.mkdir(place.at("sub"));
  await Deno.mkdir(place.at("tree"));
  await Deno.writeTextFile(place.at("sub/.git"), `gitdir: ${place.at(".git/modules/sub")}\n`);
  await Deno.writeTextFile(place.at("tree/.git"), `gitdir: ${place.path}/repo/.git/worktrees/t\n`);
  const report = await place.copy();
  assertEquals(reasons(report), [["tree/.git", "link-out"]]);
  assertEquals(
    await Deno.readTextFile(place.copied("sub/.git")),
    "gitdir: ../.git/modules/sub\n",
  );
  assertEquals(report.sha256, (await hashTree(place.copied("").slice(0, -1))).sha256);
});

Deno.test("a project with links is copied with rights that are narrowed to this run", async () => {
  await using place = await makePlace();
  await Deno.symlink("main.sh", place.at("src/link"));
  await Deno.symlink("..", place.at("src/-odd 'name'"));
  const sh = await Deno.realPath("/bin/sh");
  const report = await runNarrowed(
    { read: [place.at(""), place.labRoot], write: [place.labRoot], run: [sh] },
    {
      lab: new URL("../lab/system_tools.ts", import.meta.url).href,
      copy: new URL("./project_copy.ts", import.meta.url).href,
    },
    `lab.rememberSystemTools({ sh: ${JSON.stringify(sh)} });
     return await copy.copyProject({
       from: ${JSON.stringify(place.at("").slice(0, -1))},
       to: ${JSON.stringify(place.copied("").slice(0, -1))},
     });`,
  ) as CopyReport;
  assertEquals([report.links, report.skipped], [2, []]);
  assertEquals(await Deno.readLink(place.copied("src/link")), "main.sh");
  assertEquals(await Deno.readLink(place.copied("src/-odd 'name'")), "..");
});

Deno.test("a hole of 1 GiB is copied in seconds and stays a hole", async () => {
  await using place = await makePlace();
  await Deno.writeTextFile(place.at("hole"), "");
  await Deno.truncate(place.at("hole"), 1024 ** 3);
  const { bytes, elapsedMs } = await place.copy({ hash: false });
  assertEquals(bytes, 1024 ** 3 + 8);
  assert(((await Deno.lstat(place.copied("hole"))).blocks ?? 0) < 100);
  assert(elapsedMs < 20_000, `it took ${elapsedMs} ms`);
});

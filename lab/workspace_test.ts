import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { cleanUpAfterEach } from "../tests/support/processes.ts";
import { makeTestDir } from "../tests/support/temp_dir.ts";
import { identify } from "./process_table.ts";
import {
  assertLabRoot,
  createLab,
  LAB_PREFIX,
  LabPlaceError,
  sweepLabs,
  systemTempDir,
} from "./workspace.ts";

cleanUpAfterEach();

async function names(path: string): Promise<string[]> {
  return (await Array.fromAsync(Deno.readDir(path))).map((entry) => entry.name).sort();
}

Deno.test("createLab() makes a private folder directly under the temp dir, with its owner", async () => {
  await using dir = await makeTestDir("lab");
  await using lab = await createLab({ tempDir: dir.path });
  assertEquals(lab.root.slice(0, lab.root.lastIndexOf("/")), dir.path);
  assertMatch(lab.root.slice(dir.path.length + 1), /^failure-lab-/);
  assertEquals(((await Deno.stat(lab.root)).mode ?? 0) & 0o777, 0o700);
  assertEquals(await names(lab.root), ["logs", "owner.json"]);
  const record = JSON.parse(await Deno.readTextFile(`${lab.root}/owner.json`));
  assertEquals(record.owner, await identify(Deno.pid));
  assertEquals(record.marker, lab.marker);
  assertEquals([lab.logs, lab.workspace], [`${lab.root}/logs`, `${lab.root}/workspace`]);
});

Deno.test("createLab() uses the system temp dir, with its links resolved", async () => {
  await using lab = await createLab();
  assertEquals(lab.root.slice(0, lab.root.lastIndexOf("/")), await Deno.realPath(systemTempDir()));
});

Deno.test("createLab() works where the temp dir is named through a link", async () => {
  await using dir = await makeTestDir("lab");
  await Deno.mkdir(`${dir.path}/real`);
  await Deno.symlink("real", `${dir.path}/link`);
  await using lab = await createLab({ tempDir: `${dir.path}/link` });
  assert(lab.root.startsWith(`${dir.path}/real/${LAB_PREFIX}`));
});

Deno.test("createLab() gives each lab a folder and a marker of its own", async () => {
  await using dir = await makeTestDir("lab");
  await using one = await createLab({ tempDir: dir.path });
  await using two = await createLab({ tempDir: dir.path });
  assert(one.root !== two.root && one.marker !== two.marker);
});

Deno.test("a lab is removed at the end of its scope, with what is in it, also when it throws", async () => {
  await using dir = await makeTestDir("lab");
  await assertRejects(async () => {
    await using lab = await createLab({ tempDir: dir.path });
    await Deno.mkdir(`${lab.workspace}/deep`, { recursive: true });
    await Deno.writeTextFile(`${lab.workspace}/deep/file`, "x");
    throw new RangeError("in the middle");
  }, RangeError);
  assertEquals(await names(dir.path), []);
});

Deno.test("a lab can be removed twice and at the same time", async () => {
  await using dir = await makeTestDir("lab");
  const lab = await createLab({ tempDir: dir.path });
  await Promise.all([lab.remove(), lab.remove()]);
  await lab.remove();
  assertEquals(await names(dir.path), []);
});

Deno.test("a lab that its own job removed can be removed", async () => {
  await using dir = await makeTestDir("lab");
  const lab = await createLab({ tempDir: dir.path });
  await Deno.remove(lab.root, { recursive: true });
  await lab.remove();
});

Deno.test("a lab that could not be removed can be tried again", async () => {
  await using dir = await makeTestDir("lab");
  const lab = await createLab({ tempDir: dir.path });
  await Deno.rename(lab.root, `${dir.path}/aside`);
  await Deno.writeTextFile(lab.root, "in the way");
  await assertRejects(() => lab.remove(), Deno.errors.NotADirectory);
  await Deno.remove(lab.root);
  await Deno.rename(`${dir.path}/aside`, lab.root);
  await lab.remove();
  assertEquals(await names(dir.path), []);
});

Deno.test("a lab that is to be kept stays, also for later sweeps", async () => {
  await using dir = await makeTestDir("lab");
  const lab = await createLab({ tempDir: dir.path });
  lab.keep();
  await lab.remove();
  await lab[Symbol.asyncDispose]();
  // As if its owner was gone for long.
  const owner = { pid: 5_000_000, startedSeconds: 1_000_000, name: "failure-lab" };
  const record = { schema: "failure-lab/owner", version: 1, owner, marker: lab.marker };
  await Deno.writeTextFile(`${lab.root}/owner.json`, JSON.stringify(record));
  const report = await sweepLabs({ tempDir: dir.path });
  assertEquals(report, { removed: [], left: [], kept: [lab.root] });
});

Deno.test("createLab() leaves nothing when it cannot finish", async () => {
  await using dir = await makeTestDir("lab");
  const missing = `${dir.path}/missing`;
  const error = await assertRejects(() => createLab({ tempDir: missing }), LabPlaceError, missing);
  assertEquals(error.exitCode, 4);
  assertEquals(await names(dir.path), []);
});

Deno.test("systemTempDir() takes TMPDIR when it is an absolute folder, else /tmp", async () => {
  await using dir = await makeTestDir("lab");
  await Deno.symlink(".", `${dir.path}/link`);
  const tmp = await Deno.realPath("/tmp");
  assertEquals(systemTempDir(`${dir.path}/link`), dir.path);
  assertEquals([systemTempDir(""), systemTempDir("relative")], [tmp, tmp]);
  // The runtime lets nobody in there, so it must be said before anything is made.
  if (Deno.build.os === "linux") {
    assertStringIncludes(assertThrows(() => systemTempDir("/dev"), LabPlaceError).message, "/dev");
  }
});

Deno.test("systemTempDir() refuses what is no folder of its own", async () => {
  await using dir = await makeTestDir("lab");
  await Deno.writeTextFile(`${dir.path}/file`, "");
  for (const bad of ["/", `${dir.path}/missing`, `${dir.path}/file`]) {
    assertThrows(() => systemTempDir(bad), LabPlaceError, `"${bad}"`);
  }
});

Deno.test("assertLabRoot() takes only a real folder named like a lab directly under the temp dir", async () => {
  await using dir = await makeTestDir("lab");
  const at = (path: string) => `${dir.path}/${path}`;
  for (const path of ["temp/failure-lab-a/failure-lab-b", "temp/other", "failure-lab-out"]) {
    await Deno.mkdir(at(path), { recursive: true });
  }
  await Deno.mkdir(at("temp2/failure-lab-x"), { recursive: true });
  await Deno.mkdir(at("temp-failure-lab-x"));
  await Deno.symlink("failure-lab-a", at("temp/failure-lab-link"));
  await Deno.symlink("../failure-lab-out", at("temp/failure-lab-away"));
  await Deno.symlink("temp", at("way"));
  const temp = at("temp");
  assertEquals(assertLabRoot(at("temp/failure-lab-a"), temp), at("temp/failure-lab-a"));
  assertEquals(assertLabRoot(at("way/failure-lab-a"), temp), at("temp/failure-lab-a"));
  const refused = [
    "temp", // the temp dir itself
    "temp/other", // another name
    "temp/failure-lab-a/failure-lab-b", // too deep
    "failure-lab-out", // beside it
    "temp/../failure-lab-out",
    "temp2/failure-lab-x", // a temp dir whose name only begins the same
    "temp-failure-lab-x",
    "temp/failure-lab-link", // links, in and out
    "temp/failure-lab-away",
    "temp/failure-lab-missing",
  ];
  for (const path of refused) {
    assertThrows(() => assertLabRoot(at(path), temp), LabPlaceError, `"${at(path)}"`, path);
  }
  assertThrows(() => assertLabRoot("/", temp), LabPlaceError);
  assertThrows(() => assertLabRoot("", temp), LabPlaceError);
});

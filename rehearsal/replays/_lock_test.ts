// A job's lock as the lab reads and changes it.

import { assertEquals, assertStringIncludes } from "@std/assert";
import { makeTestDir } from "../../tests/support/temp_dir.ts";
import { ownersIn, plantLock, readLock, replaceOwner } from "./_lock.ts";

Deno.test("a lock file names its owner by a whole number only, and keeps its age when changed", async () => {
  await using dir = await makeTestDir("lock");
  const path = `${dir.path}/run.lock`;
  await Deno.writeTextFile(path, "host=vm12 pid=412 start=41234\xff\n");
  await Deno.utime(path, 1000, 1000);
  const lock = readLock(path);
  if (lock === null) throw new Error("no lock");
  assertEquals(ownersIn(lock, [12, 412, 4123, 1]), [412]);
  await replaceOwner(lock, [412], 99);
  assertEquals(await Deno.readTextFile(path), "host=vm12 pid=99 start=41234\xff\n");
  assertEquals((await Deno.stat(path)).mtime?.getTime(), 1000_000);
});

Deno.test("a lock can be a folder with a file in it, or a link, or empty", async () => {
  await using dir = await makeTestDir("lock");
  await Deno.mkdir(`${dir.path}/folder`);
  await Deno.writeTextFile(`${dir.path}/folder/pid`, "77");
  await Deno.symlink("someone@host.77", `${dir.path}/link`);
  await Deno.writeTextFile(`${dir.path}/empty`, "");
  const kinds = ["folder", "link", "empty", "absent"].map((name) =>
    readLock(`${dir.path}/${name}`)
  );
  assertEquals(kinds.map((lock) => lock?.kind ?? null), ["folder", "link", "file", null]);
  assertEquals(kinds.map((lock) => lock && ownersIn(lock, [77])), [[77], [77], [], null]);
  for (const lock of kinds) if (lock !== null) await replaceOwner(lock, [77], 5);
  assertEquals(await Deno.readTextFile(`${dir.path}/folder/pid`), "5");
  assertEquals(await Deno.readLink(`${dir.path}/link`), "someone@host.5");
  assertStringIncludes(kinds[2]?.text ?? "", "empty file");
});

Deno.test("plantLock() fills in the owner and makes the folder", async () => {
  await using dir = await makeTestDir("lock");
  plantLock(`${dir.path}/var/run.pid`, "{pid}\n{pid}", 31);
  assertEquals(await Deno.readTextFile(`${dir.path}/var/run.pid`), "31\n31");
});

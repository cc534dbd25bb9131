import { assertEquals } from "@std/assert";
import { findKernelLock } from "./_openers.ts";
import { isSameLock, makeLockFile, makeLockFolder, moveLockAside, readLock } from "./_lock_file.ts";
import type { LeaseRecord } from "./lease_owner.ts";
import { inFolder, namesIn, read, write } from "./_test_tools.ts";

const RECORD: LeaseRecord = {
  schema: "failure-lab/lease",
  version: 1,
  generation: 1,
  token: "ab".repeat(16),
  host: "h",
  boot: null,
  pidSpace: null,
  pid: 1,
  startedSeconds: 1,
  bootStartedSeconds: null,
  holdsKernelLock: false,
  acquiredAt: "",
};

Deno.test("makeLockFile makes a whole and locked file, never over another", () =>
  inFolder(async (dir) => {
    const path = `${dir}/run.lock`;
    const held = await makeLockFile(path, (holdsKernelLock) => ({ ...RECORD, holdsKernelLock }));
    const lock = readLock(path);
    assertEquals(lock?.owner, { kind: "lease", record: { ...RECORD, holdsKernelLock: true } });
    assertEquals([lock?.inode, await findKernelLock(path)], [held?.inode, "yes"]);
    assertEquals(await makeLockFile(path, () => RECORD), null);
    assertEquals(namesIn(dir), ["run.lock"]);
    held?.close();
    assertEquals(await findKernelLock(path), "no");
  }));

Deno.test("makeLockFolder makes a folder that names its owner, never over another", () =>
  inFolder((dir) => {
    const path = `${dir}/run.lock`;
    assertEquals(makeLockFolder(path, RECORD)?.holdsKernelLock, false);
    assertEquals(readLock(path)?.owner, { kind: "lease", record: RECORD });
    assertEquals(makeLockFolder(path, RECORD), null);
  }));

Deno.test("readLock finds the owner in a folder by the usual names, or in its only file", () =>
  inFolder((dir) => {
    const path = `${dir}/lock`;
    assertEquals(readLock(path), null);
    Deno.mkdirSync(path);
    assertEquals(readLock(path)?.owner.kind, "unknown");
    write(`${path}/anything`, "77\n");
    assertEquals(readLock(path)?.owner, { kind: "pid", pid: 77 });
    write(`${path}/other`, "x");
    assertEquals(readLock(path)?.owner.kind, "unknown");
    write(`${path}/pid`, "88\n");
    assertEquals(readLock(path)?.owner, { kind: "pid", pid: 88 });
  }));

Deno.test("readLock follows no link", () =>
  inFolder((dir) => {
    write(`${dir}/real`, "77\n");
    Deno.symlinkSync("real", `${dir}/lock`);
    assertEquals(readLock(`${dir}/lock`)?.owner, { kind: "unknown", why: "it is a link" });
  }));

Deno.test("moveLockAside keeps the lock that was judged, and puts back any other", () =>
  inFolder((dir) => {
    const path = `${dir}/lock`;
    write(path, "77\n");
    const judged = readLock(path);
    if (judged === null) throw new Error("the lock is gone");
    write(`${dir}/new`, "88\n");
    Deno.renameSync(`${dir}/new`, path);
    assertEquals(moveLockAside(path, judged), null);
    assertEquals([read(path), namesIn(dir)], ["88\n", ["lock"]]);
    const now = readLock(path);
    if (now === null) throw new Error("the lock is gone");
    assertEquals(isSameLock(now, judged), false);
    assertEquals(moveLockAside(path, now), `${path}.stale-1`);
    assertEquals(moveLockAside(path, now), null);
    assertEquals(namesIn(dir), ["lock.stale-1"]);
  }));

import { assert, assertEquals } from "@std/assert";
import { systemClock, waitUntil } from "../lab/mod.ts";
import { inFolder, isPidAlive, namesIn, read, textOf, WAIT_MS, write } from "./_test_tools.ts";
import { findPattern, startWatcher, type Watcher } from "./_watcher.ts";
import { type Beat, readBeat } from "./heartbeat_beat.ts";

Deno.test("findPattern is as exact as find can be, and wider where it cannot", () => {
  assertEquals(findPattern("out/*.md"), ["./out", "./out/*.md"]);
  assertEquals(findPattern("log"), ["./log", "./log"]);
  assertEquals(findPattern("/a/b*/c"), ["/a", "/a/b*/c"]);
  assertEquals(findPattern("out/**/*.md"), ["./out", "./out/*.md"]);
  assertEquals(findPattern("out/*.{md,txt}"), ["./out", "./out/*"]);
});

Deno.test("the first watcher stops beating, and ends, when the second one is gone", () =>
  inFolder(async (dir) => {
    const watcher = startWatcher({
      beatFile: `${dir}/beat`,
      globs: ["out/*"],
      cwd: dir,
      everyMs: 100,
      limitMs: 1000,
    });
    try {
      await textOf(`${dir}/beat`);
      // Without a sign of the second it beats a few times more, and then no longer.
      const isQuiet = await waitUntil(async () => {
        const before = read(`${dir}/beat`);
        await systemClock.sleep(1000);
        return before === read(`${dir}/beat`);
      }, { limitMs: WAIT_MS });
      assertEquals([isQuiet, watcher.hasEnded], [true, false]);
      watcher.sign();
      const before = read(`${dir}/beat`);
      assert(await waitUntil(() => read(`${dir}/beat`) !== before, { limitMs: WAIT_MS }));
    } finally {
      await watcher.stop();
    }
    assertEquals(await isPidAlive(watcher.pid), false);
  }));

/** Waits for a beat of which something holds, and keeps the watcher company meanwhile. */
async function beatWhere(path: string, watcher: Watcher, holds: (beat: Beat) => boolean) {
  const beat = await waitUntil(() => {
    watcher.sign();
    const found = readBeat(path);
    return found !== null && holds(found) ? found : null;
  }, { limitMs: WAIT_MS, everyMs: 50 });
  if (beat === null) throw new Error(`no such beat came; the last is ${read(path)}`);
  return beat;
}

Deno.test("the first watcher says in its beat what it saw: content, and not times", () =>
  inFolder(async (dir) => {
    write(`${dir}/out/a b.txt`, "12345");
    const path = `${dir}/beat`;
    const watcher = startWatcher({
      beatFile: path,
      globs: ["out/*"],
      cwd: dir,
      everyMs: 100,
      limitMs: 60_000,
    });
    try {
      const first = await beatWhere(path, watcher, () => true);
      assertEquals([first.pid, first.files, first.bytes, first.changes], [watcher.pid, 1, 5, 0]);
      await Deno.utime(`${dir}/out/a b.txt`, 1000, 1000);
      const touched = await beatWhere(path, watcher, (beat) => beat.sequence > first.sequence + 2);
      assertEquals(touched.changes, 0);
      write(`${dir}/out/a b.txt`, "54321");
      await beatWhere(path, watcher, (beat) => beat.changes === 1);
      write(`${dir}/out/big`, new Uint8Array(2 * 1024 * 1024));
      const big = await beatWhere(path, watcher, (beat) => beat.files === 2);
      assertEquals([big.changes, big.bytes], [2, 5 + 2 * 1024 * 1024]);
    } finally {
      await watcher.stop();
    }
    assertEquals(namesIn(dir), ["beat", "out"]);
  }));

Deno.test("the first watcher ends with its pipe, and also when it is stopped by a signal", () =>
  inFolder(async (dir) => {
    const watcher = startWatcher({
      beatFile: `${dir}/beat`,
      globs: ["x"],
      cwd: dir,
      everyMs: 100,
      limitMs: 60_000,
    });
    await textOf(`${dir}/beat`);
    Deno.kill(watcher.pid, "SIGSTOP");
    await watcher.stop();
    assertEquals([watcher.hasEnded, await isPidAlive(watcher.pid)], [true, false]);
    await watcher.stop();
  }));

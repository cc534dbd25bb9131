// The quiet period after a command said that it is done.

import { assert, assertEquals } from "@std/assert";
import { type Driver, Journal, type ProcessRow, systemClock } from "../lab/mod.ts";
import { makeTestDir, type TestDir } from "../tests/support/temp_dir.ts";
import { keepQuiet, type QuietOptions } from "./quiet.ts";

/** Somebody who is alive for so many looks. */
function aliveFor(looks: number, onLook: (left: number) => void = () => {}): Driver {
  let left = looks;
  const row = { pid: 71, name: "writer" } as ProcessRow;
  return {
    aborted: false,
    alive: () => {
      onLook(left);
      return Promise.resolve(left-- > 0 ? [row] : []);
    },
  } as unknown as Driver;
}

function optionsFor(dir: TestDir, driver: Driver): QuietOptions {
  return {
    spec: { root: dir.path, globs: ["*.txt"] },
    driver,
    journal: new Journal(null, systemClock),
    clock: systemClock,
  };
}

Deno.test("keepQuiet() is short when nobody is alive, and sees nothing where nothing happens", async () => {
  await using dir = await makeTestDir("quiet");
  await Deno.writeTextFile(`${dir.path}/a.txt`, "a");
  let looks = 0;
  const seen = await keepQuiet(optionsFor(dir, aliveFor(0, () => looks++)));
  assertEquals([seen.changed, seen.leftovers, looks], [[], [], 1]);
  assert(seen.observedMs < 1500, String(seen.observedMs));
});

Deno.test("keepQuiet() looks for a while longer when the last one has ended", async () => {
  await using dir = await makeTestDir("quiet");
  const seen = await keepQuiet({ ...optionsFor(dir, aliveFor(1)), leftoversMs: 5000 });
  assertEquals(seen.leftovers, []);
  assert(seen.observedMs >= 60, String(seen.observedMs));
});

Deno.test("keepQuiet() waits for those who are alive, and names the writer", async () => {
  await using dir = await makeTestDir("quiet");
  const path = `${dir.path}/a.txt`;
  await Deno.writeTextFile(path, "a");
  const driver = aliveFor(3, (left) => {
    if (left === 1) Deno.writeTextFileSync(path, "late", { append: true });
  });
  const seen = await keepQuiet({ ...optionsFor(dir, driver), leftoversMs: 5000 });
  assertEquals(seen.changed, [{ path: "a.txt", by: "writer (pid 71)" }]);
  assertEquals(seen.leftovers, []);
});

Deno.test("keepQuiet() gives up on somebody who does not end, and tells who it is", async () => {
  await using dir = await makeTestDir("quiet");
  const seen = await keepQuiet({ ...optionsFor(dir, aliveFor(Infinity)), leftoversMs: 150 });
  assertEquals(seen.leftovers.map((row) => row.pid), [71]);
});

Deno.test("keepQuiet() sees what changed since the command had ended, and what is gone", async () => {
  await using dir = await makeTestDir("quiet");
  await Deno.writeTextFile(`${dir.path}/a.txt`, "a");
  const gone = { path: "b.txt", bytes: 1, mtimeMs: 1, inode: 1, strayLink: false };
  const seen = await keepQuiet({
    ...optionsFor(dir, aliveFor(0)),
    since: [gone],
    suspects: [{ pid: 9, name: "orphan" } as ProcessRow],
  });
  assertEquals(seen.changed.map((each) => [each.path, each.by]).sort(), [
    ["a.txt", "orphan (pid 9)"],
    ["b.txt", "orphan (pid 9)"],
  ]);
});

import { assert, assertEquals, assertRejects } from "@std/assert";
import { makeFifo } from "../tests/support/special_files.ts";
import { makeTestDir } from "../tests/support/temp_dir.ts";
import { type FileBatch, HashQueue, runFileBatch } from "./file_batch.ts";
import { type FileCrew, openFileCrew, startFileHelper } from "./file_crew.ts";
import { hashFile, hashText } from "./hash.ts";

/** Big enough that a helper, which needs some time to start, still finds work. */
const COUNT = 120;
const BIG = "big".repeat(1_000_000);

/** Small files and big ones, and the batch that hashes them. */
async function makeFiles(dir: string): Promise<FileBatch> {
  await Deno.mkdir(`${dir}/from`);
  await Deno.mkdir(`${dir}/to`);
  const from = Array.from({ length: COUNT }, (_, i) => `${dir}/from/${i}`);
  const texts = from.map((_, i) => i % 2 === 1 ? BIG : `text ${i}`);
  for (const [i, path] of from.entries()) {
    await Deno.writeTextFile(path, texts[i] ?? "");
    await Deno.chmod(path, modeOf(i));
  }
  return { from, bytes: texts.map((text) => text.length), copy: null };
}

function modeOf(index: number): number {
  return index % 4 < 2 ? 0o640 : 0o444;
}

function asCopy(batch: FileBatch, wantsHash: boolean): FileBatch {
  const { from } = batch;
  return {
    ...batch,
    copy: {
      to: from.map((path) => path.replace("/from/", "/to/")),
      mode: from.map((_, i) => modeOf(i)),
      mtimeMs: from.map((_, i) => 1_000_000_000_123 + i),
      sparse: from.map(() => false),
      umask: 0o777,
      wantsHash,
    },
  };
}

/** A crew whose helper does nothing, or only what a test says. */
function scriptedCrew(share: (job: unknown) => void, hasHelper = true): FileCrew {
  const close = () => {};
  return { hasHelper, isWarm: false, warm: close, share, close, [Symbol.dispose]: close };
}

Deno.test("a batch on two threads gives what one thread gives, in order", async () => {
  await using dir = await makeTestDir("crew");
  const batch = await makeFiles(dir.path);
  const alone = await runFileBatch(batch);
  using real = openFileCrew();
  let counters = new Int32Array(2);
  const crew = scriptedCrew((job) => {
    ({ counters } = job as { counters: Int32Array<ArrayBuffer> });
    real.share(job);
  }, real.hasHelper);
  const both = await runFileBatch(batch, { crew, crewFilesMin: 1 });
  assertEquals(both, alone);
  assertEquals(both.failed.size, 0);
  assertEquals(both.sha256.slice(0, 2), [hashText("text 0"), hashText(BIG)]);
  // 0: it was not there before all was done, as on a machine with one core; 2: it did its part.
  assert([0, 2].includes(counters[1] ?? -1), `the helper's state is ${counters[1]}`);
});

for (const wantsHash of [true, false]) {
  Deno.test(`a batch copies content, mode and time${wantsHash ? ", and hashes" : ""}`, async () => {
    await using dir = await makeTestDir("crew");
    const batch = asCopy(await makeFiles(dir.path), wantsHash);
    const { sha256, failed } = await runFileBatch(batch, { crewFilesMin: 1 });
    assertEquals(failed.size, 0);
    for (const i of [0, 1, 2, 3, COUNT - 2, COUNT - 1]) {
      const to = `${dir.path}/to/${i}`;
      const source = hashFile(`${dir.path}/from/${i}`);
      assertEquals(hashFile(to), source);
      assertEquals(sha256[i], wantsHash ? source.sha256 : "");
      const info = await Deno.lstat(to);
      assertEquals((info.mode ?? 0) & 0o7777, modeOf(i));
      assertEquals(info.mtime?.getTime(), batch.copy?.mtimeMs[i]);
    }
  });
}

Deno.test("a file that fails stops nothing, and says why", async () => {
  await using dir = await makeTestDir("crew");
  const batch = asCopy(await makeFiles(dir.path), true);
  await Deno.remove(`${dir.path}/from/2`);
  await Deno.remove(`${dir.path}/from/4`);
  await Deno.mkdir(`${dir.path}/from/4`);
  await Deno.remove(`${dir.path}/from/6`);
  await makeFifo(`${dir.path}/from/6`);
  const { sha256, failed } = await runFileBatch(batch, { crewFilesMin: 1 });
  assertEquals([...failed.keys()].sort(), [2, 4, 6]);
  assert([...failed.values()].every((error) => error instanceof Error));
  assertEquals(sha256.slice(2, 9).map((hash) => hash !== ""), [
    false,
    true,
    false,
    true,
    false,
    true,
    true,
  ]);
});

Deno.test("what a helper had begun when it died is done again", async () => {
  await using dir = await makeTestDir("crew");
  const batch = asCopy(await makeFiles(dir.path), true);
  const crew = scriptedCrew((job) => {
    // It takes the first file, writes half of it, and is never heard of again.
    const { counters } = job as { counters: Int32Array };
    Atomics.add(counters, 0, 1);
    Deno.writeTextFileSync(`${dir.path}/to/0`, "te");
  });
  const { sha256, failed } = await runFileBatch(batch, { crew, crewFilesMin: 1 });
  assertEquals(failed.size, 0);
  assertEquals(sha256[0], hashText("text 0"));
  assertEquals(await Deno.readTextFile(`${dir.path}/to/0`), "text 0");
});

Deno.test("a batch lets timers run meanwhile and ends when it is aborted", async () => {
  await using dir = await makeTestDir("crew");
  const { from } = await makeFiles(dir.path);
  const batch = { from: Array(400).fill(from[1]), bytes: Array(400).fill(BIG.length), copy: null };
  const abort = new AbortController();
  using real = openFileCrew();
  let counters = new Int32Array(3);
  const crew = scriptedCrew((job) => {
    ({ counters } = job as { counters: Int32Array<ArrayBuffer> });
    real.share(job);
  }, real.hasHelper);
  let ticks = 0;
  const timer = setInterval(() => {
    if (++ticks === 3) abort.abort(new Error("enough"));
  }, 5);
  const options = { crew, crewFilesMin: 1, signal: abort.signal };
  await assertRejects(() => runFileBatch(batch, options), Error, "enough");
  clearInterval(timer);
  assertEquals(ticks, 3);
  // Nothing is left to take, and nobody is at work any more.
  assert((counters[0] ?? 0) >= 400);
  assert(counters[1] !== 1);
});

Deno.test("a worker works with a helper that the main thread keeps for it", async () => {
  await using dir = await makeTestDir("crew");
  const batch = await makeFiles(dir.path);
  const alone = await runFileBatch(batch);
  using helper = startFileHelper({ read: [dir.path] });
  let counters = new Int32Array(2);
  using real = openFileCrew({ port: helper.port });
  const crew = scriptedCrew((job) => {
    ({ counters } = job as { counters: Int32Array<ArrayBuffer> });
    real.share(job);
  }, real.hasHelper);
  assertEquals(await runFileBatch(batch, { crew, crewFilesMin: 1 }), alone);
  assert([0, 2].includes(counters[1] ?? -1), `the helper's state is ${counters[1]}`);
});

Deno.test("a helper without rights hinders nobody", async () => {
  await using dir = await makeTestDir("crew");
  const batch = await makeFiles(dir.path);
  using helper = startFileHelper({ read: false });
  using crew = openFileCrew({ port: helper.port });
  const { failed } = await runFileBatch(batch, { crew, crewFilesMin: 1 });
  assertEquals(failed.size, 0);
});

Deno.test("a queue hashes while it is filled and keeps the order of its files", async () => {
  await using dir = await makeTestDir("crew");
  const { from, bytes } = await makeFiles(dir.path);
  const many = Array.from({ length: 1300 }, (_, i) => i % 7 === 0 ? i % COUNT : (i * 2) % COUNT);
  const expected = await runFileBatch({ from, bytes, copy: null });
  await Deno.remove(`${dir.path}/from/2`);
  for (const crewFilesMin of [1, 1000, 100_000]) {
    using queue = new HashQueue({ crewFilesMin });
    for (const index of many) queue.add(from[index] ?? "", bytes[index] ?? 0);
    const { sha256, failed } = await queue.finish();
    assertEquals(
      sha256,
      many.map((index) => index === 2 ? "" : expected.sha256[index] ?? ""),
    );
    assertEquals(
      [...failed.keys()].sort(),
      many.flatMap((index, at) => index === 2 ? [at] : []).sort(),
    );
  }
});

Deno.test("a queue without files has nothing to tell", async () => {
  using queue = new HashQueue({ crewFilesMin: 0 });
  assertEquals(await queue.finish(), { sha256: [], failed: new Map() });
});

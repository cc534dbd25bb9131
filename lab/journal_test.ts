import { assert, assertEquals, assertThrows } from "@std/assert";
import { runFileSizeLimited } from "../tests/support/child_deno.ts";
import { scriptedClock } from "../tests/support/scripted_clock.ts";
import { makeTestDir } from "../tests/support/temp_dir.ts";
import { Journal, JOURNAL_BYTES_MAX, JOURNAL_ENTRIES_MAX, type JournalEntry } from "./journal.ts";

async function readEntries(path: string): Promise<JournalEntry[]> {
  const text = await Deno.readTextFile(path);
  return text.trimEnd().split("\n").map((line) => JSON.parse(line));
}

Deno.test("Journal writes each entry at once, with its time since the start of the run", async () => {
  await using dir = await makeTestDir("journal");
  const clock = scriptedClock();
  clock.advance(500);
  using journal = new Journal(`${dir.path}/j`, clock);
  journal.add("start", { pid: 9 });
  clock.advance(12.3456);
  journal.add("artifact");
  // Read while the journal is open: a run that dies must leave what it saw.
  assertEquals(await readEntries(`${dir.path}/j`), [
    { sequence: 1, atMs: 0, type: "start", data: { pid: 9 } },
    { sequence: 2, atMs: 12.346, type: "artifact", data: {} },
  ]);
  assertEquals([journal.entries, journal.dropped, journal.runStartMs], [2, 0, 500]);
});

Deno.test("Journal does not write over a file that is there", async () => {
  await using dir = await makeTestDir("journal");
  await Deno.writeTextFile(`${dir.path}/j`, "mine");
  assertThrows(() => new Journal(`${dir.path}/j`, scriptedClock()), Deno.errors.AlreadyExists);
  assertEquals(await Deno.readTextFile(`${dir.path}/j`), "mine");
});

Deno.test("Journal is readable by its owner only", async () => {
  await using dir = await makeTestDir("journal");
  using _journal = new Journal(`${dir.path}/j`, scriptedClock());
  assertEquals(((await Deno.stat(`${dir.path}/j`)).mode ?? 0) & 0o777, 0o600);
});

Deno.test("Journal holds a bounded number of entries and counts the rest", () => {
  using journal = new Journal(null, scriptedClock());
  const heard: number[] = [];
  for (let i = 0; i < JOURNAL_ENTRIES_MAX + 3; i++) journal.add("tick");
  using loud = new Journal(null, scriptedClock(), (entry) => heard.push(entry.sequence));
  for (let i = 0; i < JOURNAL_ENTRIES_MAX + 3; i++) loud.add("tick");
  assertEquals([journal.entries, journal.dropped], [JOURNAL_ENTRIES_MAX, 3]);
  assertEquals(heard.length, JOURNAL_ENTRIES_MAX + 3);
  assertEquals(heard.at(-1), JOURNAL_ENTRIES_MAX + 3);
});

Deno.test("Journal holds a bounded number of bytes; a later entry that fits is still taken", async () => {
  await using dir = await makeTestDir("journal");
  using journal = new Journal(`${dir.path}/j`, scriptedClock());
  const megabyte = "x".repeat(1024 * 1024);
  for (let i = 0; i < 20; i++) journal.add("big", { megabyte });
  journal.add("small");
  assertEquals(journal.entries, 16);
  assertEquals(journal.dropped, 5);
  assertEquals((await readEntries(`${dir.path}/j`)).at(-1)?.type, "small");
  assert((await Deno.stat(`${dir.path}/j`)).size <= JOURNAL_BYTES_MAX);
});

Deno.test("Journal drops an entry that cannot be written as JSON, and goes on", async () => {
  await using dir = await makeTestDir("journal");
  using journal = new Journal(`${dir.path}/j`, scriptedClock());
  const cycle: Record<string, unknown> = {};
  cycle["self"] = cycle;
  journal.add("bad", cycle);
  journal.add("bad", { big: 1n });
  journal.add("good");
  assertEquals([journal.entries, journal.dropped], [1, 2]);
  assertEquals((await readEntries(`${dir.path}/j`)).map((entry) => entry.sequence), [3]);
});

Deno.test("Journal goes on when its listener throws", () => {
  using journal = new Journal(null, scriptedClock(), () => {
    throw new Error("listener");
  });
  journal.add("tick");
  assertEquals(journal.entries, 1);
});

Deno.test("Journal can be closed twice, and counts what comes later as dropped", async () => {
  await using dir = await makeTestDir("journal");
  const journal = new Journal(`${dir.path}/j`, scriptedClock());
  journal.add("tick");
  journal.close();
  journal.close();
  journal.add("late");
  assertEquals([journal.entries, journal.dropped], [1, 1]);
});

Deno.test("Journal lets a run go on when the disk takes nothing more", async () => {
  await using dir = await makeTestDir("journal");
  const result = await runFileSizeLimited(
    dir.path,
    `
    import { Journal } from ${JSON.stringify(import.meta.resolve("./journal.ts"))};
    import { systemClock } from ${JSON.stringify(import.meta.resolve("./clock.ts"))};
    const journal = new Journal("j", systemClock);
    for (let i = 0; i < 100; i++) journal.add("tick", { text: "x".repeat(100) });
    journal.close();
    console.log(JSON.stringify([journal.entries, journal.dropped]));
  `,
  );
  const [entries, dropped] = JSON.parse(result) as [number, number];
  assert(entries > 0 && dropped > 0, result);
  assertEquals(entries + dropped, 100);
  const lines = (await Deno.readTextFile(`${dir.path}/j`)).split("\n");
  // The last line may be cut; everything before it is whole.
  assertEquals(lines.slice(0, -1).map((line) => JSON.parse(line).sequence).length, entries);
});

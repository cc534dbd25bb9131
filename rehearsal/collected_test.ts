// Waiting until the dead of a failed run are collected, with a scripted process table.

import { assert, assertEquals } from "@std/assert";
import { type Driver, Ledger, type ProcessRow, systemClock } from "../lab/mod.ts";
import { makeTestDir } from "../tests/support/temp_dir.ts";
import { awaitCollected } from "./collected.ts";
import type { FreshCopy } from "./fresh_copy.ts";

const MARKER = "0".repeat(32);

function row(pid: number, ppid: number, state: string): ProcessRow {
  return { pid, ppid, pgid: pid, state, startedSeconds: 1000, name: "sh", marker: MARKER };
}

/** A driver that knows 70 and 71, and shows these tables one after the other, the last for ever. */
function driverOf(...tables: ProcessRow[][]): { driver: Driver; looks: () => number } {
  const ledger = new Ledger(MARKER);
  ledger.addKnown(row(70, 1, "S"));
  ledger.addKnown(row(71, 70, "S"));
  let looks = 0;
  const readTable = () => Promise.resolve(tables[Math.min(looks++, tables.length - 1)] ?? []);
  return { driver: { ledger, system: { readTable } } as unknown as Driver, looks: () => looks };
}

/** A copy in which the job has written this into one file. */
async function copyWith(text: string): Promise<FreshCopy & AsyncDisposable> {
  const dir = await makeTestDir("collected");
  await Deno.writeTextFile(`${dir.path}/note`, text);
  return {
    workspace: dir.path,
    touched: () => Promise.resolve(["note"]),
    [Symbol.asyncDispose]: () => dir[Symbol.asyncDispose](),
  } as unknown as FreshCopy & AsyncDisposable;
}

Deno.test("awaitCollected() waits for a dead process whose number the job has noted", async () => {
  await using copy = await copyWith("pid 71\n");
  const dead = [row(71, 1, "Z")];
  const { driver, looks } = driverOf(dead, dead, dead, []);
  assertEquals(await awaitCollected(driver, systemClock, copy, 5000), []);
  assertEquals(looks(), 4);
});

Deno.test("awaitCollected() does not wait for one that the job did not note", async () => {
  await using copy = await copyWith("717 1971 0710\n");
  const { driver, looks } = driverOf([row(71, 1, "Z")]);
  assertEquals(await awaitCollected(driver, systemClock, copy, 5000), []);
  assertEquals(looks(), 1);
});

Deno.test("awaitCollected() waits neither for strangers, nor for the living, nor for one whose parent is of the run", async () => {
  await using copy = await copyWith("70 71 72\n");
  for (
    const table of [
      [row(72, 1, "Z")],
      [{ ...row(71, 1, "Z"), startedSeconds: 2000 }],
      [row(71, 1, "S")],
      // The parent is stopped, and collects it when it goes on.
      [row(70, 1, "T"), row(71, 70, "Z")],
    ]
  ) {
    const { driver, looks } = driverOf(table);
    assertEquals(await awaitCollected(driver, systemClock, copy, 5000), []);
    assertEquals(looks(), 1);
  }
});

// The last one: where nobody collects, nobody waits a second time.
Deno.test("awaitCollected() tells who is never collected, and does not wait for the like again", async () => {
  await using copy = await copyWith("71\n");
  const { driver } = driverOf([row(71, 1, "Z")]);
  const identity = { pid: 71, startedSeconds: 1000, name: "sh" };
  assertEquals(await awaitCollected(driver, systemClock, copy, 50), [identity]);
  const again = driverOf([row(71, 1, "Z")]);
  const beganMs = systemClock.nowMs();
  assertEquals(await awaitCollected(again.driver, systemClock, copy, 60_000), [identity]);
  assertEquals(again.looks(), 1);
  assert(systemClock.nowMs() - beganMs < 30_000);
});

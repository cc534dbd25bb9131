/**
 * Waiting until the dead are collected.
 *
 * A dead process whose parent died before it is collected by the system's first process. Where that
 * one takes its time, the number of the dead one still answers to `kill -0`, and a recovery that
 * starts right after the kill takes it for alive. In real life a recovery comes later.
 *
 * @module
 */
import { join } from "@std/path";
import {
  type Clock,
  type Driver,
  isAlive,
  isSameProcess,
  type ProcessRow,
  waitUntil,
} from "../lab/mod.ts";
import type { FreshCopy } from "./fresh_copy.ts";

const LIMIT_MS = 1500;
/** More files than this, or larger ones, are not searched for numbers. */
const FILES_MAX = 2000;
const FILE_BYTES_MAX = 64 * 1024;

/** In a container without an init nobody collects, ever; then there is no use in waiting again. */
let isInVain = false;

/** Waits until nobody of this run is dead and not collected, where the job could take it for alive. */
export async function awaitCollected(
  driver: Driver,
  clock: Clock,
  copy: FreshCopy,
): Promise<void> {
  if (isInVain) return;
  const dead = await deadOf(driver);
  if (dead.length === 0 || !await isMentioned(dead, copy)) return;
  const done = await waitUntil(
    async () => (await deadOf(driver)).length === 0,
    { limitMs: LIMIT_MS, everyMs: 20, clock },
  );
  isInVain = done === null;
}

/** Those of the run that are dead and still in the process table. */
async function deadOf(driver: Driver): Promise<ProcessRow[]> {
  const { seen } = driver.ledger;
  return (await driver.system.readTable())
    .filter((row) => !isAlive(row) && seen.some((each) => isSameProcess(row, each)));
}

/** Whether a file that the job wrote holds the number of one of them. */
async function isMentioned(dead: readonly ProcessRow[], copy: FreshCopy): Promise<boolean> {
  const files = await copy.touched();
  if (files === null || files.length > FILES_MAX) return true;
  const numbers = new RegExp(`(?<![0-9])(${dead.map((row) => row.pid).join("|")})(?![0-9])`);
  for (const file of files) {
    try {
      const path = join(copy.workspace, file);
      const { size } = await Deno.lstat(path);
      if (size > FILE_BYTES_MAX) continue;
      if (numbers.test(await Deno.readTextFile(path))) return true;
    } catch {
      return true; // It cannot be read, so nobody knows.
    }
  }
  return false;
}

/**
 * Waiting until the dead are collected.
 *
 * A dead process whose parent died before it is collected by the system's first process. Where that
 * one takes its time, the number of the dead one still answers to `kill -0`, and a recovery that
 * starts right after the kill takes it for alive. In real life a recovery comes later. Most do not
 * care, so the first try does not wait; one in which the recovery did nothing is made again with the
 * wait. Who is still there goes into the record, because the grader cannot hold it against a
 * recovery that did nothing.
 *
 * @module
 */
import { join } from "@std/path";
import {
  type Clock,
  type Driver,
  identityOf,
  isAlive,
  isSameProcess,
  type ProcessIdentity,
  type ProcessRow,
  waitUntil,
} from "../lab/mod.ts";
import type { FreshCopy } from "./fresh_copy.ts";

/** First processes were seen that collect once in two seconds (a virtual machine's own init). */
const LIMIT_MS = 6000;
/** More files than this, or larger ones, are not searched for numbers. */
const FILES_MAX = 2000;
const FILE_BYTES_MAX = 64 * 1024;

/** In a container without an init nobody collects, ever; then there is no use in waiting again. */
let isInVain = false;

/**
 * Waits until nobody of this run is dead and not collected, where the job could take it for alive.
 *
 * @param limitMs How long at most, in milliseconds; 0 only looks.
 * @returns Those who are still not collected then.
 */
export async function awaitCollected(
  driver: Driver,
  clock: Clock,
  copy: FreshCopy,
  limitMs: number = LIMIT_MS,
): Promise<ProcessIdentity[]> {
  let dead = await deadOf(driver);
  if (dead.length === 0 || !await isMentioned(dead, copy)) return [];
  if (!isInVain && limitMs > 0) {
    const done = await waitUntil(
      async () => (dead = await deadOf(driver)).length === 0,
      { limitMs, everyMs: 20, clock },
    );
    isInVain = done === null;
  }
  return dead.map(identityOf);
}

/**
 * Those of the run that are dead and still in the process table. Not those whose parent is one of
 * the run as well: it may be stopped, and collects them itself when it goes on.
 */
async function deadOf(driver: Driver): Promise<ProcessRow[]> {
  const { seen } = driver.ledger;
  const isOurs = (row: ProcessRow) => seen.some((each) => isSameProcess(row, each));
  const table = await driver.system.readTable();
  const parents = new Set(table.filter((row) => isAlive(row) && isOurs(row)).map(({ pid }) => pid));
  return table.filter((row) => !isAlive(row) && !parents.has(row.ppid) && isOurs(row));
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

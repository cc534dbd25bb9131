/**
 * Waiting until the dead are collected.
 *
 * A dead process whose parent died before it is collected by the system's first process. Where that
 * one takes its time, the number of the dead one still answers to `kill -0`, and a recovery that
 * starts right after the kill takes it for alive. In real life a recovery comes later.
 *
 * @module
 */
import { type Driver, isAlive, isSameProcess, waitUntil } from "../lab/mod.ts";
import type { Clock } from "../lab/mod.ts";

const LIMIT_MS = 1500;

/** In a container without an init nobody collects, ever; then there is no use in waiting again. */
let isInVain = false;

/** Waits until no dead process of this run has a row in the process table, but not for long. */
export async function awaitCollected(driver: Driver, clock: Clock): Promise<void> {
  if (isInVain) return;
  const seen = driver.ledger.seen;
  const done = await waitUntil(async () => {
    const dead = (await driver.system.readTable()).filter((row) => !isAlive(row));
    return !dead.some((row) => seen.some((each) => isSameProcess(row, each)));
  }, { limitMs: LIMIT_MS, everyMs: 20, clock });
  isInVain = done === null;
}

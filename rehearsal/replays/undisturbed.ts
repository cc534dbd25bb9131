/**
 * The run with the failure switched off: everything goes the same way, and nothing is done to the
 * job. It shows that a verdict comes from the failure and not from the machinery around it.
 *
 * @module
 */
import type { Stage } from "../stage.ts";

/**
 * Runs the job to its end, then its recovery, which must find everything done.
 *
 * @internal
 */
export async function runUndisturbed(stage: Stage): Promise<void> {
  const start = await stage.startUntil(Infinity);
  await stage.killStart(start);
  await stage.noteFaultState();
  await stage.resume();
}

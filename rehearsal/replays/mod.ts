/**
 * The replays, in the order of the drills.
 *
 * @module
 */
import { deadMonitor } from "./dead_monitor.ts";
import { duplicateWork } from "./duplicate_work.ts";
import { hollowSuccess } from "./hollow_success.ts";
import { hungProcess } from "./hung_process.ts";
import { lostHandoff } from "./lost_handoff.ts";
import { lyingCheckpoint } from "./lying_checkpoint.ts";
import { orphanedChildren } from "./orphaned_children.ts";
import { ownFailure } from "./own_failure.ts";
import { providerOutage } from "./provider_outage.ts";
import { rehearsal } from "./rehearsal.ts";
import type { Replay } from "./replay.ts";
import { scopeEscape } from "./scope_escape.ts";
import { staleLock } from "./stale_lock.ts";
import { tornCheckpoint } from "./torn_checkpoint.ts";

export type { Replay } from "./replay.ts";
export { runUndisturbed } from "./undisturbed.ts";

/** Every failure that can be replayed. */
export const REPLAYS: readonly Replay[] = [
  hungProcess,
  orphanedChildren,
  tornCheckpoint,
  lyingCheckpoint,
  staleLock,
  hollowSuccess,
  deadMonitor,
  scopeEscape,
  duplicateWork,
  lostHandoff,
  providerOutage,
];

/** What `rehearse` does: a kill half-way, or the job's own failure. */
const PLAIN: readonly Replay[] = [rehearsal, ownFailure];

/** Finds a replay or a plain rehearsal by id; `null` when there is none. */
export function findReplay(id: string): Replay | null {
  return [...PLAIN, ...REPLAYS].find((replay) => replay.id === id) ?? null;
}

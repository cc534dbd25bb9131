/**
 * The replays, in the order of the drills.
 *
 * @module
 */
import { ownFailure } from "./own_failure.ts";
import { rehearsal } from "./rehearsal.ts";
import type { Replay } from "./replay.ts";

export type { Replay } from "./replay.ts";

/** Every failure that can be replayed. */
export const REPLAYS: readonly Replay[] = [];

/** What `rehearse` does: a kill half-way, or the job's own failure. */
const PLAIN: readonly Replay[] = [rehearsal, ownFailure];

/** Finds a replay or a plain rehearsal by id; `null` when there is none. */
export function findReplay(id: string): Replay | null {
  return [...PLAIN, ...REPLAYS].find((replay) => replay.id === id) ?? null;
}

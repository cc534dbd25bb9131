/**
 * The replays, in the order of the drills.
 *
 * @module
 */
import { rehearsal } from "./rehearsal.ts";
import type { Replay } from "./replay.ts";

export type { Replay } from "./replay.ts";

/** Every failure that can be replayed. */
export const REPLAYS: readonly Replay[] = [];

/** Finds a replay or the plain rehearsal by id; `null` when there is none. */
export function findReplay(id: string): Replay | null {
  return id === rehearsal.id ? rehearsal : REPLAYS.find((replay) => replay.id === id) ?? null;
}

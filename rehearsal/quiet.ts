/**
 * The quiet period: after a command said that it is done, nothing may change any more. Whatever of
 * the job is still alive is watched until it has ended or a limit has passed.
 *
 * @module
 */
import {
  type ArtifactGlimpse,
  artifactSignature,
  type Clock,
  type Driver,
  listArtifacts,
  type ProcessRow,
  type RunRecord,
} from "../lab/mod.ts";
import type { ArtifactSpec, Journal } from "../lab/mod.ts";
import { differing } from "./disk_look.ts";

/** How to keep quiet. */
export interface QuietOptions {
  spec: ArtifactSpec;
  driver: Driver;
  journal: Journal;
  clock: Clock;
  /** The outputs when the command said that it is done. @default {the outputs now} */
  since?: readonly ArtifactGlimpse[];
  /** How long to wait for those who are still alive. @default {1500} */
  leftoversMs?: number;
  /** Those who are known to be alive, to name the writer of a change that nobody was seen to make. */
  suspects?: readonly ProcessRow[];
}

/** What was seen. */
export interface QuietResult {
  observedMs: number;
  changed: NonNullable<RunRecord["quiet"]>["changed"];
  /** Who is still alive at the end. */
  leftovers: ProcessRow[];
}

// Where nobody was left alive, one look is enough: nobody can write, and the final look comes later
// still. With leftovers it must be longer than the pause of a slow writer.
const QUIET_MS = 60;
const QUIET_WITH_LEFTOVERS_MS = 1500;
const LIST_EVERY_MS = 25;
const TABLE_EVERY_MS = 100;

/** Watches until nobody has been alive for a moment, or the limit for leftovers has passed. */
export async function keepQuiet(options: QuietOptions): Promise<QuietResult> {
  const { spec, driver, journal, clock } = options;
  const first = options.since ?? listArtifacts(spec);
  const beganMs = journal.atMs();
  const limitMs = options.leftoversMs ?? QUIET_WITH_LEFTOVERS_MS;
  const changed = new Map<string, string | null>();
  let leftovers = await driver.alive();
  let lookedMs = journal.atMs();
  let suspect = leftovers[0] ?? options.suspects?.[0] ?? null;
  let emptySinceMs = leftovers.length === 0 ? beganMs : null;
  const quietMs = suspect === null ? 0 : QUIET_MS;
  let sign = artifactSignature(first);
  while (true) {
    const now = listArtifacts(spec);
    const nowSign = artifactSignature(now);
    if (nowSign !== sign) {
      sign = nowSign;
      for (const path of differing(first, now)) {
        if (!changed.has(path)) changed.set(path, suspect === null ? null : nameOf(suspect));
      }
    }
    const atMs = journal.atMs();
    if (emptySinceMs !== null && atMs - emptySinceMs >= quietMs) break;
    if (atMs - beganMs >= limitMs || driver.aborted) break;
    if (leftovers.length > 0 && atMs - lookedMs >= TABLE_EVERY_MS) {
      leftovers = await driver.alive();
      lookedMs = journal.atMs();
      suspect = leftovers[0] ?? suspect;
      if (leftovers.length === 0) emptySinceMs = lookedMs;
    }
    await clock.sleep(LIST_EVERY_MS);
  }
  return {
    observedMs: journal.atMs() - beganMs,
    changed: [...changed].map(([path, by]) => ({ path, by })),
    leftovers,
  };
}

/** A process as a report names it. */
export function nameOf(row: Pick<ProcessRow, "name" | "pid">): string {
  return `${row.name} (pid ${row.pid})`;
}

/**
 * Stopping and continuing everything of a run, also what left its group.
 *
 * @module
 */
import { isStopped, listArtifacts, type ProcessRow, sendSignal } from "../../lab/mod.ts";
import { nameOf } from "../quiet.ts";
import type { Stage } from "../stage.ts";
import type { StartResult } from "../stage_types.ts";

const FREEZE_LIMIT_MS = 3000;
/** A stop takes effect within so many looks, or it does not at all (see below). */
const LOOKS_PER_STOP = 4;
const LOOK_AGAIN_MS = 15;

/** A run in which every process is stopped. */
export interface Frozen {
  /** Its processes; all are in state T when `isWhole`. */
  rows: ProcessRow[];
  /** Whether the last look showed every one of them stopped. */
  isWhole: boolean;
}

/**
 * Stops everything of ours that is alive. What cannot be stopped in time is told.
 *
 * A parent that is just starting a child waits in the kernel until the child runs its program, and
 * does not stop before. When the child was stopped first, neither moves: then all go on for an
 * instant and are stopped again.
 */
export async function freezeAll(stage: Stage): Promise<Frozen> {
  const { driver, clock, journal } = stage.options;
  const endMs = journal.atMs() + FREEZE_LIMIT_MS;
  let rows: ProcessRow[] = [];
  while (true) {
    for (let looks = 0; looks < LOOKS_PER_STOP; looks++) {
      rows = await driver.alive();
      const running = rows.filter((row) => !isStopped(row));
      if (running.length === 0) return { rows, isWhole: rows.length > 0 };
      await sendSignal("STOP", targetsOf(stage, running));
      await clock.sleep(LOOK_AGAIN_MS);
    }
    if (journal.atMs() >= endMs || driver.aborted) return { rows, isWhole: false };
    // As short as can be, so that the job does not get on with its work.
    const targets = targetsOf(stage, rows);
    await sendSignal("CONT", targets);
    await sendSignal("STOP", targets);
  }
}

/** Lets a frozen run go on. */
export async function thaw(stage: Stage, rows: readonly ProcessRow[]): Promise<void> {
  await sendSignal("CONT", targetsOf(stage, rows));
}

/** Whole groups where they are ours, because a signal to a group misses no fork. */
function targetsOf(stage: Stage, rows: readonly ProcessRow[]): number[] {
  const { groups } = stage.options.driver.ledger;
  return [...new Set(rows.map((row) => groups.has(row.pgid) ? -row.pgid : row.pid))];
}

/** Names and pids, for evidence. */
export function namesOf(rows: readonly ProcessRow[]): string[] {
  return rows.map(nameOf);
}

/**
 * Whether a start was frozen at its kill point. Where it was not, it is ended with proof, and a
 * finding says why there was nothing to strike.
 */
export async function isStruck(stage: Stage, start: StartResult): Promise<boolean> {
  if (start.frozen.length > 0) return true;
  await stage.killStart(start);
  await stage.noteFaultState();
  const made = listArtifacts(stage.spec).length;
  stage.record.findings.push({
    id: "job-struck",
    ok: null,
    text: `The job could not be struck half-way: ${WHY[start.ending]} (outputs: ${made})`,
  });
  return false;
}

const WHY: Record<StartResult["ending"], string> = {
  "ended": "it ended by itself before that",
  "idle": "it made no progress within the idle limit",
  "run": "it did not get there within the run limit",
  "until": "it was over at that moment",
  "aborted": "the run was interrupted",
  "not-started": "it could not be started",
};

/** Notes that the failure came too late: nothing was left to recover. */
export function noteNothingLeft(stage: Stage): void {
  stage.record.findings.push({
    id: "work-left",
    ok: null,
    text: "All the work was finished when the failed run was over, so there was nothing to recover",
  });
}

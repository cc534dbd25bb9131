/**
 * A recovery against the lock of a living owner. The owner is the first run itself, stopped and
 * alive, so that the lock is true to its last detail. The recovery must leave everything alone: it
 * ends (however), or it waits. Then the owner ends, and the recovery must do the work.
 *
 * @module
 */
import {
  artifactSignature,
  type Driver,
  isSameProcess,
  Ledger,
  listArtifacts,
  type ProcessRow,
  realSystem,
  reap,
  type ReapSystem,
  type Spawned,
} from "../../lab/mod.ts";
import type { DiskLook, Stage } from "../stage.ts";
import type { StartResult } from "../stage_types.ts";

/** How long a recovery gets to decide, at least: a big program starts slowly. */
const DECIDE_MS_MIN = 2000;
/** And how many times the time that the control run took for its first output. */
const DECIDE_PER_FIRST_OUTPUT = 3;

/**
 * Runs the resume command while the owner lives. Afterwards the owner is ended, with proof.
 *
 * @param owner The first run, stopped.
 * @returns Whether the work is still to do: the recovery stood down and did not wait.
 */
export async function standDown(
  stage: Stage,
  start: StartResult,
  owner: readonly ProcessRow[],
  before: DiskLook,
): Promise<boolean> {
  const isOwner = (row: ProcessRow) => owner.some((each) => isSameProcess(row, each));
  const driver = stage.options.newDriver(systemWith(stage, (row) => !isOwner(row)));
  try {
    const spawned = await stage.begin("stand-down", stage.options.commands.resume, driver);
    if (!("pid" in spawned)) {
      await stage.concludeAttempt("stand-down", before, spawned, { driver });
      await endOwner(stage, start, owner, isOwner);
      return true;
    }
    const isWaiting = !await endsSoon(stage, spawned, driver);
    if (!isWaiting) await stage.concludeAttempt("stand-down", before, spawned, { driver });
    else await noteWaiting(stage, before);
    await endOwner(stage, start, owner, isOwner);
    if (!isWaiting) return true;
    await stage.watch(spawned, undefined, driver);
    await stage.concludeAttempt("resume", before, spawned, { driver });
    return false;
  } finally {
    await driver.reap(0);
    await driver.release();
  }
}

/** The process table as seen by one that only knows some of the processes. */
function systemWith(stage: Stage, isSeen: (row: ProcessRow) => boolean): ReapSystem {
  return {
    ...realSystem,
    clock: stage.options.clock,
    readTable: async () => (await realSystem.readTable()).filter(isSeen),
  };
}

/** Whether it ends by itself within the time that it takes to decide. */
async function endsSoon(stage: Stage, spawned: Spawned, driver: Driver): Promise<boolean> {
  const { control } = stage.options;
  const { idleSeconds } = stage.contract.limits;
  const decideMs = Math.max(
    DECIDE_MS_MIN,
    DECIDE_PER_FIRST_OUTPUT * (control?.firstOutputMs ?? 0),
  );
  const ending = await driver.supervise(spawned, {
    runMs: Math.min(decideMs, idleSeconds * 1000),
    idleMs: Infinity,
    signature: () => artifactSignature(listArtifacts(stage.spec)),
  });
  return ending === "ended";
}

/** It waits, which is fine as long as it has touched nothing. */
async function noteWaiting(stage: Stage, before: DiskLook): Promise<void> {
  const now = await stage.look();
  const isQuiet = JSON.stringify(now.artifacts) === JSON.stringify(before.artifacts);
  const isKept = now.lock === before.lock;
  stage.record.findings.push({
    id: "waits-for-owner",
    ok: isQuiet && isKept,
    text: isQuiet && isKept
      ? "The recovery waits while the lock's owner is alive, and leaves lock and outputs alone"
      : isKept
      ? "The recovery worked on outputs although the lock's owner is alive"
      : "The recovery removed or changed the lock of a living owner",
  });
}

/** Ends the owner and nobody else, with proof. */
async function endOwner(
  stage: Stage,
  start: StartResult,
  owner: readonly ProcessRow[],
  isOwner: (row: ProcessRow) => boolean,
): Promise<void> {
  const { spawned } = start;
  if (spawned === null) return;
  spawned.noteEnd({ endedByLab: spawned.ended === null });
  const ledger = new Ledger("");
  for (const row of owner) {
    if (row.pid === spawned.pid) ledger.addLeader(row);
    else ledger.addKnown(row);
  }
  stage.record.kill = await reap(systemWith(stage, isOwner), {
    ledger,
    spawned: [spawned],
    graceMs: 0,
    runStartMs: stage.options.journal.runStartMs,
  });
  await stage.noteStart(start);
}

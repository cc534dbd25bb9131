/**
 * stale-lock: a lock whose owner is gone.
 *
 * - `dead-owner`: the job is killed (SIGKILL), and its lock stays. The lock and the process table are
 *   the proof.
 * - `live-stranger`: besides, the owner's number in the lock is replaced by that of a living process
 *   that has nothing to do with the job, as it happens when numbers are given away again.
 * - `live-owner`: the other way round. The owner lives; the recovery must leave its lock alone. Then
 *   the owner ends, and the recovery must do the work.
 *
 * @module
 */
import { isAlive, isKillProven, type KillRecord, readProcessTable } from "../../lab/mod.ts";
import type { Stage } from "../stage.ts";
import { freezeAll, isStruck, namesOf, noteNothingLeft } from "./_freeze.ts";
import { type Lock, ownersIn, plantLock, readLock, replaceOwner } from "./_lock.ts";
import { standDown } from "./_stand_down.ts";
import { startStranger } from "./_stranger.ts";
import type { Replay } from "./replay.ts";

/** Leave a lock whose owner is dead, a stranger, or alive. */
export const staleLock: Replay = {
  id: "stale-lock",
  summary: "the lock of the killed run is still there (or, the other way round, its owner lives)",
  variants: ["dead-owner", "live-stranger", "live-owner"],
  needs: (contract) =>
    contract.lock === undefined
      ? "The contract does not say where the job keeps its lock. If it has one, add it: " +
        '"lock": {"path": "run.lock"}'
      : null,
  async run(stage, variant) {
    if (variant === "live-owner") return await liveOwner(stage);
    const start = await stage.startUntil(stage.killPoint);
    if (!await isStruck(stage, start)) return;
    // A job that is asked to end may remove its lock; a crash does not ask.
    const kill = await stage.killStart(start, { graceMs: 0 });
    const lock = leftLock(stage, kill);
    if (lock === null) return;
    await stage.noteFaultState();
    if (!stage.isWorkLeft) return noteNothingLeft(stage);
    if (isKillProven(kill) !== true) return;
    const owners = ownersIn(lock, kill.processes.map((process) => process.pid));
    if (variant === "dead-owner") await deadOwner(stage, lock, owners);
    else await liveStranger(stage, lock, owners);
  },
};

function lockPath(stage: Stage): string {
  return stage.contract.lock?.path ?? "";
}

/** The lock that the killed job left, or a planted one; `null` when there can be none. */
function leftLock(stage: Stage, kill: KillRecord): Lock | null {
  const path = stage.path(lockPath(stage));
  const template = stage.contract.lock?.content;
  const owner = kill.processes[0]?.pid;
  if (readLock(path) === null && template !== undefined && owner !== undefined) {
    plantLock(path, template, owner);
  }
  const lock = readLock(path);
  if (lock === null) {
    stage.record.notApplicable =
      `The killed job left no lock at "${lockPath(stage)}", so there is ` +
      "no stale one. If it can leave one at another moment, say how it looks: " +
      `"lock": {"path": "${lockPath(stage)}", "content": "{pid}\\n"}`;
  }
  return lock;
}

async function deadOwner(stage: Stage, lock: Lock, owners: readonly number[]): Promise<void> {
  const alive = (await readProcessTable()).filter((row) => isAlive(row));
  if (alive.some((row) => owners.includes(row.pid))) return;
  stage.deliver([
    { what: "lock that the dead run left", value: lock.text },
    {
      what: "its owner in the process table",
      value: owners.length === 0 ? "it names none, and nobody of the run is alive" : "none",
    },
  ]);
  await stage.resume();
}

async function liveStranger(stage: Stage, lock: Lock, owners: readonly number[]): Promise<void> {
  if (owners.length === 0) {
    stage.record.notApplicable =
      `The lock at "${lockPath(stage)}" does not name a process of the ` +
      `killed run (it holds: ${lock.text}), so nobody else's number can come to stand in it`;
    return;
  }
  await using stranger = startStranger();
  await replaceOwner(lock, owners, stranger.pid);
  const now = readLock(stage.path(lockPath(stage)));
  const row = (await readProcessTable()).find((each) => each.pid === stranger.pid);
  if (now === null || ownersIn(now, [stranger.pid]).length === 0 || row === undefined) return;
  stage.deliver([
    { what: "the lock names a living stranger", value: now.text },
    { what: "the stranger in the process table", value: namesOf([row]) },
  ]);
  await stage.resume();
  const ended = stranger.ended();
  stage.record.findings.push({
    id: "stranger-untouched",
    ok: ended === null,
    text: ended === null
      ? "The process whose number stood in the lock was left alone"
      : `The recovery ended a process that is not its own: the lock named its number (${ended})`,
  });
}

async function liveOwner(stage: Stage): Promise<void> {
  const start = await stage.startUntil(stage.killPoint);
  if (!await isStruck(stage, start)) return;
  const { rows, isWhole } = await freezeAll(stage);
  const before = await stage.noteFaultState();
  const lock = readLock(stage.path(lockPath(stage)));
  if (lock === null) {
    stage.record.notApplicable =
      `The job holds no lock at "${lockPath(stage)}" while it works, so ` +
      "there is none to respect";
    return;
  }
  if (isWhole) {
    stage.deliver([
      { what: "lock of an owner that lives", value: lock.text },
      { what: "its processes, stopped and alive", value: namesOf(rows) },
    ]);
  }
  const isToDo = await standDown(stage, start, rows, before);
  if (isToDo && stage.record.fault.delivered) await stage.resume();
}

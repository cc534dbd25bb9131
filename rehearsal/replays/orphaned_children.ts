/**
 * orphaned-children: the leader of a job dies, and its children live on.
 *
 * Only the command that was started is killed (SIGKILL). Who of the job is alive after its death is
 * the proof, and, where it comes, an output that changed. Then everything is ended with proof, and
 * the resume command runs.
 *
 * Variant `overlap`: nothing is ended. The resume command starts while the orphan lives, and the
 * verdict is taken when the orphan has ended by itself. Seen in the wild: the recovery reports
 * success, and then the orphan appends to a finished file.
 *
 * @module
 */
import {
  artifactSignature,
  type FaultRecord,
  isKillProven,
  isStopped,
  listArtifacts,
  type ProcessRow,
  sendSignal,
  waitUntil,
} from "../../lab/mod.ts";
import type { Stage } from "../stage.ts";
import type { StartResult } from "../stage_types.ts";
import { resumeBeside } from "./_beside.ts";
import { freezeAll, isStruck, namesOf, noteNothingLeft, thaw } from "./_freeze.ts";
import type { Replay } from "./replay.ts";

/** Looks for a moment in which the job has another process than its leader. */
const CATCH_TRIES_MAX = 20;
/** A job that is faster than this is through before it can be stopped again. */
const CATCH_MS_PER_OUTPUT_MIN = 15;
/** How long the orphan gets to write something. */
const WRITE_LIMIT_MS = 1000;

/** Kill the leader only. */
export const orphanedChildren: Replay = {
  id: "orphaned-children",
  summary: "only the job's first process is killed, and its children live on",
  variants: ["reaped", "overlap"],
  needs: () => null,
  async run(stage, variant) {
    const start = await stage.startUntil(stage.killPoint);
    if (!await isStruck(stage, start)) return;
    const evidence = await killLeader(stage, start);
    if (evidence === null) {
      await stage.killStart(start, { graceMs: 0 });
      await stage.noteFaultState();
      return;
    }
    if (variant === "overlap") await overlap(stage, start, evidence);
    else await reapThenResume(stage, start, evidence);
  },
};

async function reapThenResume(
  stage: Stage,
  start: StartResult,
  evidence: FaultRecord["evidence"],
): Promise<void> {
  // The orphan of a job that is done in a moment would do everything before anybody looked.
  const written = stage.isPaced ? null : await letWrite(stage);
  const kill = await stage.killStart(start, { graceMs: 0 });
  await stage.noteFaultState();
  if (!stage.isWorkLeft) return noteNothingLeft(stage);
  if (isKillProven(kill) !== true) return;
  const write = written === null
    ? []
    : [{ what: "an output that changed after its death", value: written }];
  stage.deliver([...evidence, ...write]);
  await stage.resume();
}

async function overlap(
  stage: Stage,
  start: StartResult,
  evidence: FaultRecord["evidence"],
): Promise<void> {
  const { rows } = await freezeAll(stage);
  const before = await stage.noteFaultState();
  start.spawned?.noteEnd({ endedByLab: true });
  const isDone = await resumeBeside(stage, {
    what: "an orphan of the killed run",
    rows,
    spawned: null,
    before,
    evidence,
    isZeroAClaim: true,
  });
  await stage.noteStart(start);
  if (!isDone && stage.record.fault.delivered) await stage.resume();
}

/** Kills the leader while its group is stopped. Gives who is alive after it, or `null`: nobody. */
async function killLeader(
  stage: Stage,
  start: StartResult,
): Promise<FaultRecord["evidence"] | null> {
  const { spawned } = start;
  if (spawned === null || !await catchChild(stage, start)) return null;
  spawned.noteEnd({ endedByLab: true });
  await sendSignal("KILL", [spawned.pid]);
  const { clock, driver } = stage.options;
  await waitUntil(() => spawned.ended !== null, { limitMs: 2000, clock });
  const orphans = (await driver.alive()).filter((row) => row.pid !== spawned.pid);
  if (orphans.length === 0 || spawned.ended?.signal !== "SIGKILL") {
    noteNoChild(stage);
    return null;
  }
  return [
    { what: "alive after the death of their leader", value: namesOf(orphans) },
    { what: "the leader was ended by", value: spawned.ended.signal },
  ];
}

/** Lets a frozen job go on for moments, until it has a child. */
async function catchChild(stage: Stage, { spawned, frozen }: StartResult): Promise<boolean> {
  const { driver, clock } = stage.options;
  // One that is stopped cannot be about to end; one in another group was not stopped with it.
  const isChild = (row: ProcessRow) =>
    row.pid !== spawned?.pid && (isStopped(row) || row.pgid !== spawned?.pid);
  let rows = frozen;
  for (let tries = 0; tries < CATCH_TRIES_MAX; tries++) {
    if (rows.some(isChild)) return true;
    if (spawned?.ended !== null || stage.perOutputMs < CATCH_MS_PER_OUTPUT_MIN) break;
    await thaw(stage, rows);
    await clock.sleep(Math.min(tries, stage.perOutputMs / 4));
    await sendSignal("STOP", [-spawned.pid]);
    rows = await driver.alive();
  }
  noteNoChild(stage);
  return false;
}

function noteNoChild(stage: Stage): void {
  const { driver, control } = stage.options;
  if (control?.hasChildren !== true && driver.ledger.seen.length < 2) {
    stage.record.notApplicable =
      "The job is a single process, as far as was seen: nobody of it was " +
      "alive when its first process was not, so it cannot leave orphans";
    return;
  }
  stage.record.findings.push({
    id: "orphan-caught",
    ok: null,
    text:
      "No child of the job was alive at the moment when its first process was killed, although " +
      "it has some at other times. Try another moment with --kill-after",
  });
}

/** Lets the orphans go on until one of them has written, or all have ended. */
async function letWrite(stage: Stage): Promise<string | null> {
  const { driver, clock } = stage.options;
  const before = listArtifacts(stage.spec);
  const known = new Map(before.map((each) => [each.path, artifactSignature([each])]));
  await thaw(stage, await driver.alive());
  const seen = await waitUntil(async () => {
    const changed = listArtifacts(stage.spec)
      .find((each) => known.get(each.path) !== artifactSignature([each]));
    if (changed !== undefined) return changed.path;
    return (await driver.alive()).length === 0 ? "" : null;
  }, { limitMs: WRITE_LIMIT_MS, everyMs: 5, clock });
  // One signal is quicker than the first look of the reaper, and what is stopped does no more work.
  await sendSignal("STOP", driver.ledger.openGroups.map((id) => -id));
  return seen === "" ? null : seen;
}

/**
 * 02: the leader of a job is killed, and what it had started goes on writing.
 *
 * @module
 */
import {
  artifactSignature,
  identityOf,
  isAlive,
  isStopped,
  type KillRecord,
  listArtifacts,
  sendSignal,
  type Spawned,
  waitUntil,
  type WorkerCue,
  type WorkerPlan,
} from "../../lab/mod.ts";
import { orphanEvidence, orphansOf } from "../faults/kill_leader.ts";
import type { Scene } from "../scene.ts";
import type { DrillStage } from "../stage.ts";
import {
  deadlineWords,
  deliverLate,
  findLeftAlone,
  noteFirstAttempt,
  runUnderDeadline,
} from "./_deadline.ts";

const CUES: Record<string, WorkerCue> = {
  "plain-child": "child",
  "ignores-term": "child-deaf",
  "own-session": "child-session",
  "double-fork": "child-fork",
  "stopped": "child-stopped",
};

/** See the module's text. */
export const orphanedChildren: Scene = {
  id: "02-orphaned-children",
  contract: { checkpoint: true },

  async fail(stage) {
    // In the repaired half the job runs under the repair from its start; see `repair`.
    if (stage.options.mode !== "broken") return;
    const spawned = await stage.start("start", planOf(stage));
    await killLeader(stage);
    await spawned.status;
    stage.noteFaultState();
    await noteNaiveKill(stage, spawned);
  },

  async naive(stage) {
    const orphans = stage.record.kill?.survivors ?? [];
    const before = stage.look();
    const { spawned } = await stage.run("resume", stage.plan(), { argv: stage.naiveArgv });
    // A stopped orphan goes on when somebody continues it; that can be hours later.
    await wake(stage);
    await stage.concludeAttempt("resume", spawned, before);
    const hasWritten = (stage.record.quiet?.changed.length ?? 0) > 0;
    stage.find(
      "orphan-wrote-after-death",
      !hasWritten || orphans.length === 0,
      hasWritten
        ? "A process that outlived its leader wrote over an output after the recovery had said " +
          "SUCCESS"
        : "Nobody wrote after the recovery",
    );
  },

  async repair(stage) {
    const settleMs = stage.parameter("settleMs");
    const job = runUnderDeadline(stage, planOf(stage), { retries: 0, settleMs });
    job.catch(() => {}); // Awaited below, after the leader's death.
    if (stage.armed) {
      await killLeader(stage);
      stage.noteFaultState();
    }
    const first = await job;
    noteFirstAttempt(stage, first);
    deliverLate(stage, first);
    stage.checkInterrupted();
    if (!stage.armed) findLeftAlone(stage, first);
    await stage.repairAttempt(deadlineWords(stage, 0), async () => {
      const { result, said } = await runUnderDeadline(stage, stage.plan(), { retries: 0 });
      return { exitCode: result.exitCode, said };
    });
    stage.record.kill ??= stage.record.attempts.at(-1)?.kill ?? null;
  },

  async control(stage) {
    await this.repair(stage);
  },
};

/** Where nothing is to go wrong, the job has a helper that ends by itself right after it. */
function planOf(stage: DrillStage): WorkerPlan {
  return stage.armed
    ? stage.plan({ cue: CUES[stage.variant] ?? "child", cueAt: stage.parameter("afterUnits") + 1 })
    : stage.plan({ cue: "child-brief", cueAt: stage.units.length });
}

/** Waits until the helper is at work, kills the leader alone, and proves that others outlived it. */
async function killLeader(stage: DrillStage): Promise<void> {
  const { driver, clock, signal } = stage.options;
  const limits = { limitMs: stage.limits.runMs, everyMs: 5, signal, clock };
  const isStoppedVariant = stage.variant === "stopped";
  const isAtWork = () =>
    stage.lastLogLine().endsWith(": holding") &&
    (isStoppedVariant || listArtifacts(stage.spec).length > stage.parameter("afterUnits"));
  await waitUntil(isAtWork, limits);
  if (isStoppedVariant) await waitUntil(async () => (await driver.alive()).some(isStopped), limits);
  stage.checkInterrupted();
  const leaderPid = Number(await Deno.readTextFile(stage.path("leader.pid")));
  const ours = await driver.alive();
  if (!ours.some((row) => row.pid === leaderPid)) throw new Error("The leader is not ours");
  await sendSignal("KILL", [leaderPid]);
  await waitUntil(async () => !(await driver.alive()).some((row) => row.pid === leaderPid), limits);
  const before = artifactSignature(listArtifacts(stage.spec));
  const hasWritten = isStoppedVariant ? null : await waitUntil(
    () => artifactSignature(listArtifacts(stage.spec)) !== before,
    { ...limits, limitMs: stage.limits.idleMs },
  );
  const after = await driver.alive();
  stage.deliver(orphanEvidence({ leaderPid, after, hasWritten }));
}

/** What the naive runner does not look at: who is alive when it says "clean". */
async function noteNaiveKill(stage: DrillStage, spawned: Spawned): Promise<void> {
  const { driver, journal } = stage.options;
  spawned.noteEnd({ endedByLab: true });
  stage.record.start = await driver.finish(spawned);
  const orphans = orphansOf(spawned.pid, await driver.alive()).filter(isAlive);
  stage.record.kill = {
    signals: [{ signal: "KILL", targets: 1, atMs: journal.atMs() }],
    processes: driver.ledger.seen,
    witnesses: {
      groupEmpty: !orphans.some((row) => row.pgid === spawned.pid),
      markerEmpty: orphans.length === 0,
      pipesClosed: true,
    },
    survivors: orphans.map(identityOf),
    elapsedMs: 0,
  } satisfies KillRecord;
}

async function wake(stage: DrillStage): Promise<void> {
  const stopped = (await stage.options.driver.alive()).filter(isStopped);
  await sendSignal("CONT", stopped.map((row) => row.pid));
}

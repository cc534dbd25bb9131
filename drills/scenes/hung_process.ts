/**
 * 01: a job that waits for an answer which never comes.
 *
 * @module
 */
import { join } from "@std/path";
import {
  listArtifacts,
  systemTool,
  waitUntil,
  type WorkerCue,
  type WorkerPlan,
} from "../../lab/mod.ts";
import { hangEvidence } from "../faults/block_on_pipe.ts";
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
  silent: "ask",
  beating: "ask-beating",
  chatty: "ask-chatty",
};

// What a runner's first start does: it hands its own stdin on, a pipe that stays open. Every later
// start has the stdin that its caller gives.
const FIRST_START = `mkdir ../first-start 2>/dev/null || exec sh ../worker.sh
exec sh ../worker.sh <>../ask.fifo`;

/** See the module's text. */
export const hungProcess: Scene = {
  id: "01-hung-process",
  contract: { checkpoint: true },

  async fail(stage) {
    await makePipe(stage);
    // In the repaired half the job runs under the repair from its start; see `repair`.
    if (stage.options.mode !== "broken") return;
    const argv = [systemTool("sh"), "-c", "exec sh ../worker.sh <>../ask.fifo"];
    const { spawned } = await stage.run("start", planOf(stage), { argv });
    await proveHang(stage);
    await stage.endStart(spawned, stage.limits.graceMs);
    stage.noteFaultState();
  },

  async naive(stage) {
    const attempt = await stage.attempt(planOf(stage), { argv: stage.naiveArgv });
    const after = attempt.artifactsAfter.length;
    const isHung = attempt.phase.limitHit !== null && after <= stage.parameter("afterUnits");
    stage.find(
      "hung",
      !isHung,
      isHung
        ? `The retry reads from the same pipe and hangs at the same place, after ${after} of ` +
          `${stage.units.length} units`
        : "The retry went past the place where the job had hung",
    );
  },

  async repair(stage) {
    const argv = [systemTool("sh"), "-c", FIRST_START];
    const retries = stage.parameter("retries");
    // A healthy job is not to be ended because this machine is busy.
    const idleMs = stage.armed ? stage.limits.idleMs : stage.limits.runMs;
    let isOver = false;
    const job = runUnderDeadline(stage, planOf(stage), { argv, retries, idleMs })
      .finally(() => isOver = true);
    job.catch(() => {}); // Awaited below, after the look at the hang.
    if (stage.armed) await proveHangSoon(stage, () => isOver);
    await stage.repairAttempt(deadlineWords(stage, retries), async () => {
      const deadline = await job;
      noteFirstAttempt(stage, deadline);
      deliverLate(stage, deadline);
      if (stage.options.mode === "control") findLeftAlone(stage, deadline);
      return { exitCode: deadline.result.exitCode, said: deadline.said };
    });
    stage.record.kill ??= stage.record.attempts.at(-1)?.kill ?? null;
  },

  async control(stage) {
    await makePipe(stage);
    await this.repair(stage);
  },
};

async function makePipe(stage: DrillStage): Promise<void> {
  await new Deno.Command(systemTool("mkfifo"), { args: [join(stage.options.dir, "ask.fifo")] })
    .output();
}

function planOf(stage: DrillStage): WorkerPlan {
  const cue = stage.armed ? CUES[stage.variant] ?? "ask" : "none";
  return stage.plan({ cue, cueAt: stage.parameter("afterUnits") + 1 });
}

/** Waits for the silence of the hung job, which the repair does not end before its own limit. */
async function proveHang(stage: DrillStage, silentMs = stage.limits.idleMs): Promise<void> {
  const { driver, clock } = stage.options;
  const outputs = listArtifacts(stage.spec);
  const newestMs = Math.max(...outputs.map((output) => output.mtimeMs));
  const evidence = hangEvidence({
    processes: await driver.alive(),
    outputs: outputs.length,
    silentMs: clock.wallMs() - newestMs,
    idleMs: silentMs,
  });
  if (evidence.length > 0) stage.deliver(evidence);
}

/** In the repaired half the lab looks earlier than the repair acts, and only looks. */
async function proveHangSoon(stage: DrillStage, isOver: () => boolean): Promise<void> {
  const silentMs = stage.parameter("provenAfterMs");
  const { clock, signal } = stage.options;
  const isSilent = () => {
    if (isOver()) return true;
    const outputs = listArtifacts(stage.spec);
    const newestMs = Math.max(0, ...outputs.map((output) => output.mtimeMs));
    return outputs.length === stage.parameter("afterUnits") &&
      clock.wallMs() - newestMs >= silentMs;
  };
  await waitUntil(isSilent, { limitMs: stage.limits.runMs, everyMs: 5, signal, clock });
  await proveHang(stage, silentMs);
  stage.noteFaultState();
}

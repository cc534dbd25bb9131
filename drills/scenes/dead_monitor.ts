/**
 * 07: the watcher is dead, and its silence looks like health.
 *
 * @module
 */
import { join } from "@std/path";
import {
  listArtifacts,
  MONITOR_ALERTS_NAME,
  MONITOR_BEAT_NAME,
  monitorArguments,
  OUTPUTS_GLOB,
  readProcessTable,
  sendSignal,
  type Spawned,
  systemTool,
  waitUntil,
  type WorkerPlan,
  writeMonitor,
} from "../../lab/mod.ts";
import { type HeartbeatResult, runWithHeartbeat } from "../../repairs/mod.ts";
import { blindMonitorEvidence, deadMonitorEvidence } from "../faults/kill_monitor.ts";
import type { Scene } from "../scene.ts";
import type { DrillStage } from "../stage.ts";

const SLOW = "slow-but-healthy";
const BLIND = "beats-without-looking";

/** See the module's text. */
export const deadMonitor: Scene = {
  id: "07-dead-monitor",
  contract: { checkpoint: true },

  async fail(stage) {
    writeMonitor(join(stage.options.dir, "monitor.sh"));
    const monitor = await startMonitor(stage);
    if (!stage.armed) {
      await stage.runToHold(stage.parameter("afterUnits"));
      stage.noteFaultState();
      return;
    }
    const job = await stage.start("start", failingPlan(stage));
    Deno.writeTextFileSync(stage.path("job.pid"), `${job.pid}\n`);
    if (stage.variant !== BLIND) await killMonitor(stage, monitor);
    await prove(stage, monitor, job);
    stage.noteFaultState();
    if (stage.options.mode === "broken") jobs.set(stage, job);
    else await stage.endStart(job);
  },

  async naive(stage) {
    const job = jobs.get(stage);
    if (job === undefined) throw new TypeError("The job was not started");
    const before = listArtifacts(stage.spec).length;
    const attempt = await stage.attempt(stage.plan(), { argv: stage.naiveArgv });
    stage.record.start = await stage.options.driver.finish(job);
    stage.record.kill = attempt.kill;
    const made = attempt.artifactsAfter.length - before;
    if (stage.variant === SLOW) {
      const isKilled = job.ended?.signal === "SIGTERM";
      stage.find(
        "healthy-job-killed",
        !isKilled,
        isKilled
          ? `The job was slow and got on (${attempt.artifactsAfter.length} of ` +
            `${stage.units.length} units), and was killed for its slowness`
          : "The slow job was left alone",
      );
      return;
    }
    const isMissed = made === 0 && attempt.phase.exitCode === 0;
    const what = stage.variant === BLIND
      ? "the beat of a blind monitor"
      : "the silence of a dead one";
    stage.find(
      stage.variant === BLIND ? "beat-taken-for-health" : "silence-taken-for-health",
      !isMissed,
      isMissed
        ? `The job hangs after ${before} of ${stage.units.length} units, and ${what} was taken for ` +
          "health"
        : "It was noticed that the job hangs",
    );
  },

  async repair(stage) {
    await stage.endNeighbours();
    const watched = await watchedAttempt(stage);
    if (stage.armed) judge(stage, watched);
  },

  async control(stage) {
    await stage.runToHold(stage.parameter("afterUnits"));
    stage.noteFaultState();
    const { alarms, jobStarts, watcherStarts, run } = await watchedAttempt(stage);
    const wasLeft = alarms.length === 0 && jobStarts === 1 && watcherStarts === 1 &&
      run.attempts[0]?.kill === null;
    stage.find(
      "left-alone",
      wasLeft,
      wasLeft
        ? "The repair watched a healthy job to its end: no alarm, no signal, no second start"
        : `The repair disturbed a healthy job: ${alarms.map((alarm) => alarm.kind).join(", ")}`,
    );
  },
};

const jobs = new WeakMap<DrillStage, Spawned>();

/** The job hangs for ever, or is only slow. */
function failingPlan(stage: DrillStage): WorkerPlan {
  return stage.variant === SLOW
    ? stage.plan({ pauseMs: stage.parameter("verySlowMs") })
    : stage.plan({ cue: "hold", cueAt: stage.parameter("afterUnits") + 1 });
}

/** Under the repair it hangs once more, a little later, or is slow again. */
function repairedPlan(stage: DrillStage): WorkerPlan {
  if (!stage.armed) return stage.plan();
  if (stage.variant === SLOW) return stage.plan({ pauseMs: stage.parameter("slowMs") });
  return stage.plan({
    cue: "hold",
    cueAt: stage.parameter("hangsAgainAfterUnits") + 1,
    cueOnce: "../hung-again",
  });
}

async function startMonitor(stage: DrillStage): Promise<Spawned> {
  const mode = stage.armed && stage.variant === BLIND ? "beat" : "look";
  const argv = [
    systemTool("sh"),
    "../monitor.sh",
    ...monitorArguments(mode, stage.parameter("monitorLooks")),
  ];
  const { clock, signal } = stage.options;
  const env = stage.environment();
  const monitor = await stage.neighbours.start("monitor", argv, stage.workspace, env);
  await waitUntil(() => stage.exists(MONITOR_BEAT_NAME), {
    limitMs: stage.limits.runMs,
    everyMs: 3,
    signal,
    clock,
  });
  return monitor;
}

async function killMonitor(stage: DrillStage, monitor: Spawned): Promise<void> {
  const isOurs = (await stage.neighbours.alive()).some((row) => row.pid === monitor.pid);
  if (!isOurs) throw new Error("The monitor is not ours, or has ended");
  await sendSignal("KILL", [monitor.pid]);
  await monitor.status;
}

/** Waits until there is something that a monitor should have seen, and tells what was seen. */
async function prove(stage: DrillStage, monitor: Spawned, job: Spawned): Promise<void> {
  const { clock, signal, driver } = stage.options;
  const isSlow = stage.variant === SLOW;
  const silentMsMin = isSlow ? null : stage.parameter("provenAfterMs");
  const signLimitMs = stage.parameter("signLimitMs");
  const sightingOf = async () => {
    const outputs = listArtifacts(stage.spec);
    const newestMs = Math.max(0, ...outputs.map((output) => output.mtimeMs));
    // The ages first: a look at the process table takes its time on a busy machine.
    const silentMs = clock.wallMs() - newestMs;
    const beat = (await Deno.stat(stage.path(MONITOR_BEAT_NAME))).mtime?.getTime() ?? null;
    const signAgeMs = beat === null ? null : clock.wallMs() - beat;
    return {
      monitorPid: monitor.pid,
      table: await readProcessTable(),
      signAgeMs,
      signLimitMs,
      hasAlerted: stage.exists(MONITOR_ALERTS_NAME),
      job: (await driver.alive()).filter((row) => row.pid === job.pid),
      silentMs,
      silentMsMin,
    };
  };
  const evidence = await waitUntil(async () => {
    const sighting = await sightingOf();
    const found = stage.variant === BLIND
      ? blindMonitorEvidence(sighting)
      : deadMonitorEvidence(sighting);
    const hasBegun =
      listArtifacts(stage.spec).length >= (isSlow ? 2 : stage.parameter("afterUnits"));
    return hasBegun && found.length > 0 ? found : null;
  }, { limitMs: stage.limits.idleMs, everyMs: 10, signal, clock });
  stage.checkInterrupted();
  stage.deliver(evidence ?? []);
}

/** Runs the job under the repair's two watchers, and does to the first what was done to the monitor. */
async function watchedAttempt(stage: DrillStage): Promise<HeartbeatResult> {
  // Where the job is healthy, a busy machine must not make it look hung.
  const isHealthy = !stage.armed || stage.variant === SLOW;
  const limitMs = stage.parameter(isHealthy ? "healthyLimitMs" : "limitMs");
  const flags = ["--limit", `${limitMs}ms`, "--progress", OUTPUTS_GLOB, "--beat", "watcher.beat"];
  const words = ["failure-lab", "repair", "heartbeat", "run", ...flags, "--", "sh", "worker.sh"];
  let result: HeartbeatResult | null = null;
  let harmed = false;
  const harm = async (pid: number) => {
    if (harmed || !stage.armed) return;
    harmed = true;
    const beat = stage.path("../watcher.beat");
    const { clock, signal } = stage.options;
    await waitUntil(() => stage.exists("../watcher.beat"), {
      limitMs: 2000,
      everyMs: 5,
      signal,
      clock,
    });
    await sendSignal(stage.variant === BLIND ? "STOP" : "KILL", [pid]);
    if (stage.variant === BLIND) await touchAgainAndAgain(stage, beat);
  };
  const harming: Promise<void>[] = [];
  await stage.repairAttempt(words, async () => {
    const said: string[] = [];
    result = await runWithHeartbeat({
      ...stage.wrapped(repairedPlan(stage)),
      stdin: "null",
      progress: [OUTPUTS_GLOB],
      limitMs,
      beatFile: stage.path("../watcher.beat"),
      everyMs: stage.parameter("everyMs"),
      graceMs: stage.limits.graceMs,
      restarts: stage.parameter("restarts"),
      onWatcher: (pid) => void harming.push(harm(pid)),
      say: (text) => said.push(text),
      stop: stage.stop,
      clock: stage.options.clock,
    });
    await Promise.all(harming);
    await stage.endNeighbours();
    return { exitCode: result.exitCode, said: said.join("\n") };
  });
  if (result === null) throw new Error("The repair gave no result");
  return result;
}

/** Somebody keeps the beat file fresh while the watcher itself stands still. */
async function touchAgainAndAgain(stage: DrillStage, beat: string): Promise<void> {
  const script = 'while touch "$1"; do sleep 0.02; done';
  const argv = [systemTool("sh"), "-c", script, "toucher", beat];
  await stage.neighbours.start("toucher", argv, stage.workspace, stage.environment());
}

function judge(stage: DrillStage, { alarms, jobStarts, run }: HeartbeatResult): void {
  const kinds = alarms.map((alarm) => alarm.kind);
  if (stage.variant !== BLIND) {
    const hasNoticed = kinds.includes("watcher-died");
    stage.find(
      "watcher-death-noticed",
      hasNoticed,
      hasNoticed
        ? "The second watcher noticed that the first was dead, raised an alarm and started another"
        : "Nobody noticed that the first watcher was dead",
    );
  }
  if (stage.variant === SLOW) {
    const wasLeft = jobStarts === 1 && run.attempts[0]?.kill === null &&
      !kinds.includes("no-progress");
    stage.find(
      "healthy-job-left-alone",
      wasLeft,
      wasLeft ? "The slow job got on and was left alone" : "The slow job was disturbed",
    );
    return;
  }
  const hasSeen = kinds.includes("no-progress") && jobStarts > 1;
  stage.find(
    "hang-noticed",
    hasSeen,
    hasSeen
      ? "The hang was seen by the outputs, whatever the beat said, and the job was started again"
      : `The hang was not seen: ${kinds.join(", ") || "no alarm"}, ${jobStarts} start(s)`,
  );
}

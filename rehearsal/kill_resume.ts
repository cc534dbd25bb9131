/**
 * Killing the recovery itself half-way, so that the next one has to recover from that as well.
 *
 * @module
 */
import { startPaced } from "./pacer.ts";
import type { Stage } from "./stage.ts";
import { runUntil } from "./strike.ts";

/** A fast job cannot be tried again in a fresh copy here, so it goes in small steps at once. */
const PACED_FINENESS = 4;

/** Runs `resume`, kills it when half of what was missing is there, and notes the attempt. */
export async function killResumeHalfWay(stage: Stage): Promise<void> {
  const { count } = stage.contract.artifacts;
  const before = await stage.look();
  const whole = before.artifacts.filter((artifact) => artifact.problems.length === 0).length;
  const missing = Math.max(0, (count ?? whole) - whole);
  if (missing === 0) {
    stage.record.findings.push({
      id: "resume-killed-half-way",
      ok: true,
      text: "Nothing was missing when the recovery began, so there was no half-way to kill it at",
    });
    return;
  }
  const target = before.artifacts.length + Math.floor(missing / 2);
  const run = {
    name: "resume-killed",
    argv: stage.options.commands.resume,
    reached: (outputs: readonly unknown[]) => outputs.length >= target,
    holdMs: missing > 1 ? 0 : Math.min(stage.perOutputMs / 2, 1000),
  };
  const { spawned } = stage.isPaced && missing > 1
    ? await startPaced(stage, run, PACED_FINENESS)
    : await runUntil(stage, run);
  if (spawned === null) return;
  await stage.concludeAttempt("resume-killed", before, spawned);
  await keepWhatIsFinished(stage);
}

/** What the killed recovery had finished must not be touched by the next one, either. */
async function keepWhatIsFinished(stage: Stage): Promise<void> {
  const { record } = stage;
  const { artifacts } = await stage.look();
  const old = new Set(record.finishedAtFault);
  const kept = record.artifactsAtFault.filter((artifact) => old.has(artifact.path));
  record.artifactsAtFault = [...kept, ...artifacts.filter((artifact) => !old.has(artifact.path))];
  const more = stage.disk.finished(artifacts).filter((path) => !old.has(path));
  record.finishedAtFault = [...record.finishedAtFault, ...more];
}

/**
 * Fault: a job that says SUCCESS and exits 0, and whose work is not there.
 *
 * @module
 */
import type { Artifact, FaultRecord, PhaseRecord, WorkerCue } from "../../lab/mod.ts";

/** What a hollow run leaves. */
export const HOLLOW_SHAPES = ["nothing", "empty", "last-empty", "last-half", "stale"] as const;

/** See {@linkcode HOLLOW_SHAPES}. */
export type HollowShape = typeof HOLLOW_SHAPES[number];

/** The worker's cue for a shape. */
export function hollowCue(shape: HollowShape): WorkerCue {
  switch (shape) {
    case "nothing":
      return "hollow";
    case "stale":
      return "none"; // A job that goes by what lies there is hollow by itself.
    case "empty":
      return "hollow-empty";
    case "last-empty":
      return "hollow-last";
    case "last-half":
      return "hollow-half";
  }
}

/** Age of the outputs of "last night" that a stale run finds. */
export const STALE_AGE_MS = 24 * 3_600_000;

/**
 * Puts outputs of an earlier run in place: whole by their looks, but of other content, and older
 * than the start of this run.
 *
 * @param wallMs The time now.
 */
export function plantStaleOutputs(paths: readonly string[], endMark: string, wallMs: number): void {
  const atSeconds = (wallMs - STALE_AGE_MS) / 1000;
  for (const path of paths) {
    Deno.writeTextFileSync(path, `what the run before this one found\n${endMark}\n`);
    Deno.utimeSync(path, atSeconds, atSeconds);
  }
}

/**
 * The evidence that a success is hollow: exit 0, and fewer whole outputs of this run than there
 * should be. Gives none when the job failed openly or did its work.
 */
export function hollowEvidence(
  phase: PhaseRecord,
  artifacts: readonly Artifact[],
  units: number,
): FaultRecord["evidence"] {
  const whole = artifacts.filter((artifact) => artifact.problems.length === 0).length;
  if (phase.exitCode !== 0 || whole >= units) return [];
  return [
    { what: "the job ended with exit code 0", value: phase.exitCode },
    {
      what: `and left ${whole} of ${units} outputs whole`,
      value: {
        found: artifacts.length,
        whole,
        empty: artifacts.filter((a) => a.bytes === 0).length,
      },
    },
  ];
}

/**
 * The plain rehearsal: the job is killed after k outputs, then its resume command runs.
 *
 * Variant `temp-file` (used by the sweep): it is killed while a temporary file lies beside the k
 * outputs, between its making and its rename. Variant `effect` (the sweep as well): it is killed
 * when an effect has happened whose output is not there yet.
 *
 * @module
 */
import {
  type ArtifactGlimpse,
  type FaultRecord,
  isKillProven,
  listArtifacts,
} from "../../lab/mod.ts";
import { EffectsAhead, isAhead } from "../effects_ahead.ts";
import type { Stage } from "../stage.ts";
import type { StartResult } from "../stage_types.ts";
import { runUntil } from "../strike.ts";
import { TempFiles } from "../temp_files.ts";
import { isStruck, noteNothingLeft } from "./_freeze.ts";
import type { Replay } from "./replay.ts";

/** A temporary file is there for a moment only, so a few copies are tried. */
const MOMENT_TRIES_MAX = 4;

/** Kill after k outputs, then resume. */
export const rehearsal: Replay = {
  id: "rehearsal",
  summary: "the job is killed half-way, then its resume command runs",
  variants: ["kill", "temp-file", "effect"],
  needs: () => null,
  async run(stage, variant) {
    if (variant === "temp-file") return await killInTempFile(stage);
    if (variant === "effect") return await killAfterEffect(stage);
    const start = await stage.startUntil(stage.killPoint);
    if (!await isStruck(stage, start)) return;
    await killAndResume(stage, start, []);
  },
};

async function killAndResume(
  stage: Stage,
  start: StartResult,
  evidence: FaultRecord["evidence"],
): Promise<void> {
  const kill = await stage.killStart(start);
  const { artifacts } = await stage.noteFaultState();
  if (!stage.isWorkLeft) return noteNothingLeft(stage);
  if (isKillProven(kill) !== true) return;
  stage.deliver([
    ...evidence,
    { what: "processes frozen, then ended", value: start.frozen.length },
    { what: "outputs there at that moment", value: artifacts.length },
    { what: "of them finished", value: stage.record.finishedAtFault.length },
  ]);
  await stage.resume();
}

/** Freezes the job while a temporary file and exactly k outputs are there. */
async function killInTempFile(stage: Stage): Promise<void> {
  const { control } = stage.options;
  const isPossible = control === null || control.hasTempFiles;
  const isCaught = isPossible && await killWhen(stage, () => {
    const temps = new TempFiles(stage);
    return (outputs) => {
      const [temp] = temps.list(outputs);
      return temp === undefined ? null : {
        what: "killed while this was not renamed yet",
        value: `${temp.path}, ${temp.bytes} bytes`,
      };
    };
  });
  if (isCaught) return;
  stage.record.notApplicable = "No temporary file could be caught beside the outputs when " +
    `${stage.killPoint} of them were there, so there was no moment between a file and its rename`;
}

/** Freezes the job while an effect is noted and its output is not there. */
async function killAfterEffect(stage: Stage): Promise<void> {
  const { control } = stage.options;
  const whole = {
    effects: control?.effectKeys.length ?? 0,
    outputs: control?.record.artifacts.length ?? 0,
  };
  const isPossible = control !== null && control.hasEffectsAhead;
  const isCaught = isPossible && await killWhen(stage, () => {
    const seen = new EffectsAhead(stage);
    return (outputs) => {
      const { effects } = seen;
      return isAhead({ effects, outputs: outputs.length }, whole)
        ? { what: "effects that had happened, one of them before its output", value: effects }
        : null;
    };
  });
  if (isCaught) return;
  stage.record.notApplicable = "No effect could be caught before its output when " +
    `${stage.killPoint} of the outputs were there, so there was no moment between the two`;
}

/** Looks for the evidence of a moment; `null` while it is not there. */
type Moment = (outputs: readonly ArtifactGlimpse[]) => FaultRecord["evidence"][number] | null;

/** Freezes the job in a moment while exactly k outputs are there, in a few tries. */
async function killWhen(stage: Stage, newMoment: () => Moment): Promise<boolean> {
  const { driver, commands } = stage.options;
  const wanted = stage.killPoint;
  for (let tries = 0; tries < MOMENT_TRIES_MAX && !driver.aborted; tries++) {
    const moment = newMoment();
    const start = await runUntil(stage, {
      name: "start",
      argv: commands.start,
      holdMs: 0,
      reached: (outputs) =>
        outputs.length > wanted || (outputs.length === wanted && moment(outputs) !== null),
    });
    const outputs = listArtifacts(stage.spec);
    const evidence = moment(outputs);
    if (evidence !== null && start.frozen.length > 0 && outputs.length === wanted) {
      await killAndResume(stage, start, [evidence]);
      return true;
    }
    await driver.reap(0);
    if (start.spawned !== null) await driver.finish(start.spawned);
    await stage.freshCopy();
  }
  return false;
}

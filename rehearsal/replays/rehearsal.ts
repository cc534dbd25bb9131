/**
 * The plain rehearsal: the job is killed after k outputs, then its resume command runs.
 *
 * Variant `temp-file` (used by the sweep): it is killed while a temporary file lies beside the k
 * outputs, between its making and its rename.
 *
 * @module
 */
import { isKillProven } from "../../lab/mod.ts";
import type { Stage } from "../stage.ts";
import type { StartResult } from "../stage_types.ts";
import { runUntil } from "../strike.ts";
import { type TempFile, TempFiles } from "../temp_files.ts";
import { isStruck, noteNothingLeft } from "./_freeze.ts";
import type { Replay } from "./replay.ts";

/** A temporary file is there for a moment only, so a few copies are tried. */
const TEMP_TRIES_MAX = 4;

/** Kill after k outputs, then resume. */
export const rehearsal: Replay = {
  id: "rehearsal",
  summary: "the job is killed half-way, then its resume command runs",
  variants: ["kill", "temp-file"],
  needs: () => null,
  async run(stage, variant) {
    if (variant === "temp-file") return await killInTempFile(stage);
    const start = await stage.startUntil(stage.killPoint);
    if (!await isStruck(stage, start)) return;
    await killAndResume(stage, start, null);
  },
};

async function killAndResume(
  stage: Stage,
  start: StartResult,
  temp: TempFile | null,
): Promise<void> {
  const kill = await stage.killStart(start);
  const { artifacts } = await stage.noteFaultState();
  if (!stage.isWorkLeft) return noteNothingLeft(stage);
  if (isKillProven(kill) !== true) return;
  const inTemp = temp === null ? [] : [{
    what: "killed while this was not renamed yet",
    value: `${temp.path}, ${temp.bytes} bytes`,
  }];
  stage.deliver([
    ...inTemp,
    { what: "processes frozen, then ended", value: start.frozen.length },
    { what: "outputs there at that moment", value: artifacts.length },
    { what: "of them finished", value: stage.record.finishedAtFault.length },
  ]);
  await stage.resume();
}

/** Freezes the job while a temporary file and exactly k outputs are there. */
async function killInTempFile(stage: Stage): Promise<void> {
  const { control, driver, commands } = stage.options;
  const wanted = stage.killPoint;
  if (control !== null && !control.hasTempFiles) return noteNoTempFile(stage, wanted);
  for (let tries = 0; tries < TEMP_TRIES_MAX && !driver.aborted; tries++) {
    const temps = new TempFiles(stage);
    const start = await runUntil(stage, {
      name: "start",
      argv: commands.start,
      holdMs: 0,
      reached: (outputs) =>
        outputs.length > wanted || (outputs.length === wanted && temps.list(outputs).length > 0),
    });
    const [temp] = temps.list();
    const isCaught = temp !== undefined && start.frozen.length > 0 &&
      temps.outputs().length === wanted;
    if (isCaught) return await killAndResume(stage, start, temp);
    await driver.reap(0);
    if (start.spawned !== null) await driver.finish(start.spawned);
    await stage.freshCopy();
  }
  noteNoTempFile(stage, wanted);
}

function noteNoTempFile(stage: Stage, wanted: number): void {
  stage.record.notApplicable = "No temporary file could be caught beside the outputs when " +
    `${wanted} of them were there, so there was no moment between a file and its rename`;
}

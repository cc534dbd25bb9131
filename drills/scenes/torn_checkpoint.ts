/**
 * 03: a checkpoint of which only part reached the disk.
 *
 * @module
 */
import { relative } from "@std/path";
import { CHECKPOINT_NAME, END_MARK, hashFile, OUTPUTS_GLOB } from "../../lab/mod.ts";
import { artifactDisk, mendCheckpoint, type MendReport } from "../../repairs/mod.ts";
import { TEAR_SHAPES, tearCheckpoint, type TearShape } from "../faults/tear_checkpoint.ts";
import type { Scene } from "../scene.ts";
import type { DrillStage } from "../stage.ts";

/** See the module's text. */
export const tornCheckpoint: Scene = {
  id: "03-torn-checkpoint",
  contract: { checkpoint: true },

  async fail(stage) {
    await stage.runToHold(stage.parameter("afterUnits"));
    if (stage.armed) {
      const torn = tearCheckpoint(stage.path(CHECKPOINT_NAME), shapeOf(stage));
      stage.noteFaultState();
      stage.deliver(torn.evidence);
    } else stage.noteFaultState();
  },

  async naive(stage) {
    const attempt = await stage.attempt(stage.plan(), { argv: stage.naiveArgv });
    const isDamaged = attempt.checkpointAfter?.parses === false;
    stage.find(
      "checkpoint-left-damaged",
      !isDamaged,
      isDamaged
        ? `The recovery says SUCCESS over a checkpoint that no longer reads: ` +
          `${attempt.checkpointAfter?.problem}`
        : "The checkpoint reads whole after the recovery",
    );
  },

  async repair(stage) {
    await mend(stage);
    await stage.attempt(stage.plan());
  },

  async control(stage) {
    await stage.runToHold(stage.parameter("afterUnits"));
    stage.noteFaultState();
    const before = snapshot(stage);
    const report = await mend(stage);
    const wasLeft = report.isFine && !report.isWritten && snapshot(stage) === before;
    stage.find(
      "left-alone",
      wasLeft,
      wasLeft
        ? "The repair found the checkpoint whole and in step, and touched no file"
        : "The repair changed files although the checkpoint was whole and in step",
    );
    await stage.attempt(stage.plan());
  },
};

/** Mends the checkpoint beside the disk, the way the repair's command does. */
async function mend(stage: DrillStage): Promise<MendReport> {
  const report = await mendCheckpoint({
    path: stage.path(CHECKPOINT_NAME),
    cwd: stage.workspace,
    disk: artifactDisk({
      cwd: stage.workspace,
      globs: [OUTPUTS_GLOB],
      unitName: "name",
      endsWith: END_MARK,
    }),
    quietMs: stage.limits.quietMs,
    clock: stage.options.clock,
  });
  const { base, damage, removed, added, broken, setAside } = report;
  stage.options.journal.add("mended", {
    base,
    damage,
    removed,
    added,
    broken,
    setAside: setAside.map((path) => relative(stage.workspace, path)),
  });
  return report;
}

/** Names, content and times of everything in the workspace. */
function snapshot(stage: DrillStage): string {
  return ["", "out"].flatMap((folder) =>
    [...Deno.readDirSync(stage.path(folder))].filter((entry) => entry.isFile).map(({ name }) => {
      const path = stage.path(`${folder}/${name}`);
      return `${path} ${hashFile(path).sha256} ${Deno.statSync(path).mtime?.getTime()}`;
    })
  ).sort().join("\n");
}

function shapeOf(stage: DrillStage): TearShape {
  const shape = TEAR_SHAPES.find((each) => each === stage.variant);
  if (shape === undefined) throw new RangeError(`Unknown variant "${stage.variant}"`);
  return shape;
}

/**
 * 03: a checkpoint of which only part reached the disk.
 *
 * @module
 */
import { CHECKPOINT_NAME } from "../../lab/mod.ts";
import { TEAR_SHAPES, tearCheckpoint, type TearShape } from "../faults/tear_checkpoint.ts";
import type { Scene } from "../scene.ts";
import type { DrillStage } from "../stage.ts";
import { mend, mendNothing } from "./_mend.ts";

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

  control: mendNothing,
};

function shapeOf(stage: DrillStage): TearShape {
  const shape = TEAR_SHAPES.find((each) => each === stage.variant);
  if (shape === undefined) throw new RangeError(`Unknown variant "${stage.variant}"`);
  return shape;
}

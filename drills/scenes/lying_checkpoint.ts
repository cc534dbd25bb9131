/**
 * 04: a checkpoint that reads well and is not true.
 *
 * @module
 */
import { CHECKPOINT_NAME, type FaultRecord } from "../../lab/mod.ts";
import { forgetLast, halveClaimed, removeClaimed } from "../faults/lie_in_checkpoint.ts";
import type { Scene } from "../scene.ts";
import type { DrillStage } from "../stage.ts";
import { mend, mendNothing } from "./_mend.ts";

/** See the module's text. */
export const lyingCheckpoint: Scene = {
  id: "04-lying-checkpoint",
  contract: { checkpoint: true },

  async fail(stage) {
    await stage.runToHold(stage.parameter("afterUnits"));
    const evidence = stage.armed ? lie(stage) : [];
    stage.noteFaultState();
    if (stage.armed) stage.deliver(evidence);
  },

  async naive(stage) {
    await stage.attempt(stage.plan(), { argv: stage.naiveArgv });
  },

  async repair(stage) {
    await mend(stage);
    await stage.attempt(stage.plan());
  },

  control: mendNothing,
};

function lie(stage: DrillStage): FaultRecord["evidence"] {
  const unit = stage.units[stage.parameter("liesAboutUnit") - 1] ?? "";
  const artifact = stage.path(`out/${unit}.txt`);
  switch (stage.variant) {
    case "claims-more":
      return removeClaimed(artifact);
    case "claims-half-written":
      return halveClaimed(artifact);
    case "claims-less":
      return forgetLast(stage.path(CHECKPOINT_NAME), stage.parameter("forgets"));
    default:
      throw new RangeError(`Unknown variant "${stage.variant}"`);
  }
}

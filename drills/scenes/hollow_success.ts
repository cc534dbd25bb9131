/**
 * 06: a job that says SUCCESS and leaves nothing.
 *
 * @module
 */
import { END_MARK, OUTPUTS_GLOB, type WorkerPlan } from "../../lab/mod.ts";
import { proveOrRedo, type ProveResult } from "../../repairs/mod.ts";
import {
  HOLLOW_SHAPES,
  hollowCue,
  hollowEvidence,
  type HollowShape,
  plantStaleOutputs,
} from "../faults/hollow_success.ts";
import type { Scene } from "../scene.ts";
import type { DrillStage } from "../stage.ts";

/** See the module's text. */
export const hollowSuccess: Scene = {
  id: "06-hollow-success",
  contract: {},

  async fail(stage) {
    if (stage.armed && shapeOf(stage) === "stale") {
      const paths = stage.units.map((unit) => stage.path(`out/${unit}.txt`));
      plantStaleOutputs(paths, END_MARK, stage.options.clock.wallMs());
    }
    // In the repaired half it is the repair that starts the job; see below.
    if (stage.options.mode === "broken") await runHollow(stage);
  },

  async naive(stage) {
    const exit = String(stage.record.start?.exitCode ?? "");
    Deno.writeTextFileSync(stage.path("../last-exit"), `${exit}\n`);
    await stage.attempt(planOf(stage), { argv: stage.naiveArgv });
  },

  async repair(stage) {
    await prove(stage);
  },

  async control(stage) {
    const { attempts, setAside, putBack } = await prove(stage);
    const wasLeft = attempts === 1 && setAside.length === 0 && putBack.length === 0;
    stage.find(
      "left-alone",
      wasLeft,
      wasLeft
        ? "The repair found all outputs good: no second start, nothing set aside"
        : "The repair started a job again that had done its work, or moved its outputs",
    );
  },
};

/** The run that says SUCCESS. */
async function runHollow(stage: DrillStage): Promise<boolean> {
  const { spawned } = await stage.run("start", planOf(stage));
  await stage.endStart(spawned);
  const look = stage.noteFaultState();
  const { start } = stage.record;
  if (stage.armed && start !== null) {
    stage.deliver(hollowEvidence(start, look.artifacts, stage.units.length));
  }
  return start?.exitCode === 0;
}

/** Runs the job under the repair, which believes the outputs and not the exit code. */
async function prove(stage: DrillStage): Promise<ProveResult> {
  const result = await proveOrRedo({
    rules: {
      expect: [{ glob: OUTPUTS_GLOB, count: stage.units.length }],
      endsWith: END_MARK,
      fresh: true,
      cwd: stage.workspace,
    },
    retries: 1,
    clock: stage.options.clock,
    run: async ({ number }) => {
      if (number === 1) return await runHollow(stage);
      const { phase } = await stage.attempt(planOf(stage));
      return phase.exitCode === 0;
    },
  });
  const { attempts, missing, setAside } = result;
  stage.options.journal.add("evidence", { attempts, missing, setAside: setAside.length });
  return result;
}

/** The job is hollow once. Without a checkpoint it goes by what lies there. */
function planOf(stage: DrillStage): WorkerPlan {
  const shape = shapeOf(stage);
  return stage.plan({
    cue: stage.armed ? hollowCue(shape) : "none",
    cueAt: shape.startsWith("last-") ? stage.units.length : 1,
    cueOnce: "../hollow-once",
    load: "disk",
  });
}

function shapeOf(stage: DrillStage): HollowShape {
  const shape = HOLLOW_SHAPES.find((each) => each === stage.variant);
  if (shape === undefined) throw new RangeError(`Unknown variant "${stage.variant}"`);
  return shape;
}

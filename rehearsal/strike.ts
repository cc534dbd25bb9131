/**
 * Running a command until a moment, and freezing it there.
 *
 * @module
 */
import {
  type ArtifactGlimpse,
  isStopped,
  listArtifacts,
  sendSignal,
  waitUntil,
} from "../lab/mod.ts";
import { startPaced, stoppedAtFirst } from "./pacer.ts";
import type { Stage } from "./stage.ts";
import type { StartResult } from "./stage_types.ts";

/** A condition on the outputs that are there. */
export type Reached = (outputs: readonly ArtifactGlimpse[]) => boolean;

/** A command that is run until a condition holds. */
export interface RunUntil {
  name: string;
  argv: string[];
  reached: Reached;
  /** Lets the command run this long before the first look. */
  holdMs: number;
}

const PACED_ATTEMPTS_MAX = 12;
/** A command that is to stop itself has done so after this time, on the busiest of machines. */
const STOP_LIMIT_MS = 5000;

/** Runs a command until its condition holds, and freezes its group at that moment. */
export async function runUntil(
  stage: Stage,
  { name, argv, reached, holdMs }: RunUntil,
): Promise<StartResult> {
  const { driver, clock } = stage.options;
  // The time to hold counts from the first instruction, and not from our first look.
  const spawned = await stage.begin(name, holdMs > 0 ? stoppedAtFirst(argv) : argv);
  if (!("pid" in spawned)) {
    if (name === "start") stage.record.start = spawned;
    return { spawned: null, ending: "not-started", frozen: [] };
  }
  if (holdMs > 0) {
    await waitUntil(async () => {
      const row = (await driver.alive()).find((each) => each.pid === spawned.pid);
      return row === undefined || isStopped(row);
    }, { limitMs: STOP_LIMIT_MS, clock });
    await sendSignal("CONT", [-spawned.pid]);
    await clock.sleep(holdMs);
  }
  const ending = await stage.watch(spawned, reached);
  if (ending !== "until" || spawned.ended !== null) return { spawned, ending, frozen: [] };
  await sendSignal("STOP", [-spawned.pid]);
  return { spawned, ending, frozen: await driver.alive() };
}

/** Tries in small steps and fresh copies until the job is stopped before it has made everything. */
export async function startInSteps(stage: Stage, run: RunUntil): Promise<StartResult> {
  const { driver, journal } = stage.options;
  const { count } = stage.contract.artifacts;
  for (let attempt = 0;; attempt++) {
    const start = await startPaced(stage, run, attempt);
    const made = listArtifacts(stage.spec).length;
    const isMissed = start.ending === "ended" || (count !== undefined && made >= count);
    if (!isMissed || start.spawned === null || driver.aborted) return start;
    if (attempt + 1 === PACED_ATTEMPTS_MAX) {
      stage.record.findings.push({
        id: "kill-point-caught",
        ok: null,
        text: `The job made all its ${made} outputs before it could be stopped, in ` +
          `${PACED_ATTEMPTS_MAX} tries. Let each output take 10 ms or more (for example ` +
          "'sleep 0.05'), or kill earlier with --kill-after",
      });
      return start;
    }
    journal.add("kill-point-missed", { attempt, made });
    await driver.reap(0);
    await driver.finish(start.spawned);
    await stage.freshCopy();
  }
}

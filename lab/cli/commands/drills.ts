/**
 * `failure-lab drills [ID…]`.
 *
 * @module
 */
import { findDrills, loadDrills, type Mode, MODES, planRuns } from "../../../drills/mod.ts";
import { drawSeed } from "../../clock.ts";
import type { Command, CommandContext } from "../command.ts";
import {
  ALL_VARIANTS_FLAG,
  HALF_FLAG,
  LAB_FLAGS,
  REPEAT_FLAG,
  REPORT_FLAGS,
  SEED_FLAG,
} from "../flags.ts";
import { runDrillCommand } from "./_drill_runs.ts";

function modesOf({ flags }: CommandContext): Mode[] {
  const asked = flags.string("half");
  if (asked === undefined) return ["broken", "repaired"];
  return MODES.filter((mode) => mode === asked);
}

/** Runs drills. */
export const command: Command = {
  name: "drills",
  summary: "Run drills: a failure, the recovery that goes wrong, and the repair",
  usage: "drills [ID…] [flags]",
  description:
    "Runs both halves of the drills that you name, or of all. A broken half is meant to " +
    "fail, each for its own reason; a repaired half must finish every unit exactly once. Exit 0 " +
    "means that every half gave what the answer key says, for the reason that it says; 1 that one " +
    "did not. The shape of each failure is drawn by the seed, which is printed.",
  flags: [HALF_FLAG, REPEAT_FLAG, SEED_FLAG, ALL_VARIANTS_FLAG, ...REPORT_FLAGS, ...LAB_FLAGS],
  positionals: [{
    name: "ID",
    summary: "drills to run: 01, hung-process or 01-hung-process; without any, all of them",
    repeatable: true,
  }],
  examples: [
    { line: "failure-lab drills", does: "All drills, both halves" },
    { line: "failure-lab drills 03 --all-variants", does: "Every way to tear a checkpoint" },
    { line: "failure-lab drills 01 --repeat 20 --json", does: "Twenty times, as JSON" },
    { line: "failure-lab drills 05 --half=repaired --keep", does: "Look at the lab afterwards" },
  ],
  async run(context) {
    const { flags, positionals } = context;
    const entries = findDrills(loadDrills(), positionals);
    const isAll = flags.boolean("all-variants");
    const asked = flags.integer("seed");
    const seed = asked ?? drawSeed();
    const runs = planRuns(entries, {
      modes: modesOf(context),
      repeat: flags.integer("repeat") ?? 1,
      variants: isAll ? "all" : seed,
    });
    const rerun = asked !== undefined || isAll ? context.rerun : `${context.rerun} --seed=${seed}`;
    return await runDrillCommand(context, { command: "drills", runs, seed, rerun });
  },
};

/**
 * `failure-lab demo`: three failures, each with a recovery that goes wrong and one that works.
 *
 * @module
 */
import { findDrills, loadDrills, planRuns } from "../../../drills/mod.ts";
import type { Command } from "../command.ts";
import { LAB_FLAGS, REPORT_FLAGS } from "../flags.ts";
import { runDrillCommand } from "./_drill_runs.ts";

const DRILLS = ["01-hung-process", "03-torn-checkpoint", "06-hollow-success"];

/** Shows three failures and their recovery. */
export const command: Command = {
  name: "demo",
  summary: "Watch three failures and their recovery, in a disposable lab (a few seconds)",
  usage: "demo [flags]",
  description: "Runs both halves of three drills: a job that hangs, a torn checkpoint, a success " +
    "with nothing behind it. The broken half shows how an obvious recovery goes wrong, and is " +
    "meant to fail; the repaired half finishes the work. Exit 0 means that every half gave what " +
    "the answer key says; 1 that one did not.",
  flags: [...REPORT_FLAGS, ...LAB_FLAGS],
  positionals: [],
  examples: [
    { line: "failure-lab demo", does: "The table, and where the report is" },
    { line: "failure-lab demo --report out", does: "The same, with the report in ./out" },
  ],
  run(context) {
    const runs = planRuns(findDrills(loadDrills(), DRILLS), {
      modes: ["broken", "repaired"],
      variants: "first",
    });
    return runDrillCommand(context, { command: "demo", runs, seed: 0, rerun: context.rerun });
  },
};

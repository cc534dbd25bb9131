/**
 * `failure-lab sweep`: the job is killed at one point after the other.
 *
 * @module
 */
import { planSweep } from "../../../rehearsal/mod.ts";
import type { RunSet } from "../../record.ts";
import { VERDICT_PRECEDENCE } from "../../verdict.ts";
import type { Command } from "../command.ts";
import {
  CONTRACT_FLAGS,
  LAB_FLAGS,
  POINTS_FLAG,
  PROJECT_FLAGS,
  REPORT_FLAGS,
  SEED_FLAG,
} from "../flags.ts";
import { rehearseAndReport } from "../rehearsal_session.ts";

/** Kills the job after each output, and between temporary files and their rename. */
export const command: Command = {
  name: "sweep",
  summary: "Kill your own job at one point after the other, and name the worst",
  usage: "sweep [--points N] [--project DIR] [--config failure-lab.json] [flags]",
  description:
    "Kills the job after output 1, 2, 3 and so on, while the temporary file of an output is not " +
    "renamed yet, and between an effect and its output, where such a moment can be caught. Each kill happens in a copy of its own, several " +
    "at the same time, and is followed by the resume command, once more by the resume command, " +
    "which must find nothing to do, and by the same grading as in a rehearsal.",
  flags: [
    POINTS_FLAG,
    {
      kind: "integer",
      name: "lanes",
      min: 1,
      max: 64,
      summary: "Run so many copies at the same time; 1 for a job that cannot run beside itself",
      defaultText: "one for each core",
    },
    ...PROJECT_FLAGS,
    ...CONTRACT_FLAGS,
    ...REPORT_FLAGS,
    ...LAB_FLAGS,
    SEED_FLAG,
  ],
  positionals: [],
  examples: [
    { line: "failure-lab sweep", does: "Every kill point, with the contract in failure-lab.json" },
    { line: "failure-lab sweep --points 4", does: "Four of them, spread over the run" },
    { line: "failure-lab sweep --lanes 1", does: "A job with a port or a database of its own" },
  ],
  async run(context) {
    const points = context.flags.integer("points") ?? null;
    const lanes = context.flags.integer("lanes") ?? navigator.hardwareConcurrency;
    return await rehearseAndReport(
      context,
      "sweep",
      ({ contract }) => planSweep(contract, points),
      { lanes, notesOf: (runSet) => [worstOf(runSet)] },
    );
  },
};

/** Where a kill came, for a sentence. */
const WHERE: Readonly<Record<string, string>> = {
  "temp-file": " inside a temporary file,",
  "effect": " between an effect and its output,",
};

/** Names the point at which the recovery did worst. */
export function worstOf({ runs }: Pick<RunSet, "runs">): string {
  const rank = ({ record, grade }: RunSet["runs"][number]) => {
    const whole = record.artifacts.filter((artifact) => artifact.problems.length === 0).length;
    const lost = (record.contract.count ?? whole) - whole;
    return VERDICT_PRECEDENCE.indexOf(grade.verdict) * 1e9 - lost;
  };
  const applied = runs.filter((run) => run.grade.verdict !== "not-applicable");
  const worst = applied.toSorted((a, b) => rank(a) - rank(b))[0];
  if (worst === undefined) return "No kill point could be tried.";
  if (worst.grade.verdict === "pass") {
    return `The recovery is right after a kill at each of ${applied.length} points.`;
  }
  const where = WHERE[worst.record.fault.variant ?? ""] ?? "";
  return `The worst point: killed${where} ${worst.record.options.point ?? "half-way"}: ` +
    worst.grade.reason;
}

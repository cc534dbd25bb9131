/**
 * `failure-lab rehearse`: one kill and one resume of the user's own job, in a copy.
 *
 * @module
 */
import type { Command } from "../command.ts";
import { CONTRACT_FLAGS, LAB_FLAGS, PROJECT_FLAGS, REPORT_FLAGS, SEED_FLAG } from "../flags.ts";
import { rehearseAndReport } from "../rehearsal_session.ts";

/** Kills the job half-way in a copy of the project and grades its resume command. */
export const command: Command = {
  name: "rehearse",
  summary: "Kill your own job half-way, in a copy, and see whether it recovers",
  usage: "rehearse [--project DIR] [--config failure-lab.json] [flags]",
  description:
    "Copies the project, runs the job once undisturbed, runs it again and kills it after some " +
    "outputs, runs its resume command, and grades what is on disk. The project itself is not " +
    "touched: it is watched, and any change fails the run.",
  flags: [...PROJECT_FLAGS, ...CONTRACT_FLAGS, ...REPORT_FLAGS, ...LAB_FLAGS, SEED_FLAG],
  positionals: [],
  examples: [
    { line: "failure-lab rehearse", does: "With the contract in failure-lab.json" },
    {
      line: "failure-lab rehearse --start './run.sh' --resume './run.sh' --artifacts 'out/*.md' " +
        "--count 6",
      does: "With the contract on the command line",
    },
  ],
  async run(context) {
    return await rehearseAndReport(context, "rehearse", ({ contract }) => [{
      subject: contract.startFails === true ? "own-failure" : "rehearsal",
      variant: null,
      armed: true,
      killAfterArtifacts: null,
      killResume: false,
      resumeTwice: false,
    }]);
  },
};

/**
 * `failure-lab replay [ID…]`: the failures, done to the user's own job in a copy.
 *
 * @module
 */
import { planReplays } from "../../../rehearsal/mod.ts";
import type { Command, CommandContext } from "../command.ts";
import { UsageError } from "../errors.ts";
import { CONTRACT_FLAGS, LAB_FLAGS, PROJECT_FLAGS, REPLAY_FLAGS, REPORT_FLAGS } from "../flags.ts";
import { rehearseAndReport } from "../rehearsal_session.ts";

/** Does each of the eleven failures to the job and grades its resume command. */
export const command: Command = {
  name: "replay",
  summary: "Do the eleven failures to your own job, in a copy, and grade its recovery",
  usage: "replay [ID…] [--project DIR] [--config failure-lab.json] [flags]",
  description:
    "Copies the project, runs the job once undisturbed, then does each failure in a fresh copy, " +
    "runs the resume command, and grades what is on disk, never what the job says. After a good " +
    "recovery the resume command runs once more and must find nothing to do. A failure that needs a " +
    "declaration which the contract lacks says which one, and is not counted as a pass. The shape of " +
    "each failure is drawn by the seed, which is printed.",
  flags: [
    ...REPLAY_FLAGS,
    {
      kind: "boolean",
      name: "disarmed",
      summary: "Do everything but the failure; the verdict must then be UNPROVEN",
    },
    ...PROJECT_FLAGS,
    ...CONTRACT_FLAGS,
    ...REPORT_FLAGS,
    ...LAB_FLAGS,
  ],
  positionals: [{
    name: "ID",
    summary: "failures to do: orphaned-children, 02-orphaned-children or 02; without any, all",
    repeatable: true,
  }],
  examples: [
    { line: "failure-lab replay", does: "All failures, with the contract in failure-lab.json" },
    {
      line: "failure-lab replay orphaned-children --variant overlap",
      does: "The resume starts while an orphan of the killed run still writes",
    },
    {
      line: "failure-lab replay torn-checkpoint --all-variants --kill-resume",
      does: "Every way to tear the checkpoint, and the resume is killed half-way, too",
    },
  ],
  async run(context) {
    const { flags, positionals } = context;
    refuseBoth(context, "variant", "all-variants");
    return await rehearseAndReport(
      context,
      "replay",
      ({ contract }, seed) =>
        planReplays(contract, positionals, {
          seed,
          variant: flags.string("variant") ?? null,
          allVariants: flags.boolean("all-variants"),
          killResume: flags.boolean("kill-resume"),
          armed: !flags.boolean("disarmed"),
        }),
    );
  },
};

function refuseBoth({ flags }: CommandContext, one: string, other: string): void {
  if (!flags.given(one) || !flags.given(other)) return;
  throw new UsageError(`--${one} and --${other} cannot both be given: choose one of them.`);
}

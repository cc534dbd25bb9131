/**
 * The job's own failure: a start that fails by itself (it dies, hangs, leaves half a file, leaves
 * writers behind, or says that all is well and is not), and then the resume command.
 *
 * Nothing is done to the job from outside, so the proof is what the lab sees of the failure.
 *
 * @module
 */
import { endingOf, type FaultRecord } from "../../lab/mod.ts";
import type { Stage } from "../stage.ts";
import type { Replay } from "./replay.ts";

/** Let `start` fail by itself, then resume. */
export const ownFailure: Replay = {
  id: "own-failure",
  summary: "the start command fails by itself, then the resume command runs",
  variants: ["as-is"],
  needs: (contract) =>
    contract.startFails === true ? null : 'The contract does not say that "start" fails by ' +
      'itself. Add "startFails": true when it does',
  async run(stage) {
    const spawned = await stage.begin("start", stage.options.commands.start);
    const isStarted = "pid" in spawned;
    const ending = isStarted ? await stage.watch(spawned) : "not-started";
    const leftovers = isStarted && spawned.ended !== null
      ? (await stage.options.driver.alive()).map((row) => row.name)
      : [];
    if (isStarted) await stage.killStart({ spawned, ending, frozen: [] });
    else stage.record.start = spawned;
    await stage.noteFaultState();
    const evidence = evidenceOf(stage, leftovers);
    if (evidence.length > 0) stage.deliver(evidence);
    await stage.resume();
  },
};

/** What shows that the start failed; empty when it did all its work and left nobody behind. */
function evidenceOf(stage: Stage, leftovers: readonly string[]): FaultRecord["evidence"] {
  const { start, artifactsAtFault, checkpointAtFault, effectsAtFault } = stage.record;
  const { count } = stage.contract.artifacts;
  const evidence: FaultRecord["evidence"] = [];
  if (start !== null && (start.exitCode !== 0 || start.limitHit !== null)) {
    evidence.push({ what: `the start ${endingOf(start)}`, value: start.signal ?? start.exitCode });
  }
  const whole = artifactsAtFault.filter((artifact) => artifact.problems.length === 0).length;
  if (count !== undefined && whole !== count) {
    evidence.push({ what: `${whole} of ${count} outputs are whole`, value: whole });
  }
  if (leftovers.length > 0) {
    evidence.push({ what: "processes left alive after its end", value: [...leftovers] });
  }
  if (checkpointAtFault?.parses === false) {
    evidence.push({ what: "the checkpoint is damaged", value: checkpointAtFault.problem });
  }
  const doubled = effectsAtFault?.doubled[0];
  if (doubled !== undefined) {
    evidence.push({ what: `the effect "${doubled.key}" happened twice`, value: doubled.count });
  }
  const missing = effectsAtFault?.missing[0];
  if (missing !== undefined) {
    evidence.push({ what: "an effect never happened", value: missing });
  }
  return evidence;
}

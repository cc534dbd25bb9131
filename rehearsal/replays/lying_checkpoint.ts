/**
 * lying-checkpoint: the checkpoint claims more than the disk holds.
 *
 * The job is killed, and one output that its checkpoint claims is removed: the oldest one, or the
 * newest (`ahead`: the checkpoint was saved before the work was), or it is cut in half (`short`).
 * The claim and the absent file are the proof.
 *
 * @module
 */
import type { Artifact, CheckpointRecord, FaultRecord } from "../../lab/mod.ts";
import type { Stage } from "../stage.ts";
import { checkpointNeeds, killWithCheckpoint, noteNoCheckpoint } from "./_checkpoint.ts";
import type { Replay } from "./replay.ts";

/** Kill the job and remove an output that its checkpoint claims. */
export const lyingCheckpoint: Replay = {
  id: "lying-checkpoint",
  summary: "the checkpoint claims an output that the disk does not hold",
  variants: ["absent", "ahead", "short"],
  needs: checkpointNeeds,
  async run(stage, variant) {
    const killed = await killWithCheckpoint(stage, Math.max(1, stage.killPoint));
    if (killed === null) return;
    const { checkpoint, look } = killed;
    if (checkpoint.claims === null) {
      stage.record.notApplicable = `Nothing in "${checkpoint.path}" says which units are done` +
        (checkpoint.problem === null ? "" : ` (${checkpoint.problem})`) +
        `. Say where they stand: "checkpoint": {"path": "${checkpoint.path}", "doneAt": "/done"}`;
      return;
    }
    const claimed = claimedOutputs(look.artifacts, checkpoint);
    const victim = variant === "ahead" ? claimed.at(-1) : claimed[0];
    if (victim === undefined) {
      return noteNoCheckpoint(stage, `"${checkpoint.path}" claims none of the outputs yet`);
    }
    const unclaimed = unclaimedByCount(look.artifacts, checkpoint);
    for (const { path } of unclaimed) Deno.removeSync(stage.path(path));
    const evidence = variant === "short" ? cut(stage, victim) : remove(stage, victim);
    await stage.noteFaultState();
    // Whatever the contract can see of its content: it is not what the job had finished.
    stage.disown(victim.path);
    if (evidence.length === 0) return;
    stage.deliver([...evidence, ...claimEvidence(stage)]);
    const { artifactsAfter } = await stage.resume();
    if (variant === "short") noteStillCut(stage, victim, artifactsAfter);
  },
};

/** Nobody but the lab knows better than any content check that this one is half. */
function noteStillCut(stage: Stage, victim: Artifact, after: readonly Artifact[]): void {
  const hashIn = (list: readonly Artifact[]) =>
    list.find((artifact) => artifact.path === victim.path)?.sha256;
  const cutSha256 = hashIn(stage.record.artifactsAtFault);
  if (cutSha256 === undefined || hashIn(after) !== cutSha256) return;
  stage.record.findings.push({
    id: "cut-output-mended",
    ok: false,
    text: `"${victim.path}" was cut to half its length, and the recovery left it so`,
  });
}

/** Whole outputs that the checkpoint claims, oldest first. */
function claimedOutputs(
  artifacts: readonly Artifact[],
  checkpoint: CheckpointRecord,
): Artifact[] {
  const unclaimed = new Set(
    isByCount(checkpoint)
      ? unclaimedByCount(artifacts, checkpoint).map((artifact) => artifact.path)
      : checkpoint.unclaimedPresent,
  );
  if (checkpoint.claims === 0) return [];
  return byAge(artifacts).filter((artifact) => !unclaimed.has(artifact.path));
}

/** A checkpoint that only counts claims no output by name: the newest ones are the unclaimed. */
function unclaimedByCount(
  artifacts: readonly Artifact[],
  checkpoint: CheckpointRecord,
): Artifact[] {
  const whole = byAge(artifacts);
  return isByCount(checkpoint) ? whole.slice(Math.min(whole.length, checkpoint.claims ?? 0)) : [];
}

function byAge(artifacts: readonly Artifact[]): Artifact[] {
  return artifacts.filter((artifact) => artifact.problems.length === 0)
    .toSorted((a, b) => a.mtimeMs - b.mtimeMs || (a.path < b.path ? -1 : 1));
}

function isByCount(checkpoint: CheckpointRecord): boolean {
  return checkpoint.comparedBy !== "names";
}

function remove(stage: Stage, victim: Artifact): FaultRecord["evidence"] {
  Deno.removeSync(stage.path(victim.path));
  return exists(stage.path(victim.path))
    ? []
    : [{ what: "claimed by the checkpoint, and not there", value: victim.path }];
}

function cut(stage: Stage, victim: Artifact): FaultRecord["evidence"] {
  const path = stage.path(victim.path);
  const bytes = Math.floor(victim.bytes / 2);
  Deno.truncateSync(path, bytes);
  const now = Deno.statSync(path).size;
  return now === victim.bytes ? [] : [{
    what: "claimed by the checkpoint, and cut in half",
    value: `${victim.path}: ${now} of ${victim.bytes} bytes`,
  }];
}

function exists(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch {
    return false;
  }
}

function claimEvidence({ record }: Stage): FaultRecord["evidence"] {
  const claims = record.checkpointAtFault?.claims ?? null;
  return [{ what: "units that the checkpoint claims", value: claims }];
}

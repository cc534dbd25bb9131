/**
 * What the replays that damage a checkpoint share.
 *
 * @module
 */
import { type CheckpointRecord, isKillProven, type KillRecord } from "../../lab/mod.ts";
import type { Contract } from "../contract.ts";
import type { DiskLook, Stage } from "../stage.ts";
import { isStruck } from "./_freeze.ts";

/** What to add to a contract that declares no checkpoint. */
export function checkpointNeeds(contract: Contract): string | null {
  return contract.checkpoint === undefined
    ? "The contract does not say where the job notes what it has done. Add it: " +
      '"checkpoint": {"path": "state.json"}'
    : null;
}

/** A job that was killed, with the checkpoint that it left. */
export interface Killed {
  kill: KillRecord;
  /** The disk right after the kill. */
  look: DiskLook;
  checkpoint: CheckpointRecord;
  /** Where the checkpoint is. */
  path: string;
}

/**
 * Kills the job after so many outputs (SIGKILL: a checkpoint that the job tidies up on TERM is not
 * the one that a crash leaves) and reads the checkpoint that it left. Gives `null`, with a finding
 * that says why, when there is nothing to damage.
 */
export async function killWithCheckpoint(stage: Stage, outputs: number): Promise<Killed | null> {
  const start = await stage.startUntil(outputs);
  if (!await isStruck(stage, start)) return null;
  const kill = await stage.killStart(start, { graceMs: 0 });
  const look = await stage.noteFaultState();
  const { checkpoint } = look;
  if (checkpoint === null || isKillProven(kill) !== true) return null;
  const path = stage.path(checkpoint.path);
  const isFile = checkpoint.present && (await Deno.stat(path)).isFile;
  if (isFile) return { kill, look, checkpoint, path };
  noteNoCheckpoint(
    stage,
    checkpoint.present
      ? `"${checkpoint.path}" is not a file`
      : `there is no "${checkpoint.path}" after ${look.artifacts.length} output(s)`,
  );
  return null;
}

/** Says why there was no checkpoint to damage. */
export function noteNoCheckpoint(stage: Stage, why: string): void {
  stage.record.findings.push({
    id: "checkpoint-there",
    ok: null,
    text: `There was no checkpoint to damage: ${why}. Try a later moment with --kill-after`,
  });
}

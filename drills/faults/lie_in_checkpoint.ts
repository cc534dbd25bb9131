/**
 * Fault: a checkpoint that reads well and is not true.
 *
 * @module
 */
import { type FaultRecord, hashFile } from "../../lab/mod.ts";

/** In which way the checkpoint lies. */
export const LIES = ["claims-more", "claims-less", "claims-half-written"] as const;

/** See {@linkcode LIES}. */
export type Lie = typeof LIES[number];

/** Removes an output that the checkpoint claims. */
export function removeClaimed(artifact: string): FaultRecord["evidence"] {
  const { sha256, bytes } = hashFile(artifact);
  Deno.removeSync(artifact);
  return [
    { what: "an output that the checkpoint claims was removed", value: { bytes, sha256 } },
    { what: "and is not there", value: !exists(artifact) },
  ];
}

/** Cuts an output that the checkpoint claims to half of its bytes. */
export function halveClaimed(artifact: string): FaultRecord["evidence"] {
  const before = hashFile(artifact);
  Deno.truncateSync(artifact, Math.floor(before.bytes / 2));
  const after = hashFile(artifact);
  if (after.sha256 === before.sha256) return [];
  return [
    {
      what: `an output that the checkpoint claims has ${after.bytes} of its ${before.bytes} bytes`,
      value: { claimed: before.sha256, onDisk: after.sha256 },
    },
  ];
}

/**
 * Takes the last lines out of a checkpoint, as when it was saved before the work that followed.
 *
 * @param count How many records to take out.
 */
export function forgetLast(checkpoint: string, count: number): FaultRecord["evidence"] {
  const lines = Deno.readTextFileSync(checkpoint).split("\n").filter((line) => line !== "");
  const kept = lines.slice(0, -count);
  if (kept.length === lines.length) return [];
  Deno.writeTextFileSync(checkpoint, kept.map((line) => `${line}\n`).join(""));
  return [
    {
      what: `${lines.length - kept.length} finished units are no longer in the checkpoint`,
      value: { before: lines.length, after: kept.length },
    },
  ];
}

function exists(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch {
    return false;
  }
}

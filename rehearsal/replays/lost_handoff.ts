/**
 * lost-handoff: death between the work and its record, or a note that never arrived.
 *
 * While the job runs, every version of its checkpoint is kept. It is killed after one output more
 * than usual, and the newest older version that does not know of all the finished work is put back:
 * the record is behind the disk, and behind the effects. What is finished and not in the record is
 * the proof.
 *
 * @module
 */
import { type Artifact, type FaultRecord, hashBytes } from "../../lab/mod.ts";
import type { Stage } from "../stage.ts";
import {
  checkpointNeeds,
  type Killed,
  killWithCheckpoint,
  noteNoCheckpoint,
} from "./_checkpoint.ts";
import { noteNothingLeft } from "./_freeze.ts";
import type { Replay } from "./replay.ts";

const VERSIONS_MAX = 64;
const VERSION_BYTES_MAX = 1024 * 1024;

/** One version of the checkpoint; `null` when it was not there yet. */
interface Version {
  bytes: Uint8Array | null;
  /** How many outputs there were when it was first seen. */
  outputs: number;
}

/** Kill the job and put back the checkpoint as it was before the last output. */
export const lostHandoff: Replay = {
  id: "lost-handoff",
  summary: "the checkpoint does not know of work that is finished",
  variants: ["behind"],
  needs: (contract) =>
    checkpointNeeds(contract) ??
      (contract.artifacts.count !== undefined && contract.artifacts.count < 2
        ? "A job with one output has no moment between a record and the next output"
        : null),
  async run(stage) {
    const { count } = stage.contract.artifacts;
    const target = Math.max(1, Math.min(stage.killPoint + 1, (count ?? Infinity) - 1));
    const versions = keepVersions(stage);
    const killed = await killWithCheckpoint(stage, target);
    stage.onOutputs = null;
    if (killed === null) return;
    if (!stage.isWorkLeft) return noteNothingLeft(stage);
    const before = Deno.readFileSync(killed.path);
    const evidence = putBack(stage, killed, before, versions);
    if (evidence === null) {
      return noteNoCheckpoint(stage, "no older version of it knew of less than what is finished");
    }
    await stage.noteFaultState();
    stage.deliver(evidence);
    await stage.resume();
  },
};

/** Keeps every version of the checkpoint that is seen while the job runs. */
function keepVersions(stage: Stage): Version[] {
  const versions: Version[] = [];
  const path = stage.path(stage.contract.checkpoint?.path ?? "");
  let sign = "none";
  let seen = 0;
  const keep = (outputs: number) => {
    // A job that was too fast was started again in a fresh copy.
    if (outputs < seen) versions.length = 0;
    seen = outputs;
    const now = signOf(path);
    if (now === sign && versions.length > 0) return;
    sign = now;
    const bytes = readVersion(path);
    if (bytes === undefined) return;
    const last = versions.at(-1);
    if (last !== undefined && hashOf(last.bytes) === hashOf(bytes)) return;
    if (versions.push({ bytes, outputs }) > VERSIONS_MAX) versions.shift();
  };
  stage.onOutputs = (outputs) => keep(outputs.length);
  return versions;
}

function signOf(path: string): string {
  try {
    const { size, mtime, ino } = Deno.statSync(path);
    return `${size}:${mtime?.getTime()}:${ino}`;
  } catch {
    return "none";
  }
}

/** The bytes, `null` when the file is not there, `undefined` when it is too large to be kept. */
function readVersion(path: string): Uint8Array | null | undefined {
  try {
    return Deno.statSync(path).size > VERSION_BYTES_MAX ? undefined : Deno.readFileSync(path);
  } catch {
    return null;
  }
}

function hashOf(bytes: Uint8Array | null): string | null {
  return bytes === null ? null : hashBytes(bytes);
}

/** Puts back the newest older version that is behind the disk. Gives the proof, read from disk. */
function putBack(
  stage: Stage,
  { path, look }: Pick<Killed, "path" | "look">,
  before: Uint8Array,
  versions: readonly Version[],
): FaultRecord["evidence"] | null {
  const older = versions.filter((each) => hashOf(each.bytes) !== hashBytes(before)).reverse();
  for (const version of older) {
    write(path, version.bytes);
    const missing = unknownTo(stage, look.artifacts, version);
    if (missing.length === 0) continue;
    return [
      { what: "finished work that the record does not know of", value: missing },
      {
        what: "bytes of the checkpoint before, and as it was put back",
        value: [before.length, version.bytes?.length ?? 0],
      },
    ];
  }
  write(path, before);
  return null;
}

/** Finished outputs that the checkpoint on disk does not know of. */
function unknownTo(stage: Stage, artifacts: readonly Artifact[], version: Version): string[] {
  const { finishedAtFault } = stage.record;
  const finished = artifacts.filter((artifact) => finishedAtFault.includes(artifact.path));
  const now = stage.disk.readCheckpoint(finished);
  if (now === null || !now.present) return [...finishedAtFault];
  if (now.claims !== null) return now.unclaimedPresent;
  // It cannot be read: it is behind when it was saved while fewer outputs were there than now are
  // finished.
  return version.outputs < finished.length
    ? [`${finished.length - version.outputs} of ${finished.length} outputs, by the time of saving`]
    : [];
}

function write(path: string, bytes: Uint8Array | null): void {
  if (bytes === null) Deno.removeSync(path);
  else Deno.writeFileSync(path, bytes);
}

/**
 * torn-checkpoint: half a checkpoint on disk.
 *
 * The job is killed, and its checkpoint is cut: its last record, inside a UTF-8 character, to
 * nothing, to a prefix, or with a block of NUL bytes at its end. Bytes before and after, and what
 * the rest reads as, are the proof.
 *
 * @module
 */
import { type FaultRecord, hashBytes, readClaims } from "../../lab/mod.ts";
import { checkpointNeeds, killWithCheckpoint, noteNoCheckpoint } from "./_checkpoint.ts";
import { noteNothingLeft } from "./_freeze.ts";
import { type Tear, tear, TEARS } from "./_tear.ts";
import type { Replay } from "./replay.ts";

/** Kill the job and cut its checkpoint. */
export const tornCheckpoint: Replay = {
  id: "torn-checkpoint",
  summary: "the job is killed, and half of its checkpoint is on disk",
  variants: TEARS,
  needs: checkpointNeeds,
  async run(stage, variant) {
    const killed = await killWithCheckpoint(stage, stage.killPoint);
    if (killed === null) return;
    if (!stage.isWorkLeft) return noteNothingLeft(stage);
    if (killed.checkpoint.bytes === 0) {
      return noteNoCheckpoint(stage, `"${killed.checkpoint.path}" is empty already`);
    }
    const before = Deno.readFileSync(killed.path);
    const spec = { path: killed.checkpoint.path, doneAt: stage.contract.checkpoint?.doneAt };
    Deno.writeFileSync(killed.path, harmful(before, variant as Tear, spec));
    await stage.noteFaultState();
    const evidence = tornEvidence(before, Deno.readFileSync(killed.path), spec);
    if (evidence.length === 0) return;
    stage.deliver(evidence);
    await stage.resume();
  },
};

/** How the checkpoint is read. */
type Spec = Parameters<typeof readClaims>[1];

/** A number that lost only its newline says what it said: such a cut goes on until it matters. */
function harmful(before: Uint8Array, shape: Tear, spec: Spec): Uint8Array {
  const said = JSON.stringify(readClaims(before, spec));
  let after = tear(before, shape);
  while (after.length > 0 && JSON.stringify(readClaims(after, spec)) === said) {
    const { parses } = readClaims(after, spec);
    if (parses !== true) break;
    after = after.slice(0, Math.floor(after.length / 2));
  }
  return after;
}

/** What the file on disk shows; empty when it is what it was. */
export function tornEvidence(
  before: Uint8Array,
  after: Uint8Array,
  spec: Spec,
): FaultRecord["evidence"] {
  const hashes = { before: hashBytes(before), after: hashBytes(after) };
  if (hashes.before === hashes.after) return [];
  const { parses, units, problem } = readClaims(after, spec);
  const claims = typeof units === "number" ? units : units?.length ?? null;
  return [
    {
      what: "bytes of the checkpoint before and after the cut",
      value: [before.length, after.length],
    },
    {
      what: "what is left of it reads as",
      value: problem ?? (parses === true ? `a whole one that claims ${claims ?? "nothing"}` : "?"),
    },
    { what: "its hashes before and after", value: hashes },
  ];
}

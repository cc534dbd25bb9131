/**
 * duplicate-work: two runs of the same job at once.
 *
 * The resume command starts while the first run lives. Both being alive in one look at the process
 * table is the proof. When both have ended by themselves, the resume command runs a second time.
 *
 * @module
 */
import { freezeAll, isStruck } from "./_freeze.ts";
import { resumeBeside } from "./_beside.ts";
import type { Replay } from "./replay.ts";

/** Start the resume while the first run lives. */
export const duplicateWork: Replay = {
  id: "duplicate-work",
  summary: "the resume command starts while the first run is alive, then once more",
  variants: ["beside"],
  needs: () => null,
  async run(stage) {
    const start = await stage.startUntil(stage.killPoint);
    if (!await isStruck(stage, start)) return;
    const { rows } = await freezeAll(stage);
    const before = await stage.noteFaultState();
    await resumeBeside(stage, {
      what: "the first run",
      rows,
      spawned: start.spawned,
      before,
      evidence: [],
      // "Somebody is at it already" is a fine answer, and often given with exit 0.
      isZeroAClaim: false,
    });
    await stage.noteStart(start);
    if (stage.record.fault.delivered) await stage.resume();
  },
};

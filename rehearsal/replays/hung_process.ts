/**
 * hung-process: the job stops making progress and never exits.
 *
 * Every process of it is stopped (SIGSTOP) after k outputs. That nothing moves is shown by state T
 * of every member and by the outputs, which stay as they are for a while. The hung job is then ended
 * with proof, and the resume command runs.
 *
 * @module
 */
import { artifactSignature, isKillProven, listArtifacts } from "../../lab/mod.ts";
import type { Stage } from "../stage.ts";
import { freezeAll, isStruck, namesOf, noteNothingLeft } from "./_freeze.ts";
import type { Replay } from "./replay.ts";

/** A stopped process cannot write, so a short look suffices to see it. */
const IDLE_MS_MAX = 600;

/** Stop every process of the job, then end it and resume. */
export const hungProcess: Replay = {
  id: "hung-process",
  summary: "the job hangs half-way: every process of it is stopped, then it is ended",
  // A hung job does not answer TERM; one that is continued for it does.
  variants: ["killed", "term-first"],
  needs: () => null,
  async run(stage, variant) {
    const start = await stage.startUntil(stage.killPoint);
    if (!await isStruck(stage, start)) return;
    const { rows, isWhole } = await freezeAll(stage);
    const stillMs = await watchStill(stage);
    const kill = await stage.killStart(start, variant === "killed" ? { graceMs: 0 } : {});
    await stage.noteFaultState();
    if (!stage.isWorkLeft) return noteNothingLeft(stage);
    if (isWhole && stillMs !== null && isKillProven(kill) === true) {
      stage.deliver([
        { what: `processes stopped (state T), all ${rows.length}`, value: namesOf(rows) },
        { what: "no new output for, in ms", value: Math.round(stillMs) },
      ]);
    }
    if (stage.record.fault.delivered) await stage.resume();
  },
};

/** How long the outputs stayed as they were; `null` when one changed. */
async function watchStill(stage: Stage): Promise<number | null> {
  const { clock, journal, driver } = stage.options;
  const limitMs = Math.min(IDLE_MS_MAX, stage.contract.limits.idleSeconds * 1000);
  const before = artifactSignature(listArtifacts(stage.spec));
  const beganMs = journal.atMs();
  while (journal.atMs() - beganMs < limitMs && !driver.aborted) {
    await clock.sleep(50);
    if (artifactSignature(listArtifacts(stage.spec)) !== before) return null;
  }
  return journal.atMs() - beganMs;
}

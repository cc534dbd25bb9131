/**
 * Being asked to stop, as the repairs see it.
 *
 * @module
 */
import type { Job } from "./_job.ts";
import { isGone } from "./_job_end.ts";
import type { KillRecord } from "../lab/mod.ts";

/** Somebody may ask us to stop: a signal to the wrapper, or the caller of the library. */
export interface StopRequest {
  /** Aborted once, when we are asked to stop. */
  readonly signal: AbortSignal;
  /** What we were asked with; the job gets the same. @default {"TERM"} */
  readonly name?: (() => "TERM" | "INT" | "HUP") | undefined;
}

/** How messages get out: one sentence or a few, without prefix and without line end. */
export type Say = (message: string) => void;

/**
 * Ends a job on somebody's wish: passes on what was asked, waits, then KILL.
 *
 * @param graceMs Time that the job has to end by itself.
 */
export async function stopJob(
  job: Job,
  stop: StopRequest,
  graceMs: number,
): Promise<KillRecord> {
  const name = stop.name?.() ?? "TERM";
  // INT and HUP first, so that a job which handles them differently from TERM can.
  if (name !== "TERM" && job.ended === null) {
    await job.signal(name);
    const hasEnded = await job.waitEnd(graceMs);
    return await job.end(hasEnded ? graceMs : 0);
  }
  return await job.end(graceMs);
}

/** Says in one sentence what a kill did and what shows it. */
export function describeKill(kill: KillRecord): string {
  if (kill.signals.length === 0) return "Nobody of the job was left.";
  const last = kill.signals.at(-1)?.signal ?? "";
  const count = kill.signals[0]?.targets ?? 0;
  const ended = `Ended ${count} ${count === 1 ? "process" : "processes"} (last signal: ${last}).`;
  if (!isGone(kill)) {
    const left = kill.survivors.map((each) => `${each.name} (pid ${each.pid})`).join(", ");
    return left === ""
      ? `${ended} Somebody who cannot be seen still holds the job's output open.`
      : `${ended} STILL ALIVE: ${left}.`;
  }
  return `${ended} Proof: the group is empty, nobody carries the job's mark` +
    (kill.witnesses.pipesClosed === null ? "." : ", its output is closed.");
}

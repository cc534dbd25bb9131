/**
 * Fault: a job that waits for ever for an answer from a pipe that nobody writes to.
 *
 * @module
 */
import { type FaultRecord, isAlive, type ProcessRow } from "../../lab/mod.ts";

/** What was seen of a job that is thought to hang. */
export interface HangSighting {
  /** Processes of the job, from the process table. */
  processes: readonly ProcessRow[];
  /** Outputs when the silence began and now. */
  outputs: number;
  /** How long there was no new output. */
  silentMs: number;
  /** How long that must be at least. */
  idleMs: number;
}

/**
 * The evidence that a job hangs: it is alive, and it has made no output for the whole idle limit.
 * Gives none when one of the two was not seen. CPU time, heartbeats and log lines are no evidence
 * against it: a job that waits for ever can have all of them.
 */
export function hangEvidence(sighting: HangSighting): FaultRecord["evidence"] {
  const alive = sighting.processes.filter(isAlive);
  if (alive.length === 0 || sighting.silentMs < sighting.idleMs) return [];
  return [
    {
      what: `no new output for ${Math.round(sighting.silentMs)} ms`,
      value: { outputs: sighting.outputs, idleLimitMs: sighting.idleMs },
    },
    {
      what: "and its processes are alive",
      value: alive.map((row) => ({ pid: row.pid, name: row.name, state: row.state })),
    },
  ];
}

/**
 * Fault: the leader of a job is killed, and only the leader. What it had started goes on.
 *
 * @module
 */
import { type FaultRecord, isAlive, isStopped, type ProcessRow } from "../../lab/mod.ts";

/** What was seen of a job before and after the death of its leader. */
export interface OrphanSighting {
  /** The leader's pid, which was killed. */
  leaderPid: number;
  /** Processes of the job after the death, from the process table. */
  after: readonly ProcessRow[];
  /** Whether an output was written after the death; `null` when nobody looked for it. */
  hasWritten: boolean | null;
}

/** Processes of the job that outlived their leader. */
export function orphansOf(leaderPid: number, after: readonly ProcessRow[]): ProcessRow[] {
  return after.filter((row) => row.pid !== leaderPid && isAlive(row));
}

/**
 * The evidence that a leader died and left others: it is gone, and one of its job is alive. Gives
 * none when the leader lives or nobody is left.
 */
export function orphanEvidence(sighting: OrphanSighting): FaultRecord["evidence"] {
  const { leaderPid, after, hasWritten } = sighting;
  const orphans = orphansOf(leaderPid, after);
  const isLeaderDead = !after.some((row) => row.pid === leaderPid && isAlive(row));
  if (!isLeaderDead || orphans.length === 0) return [];
  const evidence: FaultRecord["evidence"] = [
    { what: "the leader was killed", value: { pid: leaderPid, signal: "SIGKILL" } },
    {
      what: `and ${orphans.length} of its processes outlived it`,
      value: orphans.map((row) => ({
        pid: row.pid,
        name: row.name,
        isStopped: isStopped(row),
        isInLeadersGroup: row.pgid === leaderPid,
      })),
    },
  ];
  if (hasWritten) evidence.push({ what: "an output was written after the death", value: true });
  return evidence;
}

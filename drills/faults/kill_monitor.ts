/**
 * Fault: the watcher is dead, or only beats, and the job needs watching.
 *
 * @module
 */
import { type FaultRecord, isAlive, type ProcessRow } from "../../lab/mod.ts";

/** A monitor and its job, seen at one moment. */
export interface MonitorSighting {
  /** The monitor's pid. */
  monitorPid: number;
  /** The process table. */
  table: readonly ProcessRow[];
  /** Age of the monitor's last sign; `null` when it never gave one. */
  signAgeMs: number | null;
  /** How old its sign is at most while it lives. */
  signLimitMs: number;
  /** Whether an alert was written. */
  hasAlerted: boolean;
  /** Processes of the job. */
  job: readonly ProcessRow[];
  /** How long the job has made nothing new. */
  silentMs: number;
  /** How long that must be; `null` when the job is slow and not hung. */
  silentMsMin: number | null;
}

/** The evidence that a monitor died and nobody was told, while the job still runs. */
export function deadMonitorEvidence(sighting: MonitorSighting): FaultRecord["evidence"] {
  const { monitorPid, table, signAgeMs, signLimitMs } = sighting;
  const isAlone = !table.some((row) => row.pid === monitorPid && isAlive(row));
  if (!isAlone || signAgeMs === null || signAgeMs < signLimitMs) return [];
  return withJob(sighting, [
    { what: "the monitor is dead", value: { pid: monitorPid } },
    { what: `its last sign is ${Math.round(signAgeMs)} ms old`, value: signAgeMs },
  ]);
}

/** The evidence that a monitor beats, and does not see what is there to be seen. */
export function blindMonitorEvidence(sighting: MonitorSighting): FaultRecord["evidence"] {
  const { monitorPid, table, signAgeMs, signLimitMs, silentMsMin } = sighting;
  const lives = table.some((row) => row.pid === monitorPid && isAlive(row));
  if (!lives || signAgeMs === null || signAgeMs >= signLimitMs || silentMsMin === null) return [];
  return withJob(sighting, [
    { what: "the monitor lives and beats", value: { pid: monitorPid, signAgeMs } },
  ]);
}

function withJob(
  { hasAlerted, job, silentMs, silentMsMin }: MonitorSighting,
  evidence: FaultRecord["evidence"],
): FaultRecord["evidence"] {
  const alive = job.filter(isAlive);
  const isHung = silentMsMin !== null && silentMs >= silentMsMin;
  if (hasAlerted || alive.length === 0 || (silentMsMin !== null && !isHung)) return [];
  return [
    ...evidence,
    {
      what: isHung
        ? `the job is alive and has made nothing for ${Math.round(silentMs)} ms`
        : "the job is alive, slow, and gets on",
      value: alive.map((row) => ({ pid: row.pid, name: row.name })),
    },
    { what: "and there is no alert", value: true },
  ];
}

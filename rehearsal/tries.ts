/**
 * Trying again: a failure that came too late on a busy machine was not delivered. That judges nobody,
 * and another try may catch the moment.
 *
 * @module
 */
import { grade, type RunRecord, takenForAlive } from "../lab/mod.ts";

/** Findings that say that a moment was missed. */
const MISSED: ReadonlySet<string> = new Set([
  "job-struck",
  "work-left",
  "orphan-caught",
  "provider-asked",
]);

/**
 * Whether another try is worth it: nothing was delivered, or the recovery was over before it could be
 * killed half-way. A record in which something went wrong is never thrown away.
 */
export function isWorthRepeating(record: RunRecord): boolean {
  const { fault, notApplicable, interrupted, attempts, findings } = record;
  if (!fault.armed || notApplicable !== null || interrupted !== null) return false;
  if (fault.delivered) {
    return attempts.some(({ purpose, phase }) =>
      purpose === "resume-killed" && !phase.endedByLab
    ) &&
      attempts.every(({ phase }) => phase.exitCode === 0);
  }
  return attempts.every(({ purpose, phase }) => purpose === "beside" || phase.exitCode === 0) &&
    findings.every(({ id, ok }) => ok !== null || MISSED.has(id));
}

/**
 * Whether another try is worth it that waits until the dead are collected: the recovery did nothing,
 * while a number that it may have looked at still answered to `kill -0`. In a pass nothing was left
 * to do.
 */
export function isWorthWaiting(record: RunRecord): boolean {
  const { containment, interrupted } = record;
  // What was changed outside must not be forgotten with the record.
  const isClean = containment !== null && containment.sentinelIntact === true &&
    containment.changes.length === 0;
  return isClean && interrupted === null && takenForAlive(record) !== null &&
    grade({ ...record, endedAt: record.startedAt }).verdict !== "pass";
}

/** What did not apply was not run: nothing of the try may look like a run. */
export function forgetRun(record: RunRecord): void {
  record.start = null;
  record.kill = null;
  record.attempts = [];
  record.artifactsAtFault = [];
  record.finishedAtFault = [];
  delete record.likelyAtFault;
  record.checkpointAtFault = null;
  record.effectsAtFault = null;
  record.findings = [];
  record.quiet = null;
  record.fault = { ...record.fault, delivered: false, evidence: [], provenAtMs: null };
}

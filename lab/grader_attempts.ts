/**
 * The grader's checks on each try to recover.
 *
 * @module
 */
import { EMPTY_SHA256, firstTouched, killCheck } from "./grader_checks.ts";
import type { AttemptRecord, Check, PhaseRecord, RunRecord } from "./record.ts";

/** Checks every attempt of a record; a record without a resume has not recovered. */
export function attemptChecks(record: RunRecord): Check[] {
  return [
    ...resumeRanCheck(record),
    ...record.attempts.flatMap((attempt) => {
      switch (attempt.purpose) {
        case "resume":
          return [exitCheck("resume-exit", "The recovery", attempt.phase)];
        case "resume-killed":
          return killedCheck(attempt);
        case "resume-again":
          return againChecks(attempt);
        case "stand-down":
          return standDownChecks(attempt);
        case "beside":
          return besideChecks(attempt);
      }
    }),
  ];
}

const KILL_CHECKS: Record<AttemptRecord["purpose"], readonly [id: string, whose: string]> = {
  "resume": ["resume-clean", "the recovery"],
  "resume-killed": ["resume-killed", "the recovery that was killed half-way"],
  "resume-again": ["resume-again-clean", "the second recovery"],
  "stand-down": ["stand-down-clean", "the recovery that stood down"],
  "beside": ["beside-clean", "the recovery that met a living run"],
};

/** Whether anybody of any attempt is still alive. */
export function attemptKillChecks(record: RunRecord): Check[] {
  return record.attempts.map(({ purpose, kill }) => killCheck(...KILL_CHECKS[purpose], kill));
}

/** A recovery must have run, and whatever was broken off must have been followed by one. */
function resumeRanCheck({ attempts, fault }: RunRecord): Check[] {
  const last = attempts.findLastIndex((attempt) => attempt.purpose === "resume");
  const id = "resume-ran";
  if (last < 0) {
    const state = fault.delivered || attempts.length > 0 ? "unknown" : "skipped";
    return [{ id, state, text: "No recovery was run" }];
  }
  const broken = attempts.findLastIndex((attempt) => attempt.purpose === "resume-killed");
  const again = attempts.findIndex((attempt) => attempt.purpose === "resume-again");
  if (broken > last) {
    const text = "After the recovery had been killed half-way, none ran to its end";
    return [{ id, state: "unknown", text }];
  }
  if (attempts.findLastIndex((attempt) => attempt.purpose === "beside") > last) {
    const text = "After the recovery had stood down before a living run, none ran to its end";
    return [{ id, state: "unknown", text }];
  }
  if (again >= 0 && again < last) {
    const text = "A second recovery is noted before the first one, which cannot be";
    return [{ id, state: "unknown", text }];
  }
  return [];
}

/** How a command ended, for a sentence. */
export function endingOf(phase: PhaseRecord): string {
  if (phase.startError !== null) return `could not be started: ${phase.startError}`;
  if (phase.limitHit === "run") return "did not end within the run limit and was ended";
  if (phase.limitHit === "idle") return "made no progress within the idle limit and was ended";
  if (phase.signal !== null) return `was ended by ${phase.signal}`;
  if (phase.exitCode === null) return "was not seen to end";
  return `ended with exit code ${phase.exitCode}`;
}

function exitCheck(id: string, what: string, phase: PhaseRecord): Check {
  const { exitCode, signal, limitHit, startError, endedMs, endedByLab } = phase;
  const failed = limitHit !== null || startError !== null;
  // Ended by us without a limit: we broke it off, so nobody knows how it would have ended.
  const brokenOff = endedByLab && !failed;
  const unseen = !failed && (endedMs === null || (exitCode === null && signal === null));
  const ok = exitCode === 0 && signal === null && !failed;
  const said = phase.stderrTail.trim().split("\n").at(-1) ?? "";
  return {
    id,
    state: brokenOff || unseen ? "unknown" : ok ? "ok" : "bad",
    text: brokenOff
      ? `${what} was broken off by the lab before its end`
      : `${what} ${endingOf(phase)}${ok || said === "" ? "" : `; it said: ${said.slice(0, 200)}`}`,
  };
}

function killedCheck({ phase }: AttemptRecord): Check[] {
  return phase.endedByLab ? [] : [{
    id: "resume-killed",
    state: "unknown",
    text: "The recovery ended before it could be killed half-way",
  }];
}

function againChecks(attempt: AttemptRecord): Check[] {
  const touched = firstTouched(attempt.artifactsBefore, attempt.artifactsAfter);
  return [
    exitCheck("resume-again-exit", "The second recovery, with nothing left to do,", attempt.phase),
    {
      id: "resume-again-idle",
      state: touched === null ? "ok" : "bad",
      text: touched === null
        ? "A second recovery finds everything done and touches nothing"
        : `A second recovery touched ${touched.count} finished output(s), the first is ` +
          `"${touched.path}"`,
    },
  ];
}

/** It may wait or stand down, as long as it comes to an end; a recovery after it must do the work. */
function besideChecks({ phase }: AttemptRecord): Check[] {
  const failed = phase.limitHit !== null || phase.startError !== null;
  const seen = phase.endedMs !== null && !phase.endedByLab;
  return [{
    id: "beside-ended",
    state: failed ? "bad" : seen ? "ok" : "unknown",
    text: failed || seen
      ? `The recovery that met a living run ${endingOf(phase)}`
      : "The recovery that met a living run was not seen to end by itself",
  }];
}

function standDownChecks(attempt: AttemptRecord): Check[] {
  const { phase, lockBefore, lockAfter } = attempt;
  const lockKept = lockBefore === lockAfter;
  const touched = firstTouched(attempt.artifactsBefore, attempt.artifactsAfter);
  const ran = phase.startError === null;
  const isEmptied = lockAfter === EMPTY_SHA256 && !lockKept && touched === null &&
    phase.exitCode !== null && phase.exitCode !== 0;
  return [
    {
      id: "live-lock-respected",
      state: lockBefore === null || isEmptied ? "unknown" : lockKept ? "ok" : "bad",
      text: lockBefore === null
        ? "There was no lock of a live owner to respect"
        : isEmptied
        ? "The recovery stood down before a live owner, and emptied the lock file on the way. With " +
          "flock that does no harm; with a lock that others read it does. Open it for appending (>>)"
        : lockKept
        ? "The lock of a live owner was left alone"
        : "The lock of a live owner was removed or changed",
    },
    {
      id: "live-owner-respected",
      state: touched !== null ? "bad" : ran ? "ok" : "unknown",
      text: touched !== null
        ? `The recovery worked on "${touched.path}" although the lock's owner is alive`
        : ran
        ? "The recovery wrote nothing while the lock's owner is alive"
        : `The recovery ${endingOf(phase)}, so it could not stand down`,
    },
  ];
}

/**
 * The grader's checks on each try to recover.
 *
 * @module
 */
import { killCheck } from "./grader_checks.ts";
import type { AttemptRecord, Check, PhaseRecord, RunRecord } from "./record.ts";

/** Checks every attempt of a record; a record without a resume has not recovered. */
export function attemptChecks(record: RunRecord): Check[] {
  const checks: Check[] = [];
  if (!record.attempts.some((attempt) => attempt.purpose === "resume")) {
    checks.push({
      id: "resume-ran",
      state: record.fault.delivered ? "unknown" : "skipped",
      text: "No recovery was run",
    });
  }
  for (const attempt of record.attempts) {
    switch (attempt.purpose) {
      case "resume":
        checks.push(...resumeChecks(attempt));
        break;
      case "resume-killed":
        checks.push(killedChecks(attempt));
        break;
      case "resume-again":
        checks.push(...againChecks(attempt));
        break;
      case "stand-down":
        checks.push(...standDownChecks(attempt));
        break;
    }
  }
  return checks;
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
  const ok = phase.exitCode === 0 && phase.limitHit === null && phase.signal === null &&
    phase.startError === null;
  const unseen = phase.endedMs === null;
  const said = phase.stderrTail.trim().split("\n").at(-1) ?? "";
  return {
    id,
    state: ok ? "ok" : unseen ? "unknown" : "bad",
    text: `${what} ${endingOf(phase)}${
      ok || said === "" ? "" : `; it said: ${said.slice(0, 200)}`
    }`,
  };
}

function resumeChecks(attempt: AttemptRecord): Check[] {
  return [
    exitCheck("resume-exit", "The recovery", attempt.phase),
    killCheck("resume-clean", "the recovery", attempt.kill),
  ];
}

function killedChecks(attempt: AttemptRecord): Check {
  if (!attempt.phase.endedByLab) {
    return {
      id: "resume-killed",
      state: "unknown",
      text: "The recovery ended before it could be killed half-way",
    };
  }
  return killCheck("resume-killed", "the recovery that was killed half-way", attempt.kill);
}

function againChecks(attempt: AttemptRecord): Check[] {
  const before = new Map(attempt.artifactsBefore.map((artifact) => [artifact.path, artifact]));
  const touched = attempt.artifactsAfter.filter((after) => {
    const old = before.get(after.path);
    return old === undefined || old.sha256 !== after.sha256 || old.inode !== after.inode ||
      old.mtimeMs !== after.mtimeMs;
  });
  const lost = attempt.artifactsBefore.filter((old) =>
    !attempt.artifactsAfter.some((after) => after.path === old.path)
  );
  const first = touched[0] ?? lost[0];
  return [
    exitCheck("resume-again-exit", "The second recovery, with nothing left to do,", attempt.phase),
    killCheck("resume-again-clean", "the second recovery", attempt.kill),
    {
      id: "resume-again-idle",
      state: first === undefined ? "ok" : "bad",
      text: first === undefined
        ? "A second recovery finds everything done and touches nothing"
        : `A second recovery touched ${touched.length + lost.length} finished output(s), the ` +
          `first is "${first.path}"`,
    },
  ];
}

function standDownChecks(attempt: AttemptRecord): Check[] {
  const before = JSON.stringify(attempt.artifactsBefore);
  const lockKept = attempt.lockBefore !== null && attempt.lockBefore === attempt.lockAfter;
  const worked = before !== JSON.stringify(attempt.artifactsAfter);
  return [
    {
      id: "live-lock-respected",
      state: lockKept ? "ok" : "bad",
      text: lockKept
        ? "The lock of a live owner was left alone"
        : "The lock of a live owner was removed or changed",
    },
    {
      id: "live-owner-respected",
      state: worked ? "bad" : "ok",
      text: worked
        ? "The recovery worked on outputs although the lock's owner is alive"
        : "The recovery wrote nothing while the lock's owner is alive",
    },
    killCheck("stand-down-clean", "the recovery that stood down", attempt.kill),
  ];
}

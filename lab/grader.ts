/**
 * The grader: a pure function of the run record. It touches no file, no clock and no process, so a
 * saved record can be graded again at any time, and a forged one can be refused.
 *
 * A pass needs every check to be `ok` (or `skipped` where it does not apply). One `bad` is a fail,
 * else one `unknown` is unproven: the one precedence, fail > unproven > pass.
 *
 * What the recovery left is held against it only where recovery was really tested: the run came to
 * its end, the job is whole without a failure, and the failure was seen to happen. Otherwise such a
 * check is `unknown`, because then the lab or the job is at fault and not the recovery. Broken
 * containment and processes that are still alive are bad whatever else happened.
 *
 * @module
 */
import { attemptChecks, attemptKillChecks } from "./grader_attempts.ts";
import { artifactChecks } from "./grader_artifacts.ts";
import { firstTouched, killCheck, tri } from "./grader_checks.ts";
import { checkpointCheck, effectChecks } from "./grader_claims.ts";
import { possibleCheck } from "./grader_possible.ts";
import {
  type Check,
  type Grade,
  type ProcessIdentity,
  RECORD_VERSION,
  type RunRecord,
  runRecordSchema,
} from "./record.ts";
import { mergeVerdicts, type Verdict } from "./verdict.ts";

/**
 * Grades one run record.
 *
 * Never throws: a value that is not a record of this version is `unproven`, and so is a record
 * over which the grader itself fails.
 *
 * @param value A run record as parsed JSON.
 */
export function grade(value: unknown): Grade {
  try {
    const version = versionOf(value);
    if (version !== RECORD_VERSION) {
      return refusal(
        "record-version",
        `The record has version ${JSON.stringify(version)}; this grader reads only version ` +
          `${RECORD_VERSION}. Grade it with the program that wrote it`,
      );
    }
    const parsed = runRecordSchema.safeParse(value);
    if (!parsed.success) {
      const issue = parsed.error.issues[0];
      return refusal(
        "record-shape",
        `The record is damaged at "${issue?.path.join(".") ?? ""}": ${issue?.message ?? "?"}`,
      );
    }
    return gradeRecord(parsed.data);
  } catch (error) {
    return refusal("grader-error", `The grader itself failed over this record: ${wordsOf(error)}`);
  }
}

/** The verdict over several grades. No grade at all is never a pass. */
export function gradeSet(
  grades: readonly Grade[],
): { verdict: Verdict; containmentBroken: boolean } {
  return {
    verdict: mergeVerdicts(grades.map((each) => each.verdict)),
    containmentBroken: grades.some((each) => each.containmentBroken),
  };
}

function versionOf(value: unknown): unknown {
  return typeof value === "object" && value !== null && "version" in value
    ? value.version
    : undefined;
}

/** What an error says; whatever was thrown, this does not throw. */
function wordsOf(error: unknown): string {
  try {
    return String(error instanceof Error ? error.message : error);
  } catch {
    return "it threw something that cannot be read";
  }
}

function refusal(id: string, text: string): Grade {
  return {
    verdict: "unproven",
    reasonId: id,
    reason: text,
    containmentBroken: false,
    checks: [{ id, state: "unknown", text }],
  };
}

function gradeRecord(record: RunRecord): Grade {
  const containment = containmentChecks(record);
  const containmentBroken = containment.some((check) =>
    check.state === "bad" && check.id !== "containment-observed"
  );
  const excuse = notApplicableCheck(record);
  if (excuse?.state === "skipped" && !containment.some((check) => check.state === "bad")) {
    return {
      verdict: "not-applicable",
      reasonId: excuse.id,
      reason: excuse.text,
      containmentBroken: false,
      checks: [excuse],
    };
  }
  const premises = premiseChecks(record);
  const recovery = [
    ...findingChecks(record),
    ...attemptChecks(record),
    ...artifactChecks(record),
    checkpointCheck(record),
    ...effectChecks(record),
  ];
  const doubt = recovery.some((check) => check.state === "bad") ? uncollectedCheck(record) : null;
  const isHeld = doubt === null && isRecoveryTested(record, premises);
  const checks = [
    ...containment,
    ...(excuse?.state === "unknown" ? [excuse] : []),
    ...premises,
    ...(doubt === null ? [] : [doubt]),
    possibleCheck(record),
    killCheck("kill-proven", "the failed run", record.kill),
    ...(isHeld ? recovery : recovery.map(notHeldAgainst)),
    ...attemptKillChecks(record),
  ];
  const decisive = checks.find((check) => check.state === "bad") ??
    checks.find((check) => check.state === "unknown");
  return {
    verdict: decisive === undefined ? "pass" : decisive.state === "bad" ? "fail" : "unproven",
    reasonId: decisive?.id ?? null,
    reason: decisive?.text ?? passReason(record),
    containmentBroken,
    checks,
  };
}

function passReason(record: RunRecord): string {
  const time = record.recoveryMs === null ? "" : ` in ${(record.recoveryMs / 1000).toFixed(2)} s`;
  const n = record.artifacts.length;
  return `Recovered${time}: ${n} of ${n} outputs whole, finished work untouched, nothing left over`;
}

/**
 * "Does not apply" excuses a record in which nothing was run. One that holds a run all the same
 * contradicts itself, and is graded like any other.
 */
function notApplicableCheck(record: RunRecord): Check | null {
  if (record.notApplicable === null) return null;
  const { start, kill, attempts, artifacts, fault, findings } = record;
  const wasRun = start !== null || kill !== null || attempts.length > 0 || artifacts.length > 0 ||
    record.artifactsAtFault.length > 0 || fault.delivered || findings.length > 0;
  return {
    id: "not-applicable",
    state: wasRun ? "unknown" : "skipped",
    text: wasRun
      ? `The record says that it does not apply ("${record.notApplicable}"), and yet holds a run`
      : record.notApplicable,
  };
}

function containmentChecks(record: RunRecord): Check[] {
  const seen = record.containment;
  if (seen === null || !seen.observedBefore || !seen.observedAfter || seen.watched.length === 0) {
    return [{
      id: "containment-observed",
      state: "bad",
      text: "Nobody looked at the watch list before and after the run, so nothing can be believed",
    }];
  }
  const checks: Check[] = [{
    id: "containment-observed",
    state: "ok",
    text: `The watch list (${seen.watched.length} places) was hashed before and after`,
  }];
  const changed = seen.changes.filter((change) => change.change !== "unknown");
  const first = changed[0];
  checks.push({
    id: "containment-clean",
    state: first === undefined ? "ok" : "bad",
    text: first === undefined
      ? "Nothing on the watch list changed"
      : `${changed.length} watched path(s) changed, the first is "${first.path}" (${first.change})`,
  });
  checks.push(tri(
    "sentinel",
    seen.sentinelIntact,
    "The file beside the workspace is untouched",
    "The file beside the workspace was changed: the run wrote outside its copy",
    "Nobody looked at the file beside the workspace",
  ));
  const incomplete = seen.watched.find((root) => root.incomplete !== null);
  const unknown = seen.changes.find((change) => change.change === "unknown");
  const isVacuous = seen.watched.every((root) => root.files === 0);
  if (incomplete !== undefined || unknown !== undefined || isVacuous) {
    checks.push({
      id: "containment-complete",
      state: "unknown",
      text: incomplete !== undefined
        ? `Not all of "${incomplete.path}" could be watched: ${incomplete.incomplete}`
        : unknown !== undefined
        ? `"${unknown.path}" could not be read, so a change there would not be seen`
        : "There was not one file in all watched places, so nothing was watched",
    });
  }
  return checks;
}

/** What must hold before a recovery can be judged. */
function premiseChecks(record: RunRecord): Check[] {
  const checks: Check[] = [];
  const brokenOff = record.interrupted ?? (record.endedAt === null ? "its end is not noted" : null);
  if (brokenOff !== null) {
    checks.push({
      id: "interrupted",
      state: "unknown",
      text: `The run did not come to its end: ${brokenOff}`,
    });
  }
  checks.push(controlCheck(record));
  const { fault } = record;
  const proven = fault.delivered && fault.evidence.length > 0 && fault.provenAtMs !== null;
  checks.push({
    id: "fault-delivered",
    state: proven && fault.armed ? "ok" : "unknown",
    text: proven && fault.armed
      ? `The failure was done and seen: ${fault.evidence.map((each) => each.what).join("; ")}`
      : fault.armed
      ? `The failure "${fault.name}" was not shown to have happened, so recovery was not tested`
      : `The failure "${fault.name}" was switched off in this run`,
  });
  return checks;
}

/** A control run that nobody made leaves a doubt, but it does not excuse what a recovery did. */
function isRecoveryTested(record: RunRecord, premises: readonly Check[]): boolean {
  return premises.every((check) =>
    check.state !== "unknown" || (check.id === "control-whole" && record.control === null)
  );
}

/**
 * The dead process of the failed run that a recovery may have taken for alive: it still answered to
 * `kill -0`, and the recovery touched nothing. One that did work did not stand down before anybody.
 */
export function takenForAlive({ uncollected, attempts }: RunRecord): ProcessIdentity | null {
  const [dead] = uncollected ?? [];
  const resume = attempts.findLast((attempt) => attempt.purpose === "resume");
  if (dead === undefined || resume === undefined) return null;
  return firstTouched(resume.artifactsBefore, resume.artifactsAfter) === null ? dead : null;
}

function uncollectedCheck(record: RunRecord): Check | null {
  const dead = takenForAlive(record);
  return dead === null ? null : {
    id: "dead-collected",
    state: "unknown",
    text: `${dead.name} (pid ${dead.pid}) of the failed run was dead, but this system had not ` +
      "removed it from the process table when the recovery began; the job has noted that number, " +
      "so the recovery may have taken it for alive. In a container, start it with an init that " +
      "collects the dead (docker run --init), and run this again",
  };
}

/** A check that speaks against a recovery which was not really tested. */
function notHeldAgainst(check: Check): Check {
  return check.state !== "bad"
    ? check
    : { ...check, state: "unknown", text: `${check.text} (recovery was not really tested)` };
}

function controlCheck(record: RunRecord): Check {
  const { control } = record;
  if (control === null) {
    return {
      id: "control-whole",
      state: record.controlSkipped === null ? "unknown" : "skipped",
      text: record.controlSkipped ?? "There was no control run, and nothing says why",
    };
  }
  const said = controlProblem(record, control);
  return {
    id: "control-whole",
    state: said === null ? "ok" : "unknown",
    text: said === null
      ? "Without a failure, the job does all its work"
      : `Already without a failure the job is not whole: ${said}. Mend the job (or the contract) ` +
        'first, or say "startFails": true when this is the failure to recover from; recovery was ' +
        "not judged",
  };
}

function controlProblem(
  { contract }: RunRecord,
  { phase, artifacts, kill }: NonNullable<RunRecord["control"]>,
): string | null {
  if (phase.startError !== null) return `it could not be started: ${phase.startError}`;
  if (phase.limitHit !== null) return `it hit the ${phase.limitHit} limit`;
  if (phase.endedByLab) return "the lab broke it off before its end";
  if (phase.signal !== null) return `it was ended by ${phase.signal}`;
  if (phase.exitCode === null) return "it was not seen to end";
  if (phase.exitCode !== 0) return `it ended with exit code ${phase.exitCode}`;
  if (contract.count !== null && artifacts.length !== contract.count) {
    return `it left ${artifacts.length} outputs instead of ${contract.count}`;
  }
  const problem = artifacts.find((artifact) => artifact.problems.length > 0);
  if (problem !== undefined) return `"${problem.path}": ${problem.problems[0]}`;
  const empty = artifacts.find((artifact) => artifact.bytes === 0);
  if (empty !== undefined && !contract.emptyAllowed) return `"${empty.path}" is empty`;
  const leftovers = killCheck("control-whole", "it", kill);
  return leftovers.state === "ok" ? null : leftovers.text;
}

function findingChecks(record: RunRecord): Check[] {
  return record.findings.map((finding) => ({
    id: finding.id,
    state: finding.ok === null ? "unknown" : finding.ok ? "ok" : "bad",
    text: finding.text,
  }));
}

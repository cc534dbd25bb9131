/**
 * The grader: a pure function of the run record. It touches no file, no clock and no process, so a
 * saved record can be graded again at any time, and a forged one can be refused.
 *
 * A pass needs every check to be `ok` (or `skipped` where it does not apply). One `bad` is a fail,
 * else one `unknown` is unproven: the one precedence, fail > unproven > pass.
 *
 * @module
 */
import { attemptChecks } from "./grader_attempts.ts";
import { artifactChecks } from "./grader_artifacts.ts";
import { killCheck, tri } from "./grader_checks.ts";
import {
  type Check,
  type Grade,
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
    const why = error instanceof Error ? error.message : String(error);
    return refusal("grader-error", `The grader itself failed over this record: ${why}`);
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
  if (record.notApplicable !== null && !containment.some((check) => check.state === "bad")) {
    return {
      verdict: "not-applicable",
      reasonId: "not-applicable",
      reason: record.notApplicable,
      containmentBroken: false,
      checks: [{ id: "not-applicable", state: "skipped", text: record.notApplicable }],
    };
  }
  const checks = [
    ...containment,
    ...runChecks(record),
    ...attemptChecks(record),
    ...artifactChecks(record),
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
  if (incomplete !== undefined || unknown !== undefined) {
    checks.push({
      id: "containment-complete",
      state: "unknown",
      text: incomplete !== undefined
        ? `Not all of "${incomplete.path}" could be watched: ${incomplete.incomplete}`
        : `"${unknown?.path}" could not be read, so a change there would not be seen`,
    });
  }
  return checks;
}

function runChecks(record: RunRecord): Check[] {
  const checks: Check[] = [];
  if (record.interrupted !== null) {
    checks.push({
      id: "interrupted",
      state: "unknown",
      text: `The run did not come to its end: ${record.interrupted}`,
    });
  }
  checks.push(controlCheck(record), ...findingChecks(record));
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
  checks.push(killCheck("kill-proven", "the failed run", record.kill));
  return checks;
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
  const { phase, artifacts } = control;
  const problem = artifacts.find((artifact) => artifact.problems.length > 0);
  const said = phase.startError ??
    (phase.limitHit !== null
      ? `it hit the ${phase.limitHit} limit`
      : phase.signal !== null
      ? `it was ended by ${phase.signal}`
      : phase.exitCode !== 0
      ? `it ended with exit code ${phase.exitCode}`
      : record.contract.count !== null && artifacts.length !== record.contract.count
      ? `it left ${artifacts.length} outputs instead of ${record.contract.count}`
      : problem !== undefined
      ? `"${problem.path}": ${problem.problems[0]}`
      : null);
  return {
    id: "control-whole",
    state: said === null ? "ok" : "unknown",
    text: said === null
      ? "Without a failure, the job does all its work"
      : `Already without a failure the job is not whole: ${said}. Mend the job (or the contract) ` +
        "first; recovery was not judged",
  };
}

function findingChecks(record: RunRecord): Check[] {
  return record.findings.map((finding) => ({
    id: finding.id,
    state: finding.ok === null ? "unknown" : finding.ok ? "ok" : "bad",
    text: finding.text,
  }));
}

/**
 * Collecting records into a run set: graded as they come, with the exit code of the whole.
 *
 * @module
 */
import type { Clock } from "../clock.ts";
import { grade, gradeSet } from "../grader.ts";
import { type Grade, RECORD_VERSION, type RunRecord, type RunSet } from "../record.ts";
import { toolInfo } from "../run_record.ts";
import { EXIT_CODES, exitCodeFor, mergeVerdicts, type Verdict } from "../verdict.ts";

/** An empty set for a command that is about to run. */
export function newRunSet(command: string, clock: Clock): RunSet {
  return {
    schema: "failure-lab/run-set",
    version: RECORD_VERSION,
    command,
    tool: toolInfo(),
    startedAt: clock.wallIso(),
    endedAt: null,
    interrupted: null,
    verdict: "unproven",
    exitCode: EXIT_CODES.unproven,
    runs: [],
  };
}

/** What a run counts for: where something is expected, whether it came; else its own verdict. */
function outcomeOf({ grade: given, expected }: RunSet["runs"][number]): Verdict {
  if (expected === null) return given.verdict;
  return expected.met ? "pass" : "fail";
}

/** Grades a record and adds it. The set's verdict and exit code follow. */
export function addRun(
  set: RunSet,
  record: RunRecord,
  expected: RunSet["runs"][number]["expected"] = null,
): Grade {
  const given = grade(record);
  set.runs.push({ record, grade: given, expected });
  const { containmentBroken } = gradeSet(set.runs.map((run) => run.grade));
  const verdict = mergeVerdicts(set.runs.map(outcomeOf));
  set.verdict = verdict;
  set.exitCode = exitCodeFor(verdict, containmentBroken);
  return given;
}

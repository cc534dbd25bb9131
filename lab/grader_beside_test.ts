// The grader on a recovery that met another living run of the job.

import { assertGrades, attempt, phase } from "./_grader_fixtures.ts";
import type { PhaseRecord, RunRecord } from "./record.ts";

/** One that met a living run and ended like this, and the recovery after it. */
function metOne(part: Partial<PhaseRecord>) {
  return (record: RunRecord): void => {
    const beside = attempt("beside", { ...phase(1200, 1500), ...part }, [3, 3]);
    record.attempts = [beside, attempt("resume", phase(1600, 2400), [3, 6])];
  };
}

Deno.test("a recovery may stand down before a living run, when one does the work afterwards", () => {
  assertGrades({
    "stood down by exit code": ["pass", metOne({ exitCode: 75 })],
    "ended by the other one": ["pass", metOne({ exitCode: null, signal: "SIGTERM" })],
    "hung beside it": ["fail beside-ended", metOne({ exitCode: null, limitHit: "idle" })],
    "could not be started": [
      "fail beside-ended",
      metOne({ exitCode: null, startError: "no such program" }),
    ],
    "broken off by the lab": [
      "unproven beside-ended",
      metOne({ exitCode: null, signal: "SIGKILL", endedByLab: true }),
    ],
    "nobody did the work afterwards": ["unproven resume-ran", (record) => {
      record.attempts = [
        attempt("resume", phase(1200, 1500), [3, 6]),
        attempt("beside", { ...phase(1600, 2400), exitCode: 75 }, [6, 6]),
      ];
    }],
  });
});

/** The recovery ended like this, from so many outputs to so many, with a dead process uncollected. */
function besideTheDead(exitCode: number, [before, after]: [number, number]) {
  return (record: RunRecord): void => {
    record.uncollected = [{ pid: 71, startedSeconds: 1_780_000_000, name: "sh" }];
    record.attempts = [
      attempt("resume", { ...phase(1200, 2400), exitCode }, [before, after]),
    ];
    record.artifacts = record.attempts[0]?.artifactsAfter ?? [];
  };
}

Deno.test("a recovery that may have taken an uncollected dead process for alive is not failed for standing down", () => {
  assertGrades({
    "it stood down": ["unproven dead-collected", besideTheDead(75, [3, 3])],
    "it stood down and called that success": [
      "unproven dead-collected",
      besideTheDead(0, [3, 3]),
    ],
    "it worked, and did not finish": ["fail resume-exit", besideTheDead(75, [3, 4])],
    "it worked, finished, and failed": ["fail resume-exit", besideTheDead(1, [3, 6])],
    "it recovered": ["pass", besideTheDead(0, [3, 6])],
  });
});

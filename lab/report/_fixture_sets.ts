/**
 * Handwritten run sets for the tests of the report formats.
 *
 * @module
 */
import type { Check, Grade, RunRecord, RunSet } from "../record.ts";
import { artifact, grade, kill, NASTY, phase, record } from "./_fixtures.ts";

const passRun = {
  record: record(),
  grade: grade("pass", "Recovered in 1.05 s: 3 of 3 outputs whole, finished work untouched"),
  expected: null,
};

/** A fail whose every name, text and output is nasty. */
export const nastyRun: RunSet["runs"][number] = {
  record: record({
    id: NASTY,
    subject: "lost-handoff",
    label: NASTY,
    rerun: `failure-lab replay '${NASTY}'`,
    options: { [NASTY]: NASTY },
    scope: [NASTY],
    project: {
      path: NASTY,
      sha256: null,
      files: 1,
      skipped: [{ path: NASTY, reason: NASTY }],
    },
    fault: {
      name: "lost-handoff",
      variant: NASTY,
      armed: true,
      delivered: true,
      evidence: [{ what: NASTY, value: { [NASTY]: [NASTY] } }],
      provenAtMs: 1450,
    },
    kill: kill({
      witnesses: { groupEmpty: true, markerEmpty: false, pipesClosed: null },
      survivors: [{ pid: 4243, startedSeconds: 1_767_323_045, name: NASTY }],
    }),
    artifactsAtFault: [artifact(NASTY, { inode: 1 })],
    finishedAtFault: [NASTY],
    artifacts: [artifact(NASTY, { inode: 2, problems: [NASTY] }), artifact("empty", { bytes: 0 })],
    attempts: [{
      purpose: "resume",
      phase: phase({
        argv: ["sh", NASTY],
        exitCode: null,
        signal: "SIGKILL",
        stdoutTail: NASTY,
        stderrTail: NASTY,
        startError: NASTY,
      }),
      kill: kill(),
      artifactsBefore: [],
      artifactsAfter: [artifact(NASTY)],
      effectsAfter: null,
      checkpointAfter: null,
      lockBefore: null,
      lockAfter: null,
    }],
    checkpoint: {
      path: NASTY,
      present: true,
      bytes: 2,
      sha256: null,
      parses: false,
      claims: null,
      claimedAbsent: [NASTY],
      unclaimedPresent: [NASTY],
      problem: NASTY,
    },
    effects: {
      path: NASTY,
      total: 3,
      keys: 2,
      doubled: [{ key: NASTY, count: 2 }],
      missing: [NASTY],
      unreadable: 1,
      unknown: [NASTY],
    },
    quiet: { observedMs: 500, changed: [{ path: NASTY, by: NASTY }] },
    recoveryMs: null,
    findings: [{ id: "orphan-wrote", ok: false, text: NASTY }],
    containment: {
      watched: [{ path: NASTY, files: 1, bytes: 2, incomplete: NASTY }],
      excluded: [NASTY],
      changes: [{ path: NASTY, change: "modified", before: null, after: NASTY }],
      sentinelIntact: false,
      observedBefore: true,
      observedAfter: true,
    },
  }),
  grade: grade("fail", `The file ${NASTY} is not whole`, [
    { id: "artifacts-whole", state: "bad", text: `The file ${NASTY} is not whole` },
    { id: "effects-once", state: "bad", text: `The effect ${NASTY} happened 2 times` },
  ]),
  expected: null,
};

const unprovenRun: RunSet["runs"][number] = {
  record: record({
    id: "run-3",
    subject: "torn-checkpoint",
    fault: {
      name: "torn-checkpoint",
      variant: "cut-utf8",
      armed: true,
      delivered: false,
      evidence: [],
      provenAtMs: null,
    },
    contract: { ...record().contract, count: null },
    start: null,
    kill: null,
    control: null,
    controlSkipped: "switched off with --no-control",
    attempts: [],
    artifacts: [],
    checkpoint: null,
    quiet: null,
    recoveryMs: null,
    endedAt: null,
    interrupted: "Ctrl-C",
  }),
  grade: grade("unproven", "The failure was not shown to have happened", [
    {
      id: "fault-delivered",
      state: "unknown",
      text: "The failure was not shown to have happened",
    },
  ]),
  expected: null,
};

const notApplicableRun: RunSet["runs"][number] = {
  record: record({
    id: "run-4",
    subject: "stale-lock",
    notApplicable: 'The contract declares no lock. Add "lock": {"path": "run.lock"}',
    containment: null,
    artifacts: [],
    attempts: [],
  }),
  grade: grade(
    "not-applicable",
    'The contract declares no lock. Add "lock": {"path": "run.lock"}',
  ),
  expected: null,
};

function set(command: string, verdict: RunSet["verdict"], runs: RunSet["runs"]): RunSet {
  return {
    schema: "failure-lab/run-set",
    version: 1,
    command,
    tool: record().tool,
    startedAt: "2026-01-02T03:04:05.000Z",
    endedAt: "2026-01-02T03:05:05.000Z",
    interrupted: null,
    verdict,
    exitCode: verdict === "pass" ? 0 : 1,
    runs,
  };
}

/** One good replay. */
export const passSet: RunSet = set("replay", "pass", [passRun]);

/** Replays with every verdict, nasty ones among them. */
export const mixedSet: RunSet = {
  ...set("replay", "fail", [passRun, nastyRun, unprovenRun, notApplicableRun]),
  interrupted: NASTY,
};

/** A set in which nothing was finished. */
export const emptySet: RunSet = set("drills", "unproven", []);

function drill(
  half: "broken" | "repaired",
  verdict: Grade["verdict"],
  reasonId: string | null,
  more: Partial<RunRecord> = {},
): RunSet["runs"][number] {
  const text = "No progress, and nobody ended it";
  const checks: Check[] = reasonId === null ? [] : [{ id: reasonId, state: "bad", text }];
  return {
    record: record({ kind: "drill", subject: "01-hung-process", half, ...more }),
    grade: grade(verdict, reasonId === null ? "Recovered" : text, checks),
    expected: { verdict: half === "broken" ? "fail" : "pass", reasonId, met: true },
  };
}

/** Two drills: one as expected, and one whose repaired half failed. */
export const drillSet: RunSet = set("drills", "fail", [
  drill("broken", "fail", "no-progress", {
    artifacts: [artifact("out/1.md")],
    recoveryMs: null,
  }),
  drill("repaired", "pass", null),
  drill("broken", "fail", "torn", { subject: "03-torn-checkpoint" }),
  {
    ...drill("repaired", "fail", "doubled", {
      subject: "03-torn-checkpoint",
      artifacts: [artifact("out/1.md", { inode: 99 }), artifact("out/2.md")],
    }),
    expected: { verdict: "pass", reasonId: null, met: false },
  },
]);

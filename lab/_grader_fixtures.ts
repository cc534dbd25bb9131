// A complete, good run record for the grader's tests, and a way to damage a copy of it.

import { createHash } from "node:crypto";
import { assertEquals } from "@std/assert";
import { grade } from "./grader.ts";
import type {
  Artifact,
  AttemptRecord,
  CheckpointRecord,
  EffectsRecord,
  Grade,
  KillRecord,
  PhaseRecord,
  RunRecord,
} from "./record.ts";

/** SHA-256 of a text. */
export function sha(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** An output whose content is the given text. */
export function output(path: string, text = `text of ${path}\nEND\n`): Artifact {
  const number = Number.parseInt(path.replace(/\D/g, "") || "0", 10);
  return {
    path,
    bytes: new TextEncoder().encode(text).length,
    sha256: sha(text),
    mtimeMs: 1_780_000_000_000 + number * 1000,
    inode: 4000 + number,
    problems: [],
  };
}

/** The six outputs of the good record, or the first few of them. */
export function outputs(count = 6): Artifact[] {
  return Array.from({ length: count }, (_, i) => output(`out/${i + 1}.md`));
}

/** A command that ended well. */
export function phase(startedMs: number, endedMs: number): PhaseRecord {
  return {
    argv: ["sh", "-c", "./run.sh"],
    startedMs,
    endedMs,
    exitCode: 0,
    signal: null,
    limitHit: null,
    endedByLab: false,
    stdoutBytes: 3,
    stderrBytes: 0,
    stdoutTail: "ok\n",
    stderrTail: "",
    startError: null,
  };
}

/** A command that the lab killed. */
export function killedPhase(startedMs: number, endedMs: number): PhaseRecord {
  return { ...phase(startedMs, endedMs), exitCode: null, signal: "SIGKILL", endedByLab: true };
}

/** A kill that all three witnesses prove. */
export function kill(): KillRecord {
  return {
    signals: [{ signal: "KILL", targets: 2, atMs: 900 }],
    processes: [{ pid: 4242, startedSeconds: 1_780_000_000, name: "sh" }],
    witnesses: { groupEmpty: true, markerEmpty: true, pipesClosed: true },
    survivors: [],
    elapsedMs: 12,
  };
}

/** A checkpoint that claims so many units, and rightly so. */
export function checkpoint(claims: number): CheckpointRecord {
  return {
    path: "state.json",
    present: true,
    bytes: 40 + claims,
    sha256: sha(`checkpoint of ${claims}`),
    parses: true,
    claims,
    claimedAbsent: [],
    unclaimedPresent: [],
    comparedBy: "names",
    problem: null,
  };
}

/** So many effects, each once. */
export function effects(keys: number): EffectsRecord {
  return {
    path: "sent.log",
    total: keys,
    keys,
    doubled: [],
    missing: [],
    unexpected: [],
    unreadable: 0,
    unknown: [],
  };
}

/** One try to recover that found `before` outputs and left `after`. */
export function attempt(
  purpose: AttemptRecord["purpose"],
  how: PhaseRecord,
  [before, after]: [number, number],
): AttemptRecord {
  return {
    purpose,
    phase: how,
    kill: kill(),
    artifactsBefore: outputs(before),
    artifactsAfter: outputs(after),
    effectsAfter: effects(after),
    checkpointAfter: checkpoint(after),
    lockBefore: purpose === "stand-down" ? "the lock" : null,
    lockAfter: purpose === "stand-down" ? "the lock" : null,
  };
}

/** A replay in which everything was observed and everything is well. */
export function goodRecord(): RunRecord {
  return {
    schema: "failure-lab/run-record",
    version: 1,
    id: "stale-lock-1",
    kind: "replay",
    subject: "stale-lock",
    half: null,
    label: null,
    tool: { version: "0.1.0", deno: "2.9.6", os: "linux", arch: "x86_64", compiled: true },
    rerun: "failure-lab replay stale-lock --seed 7",
    seed: 7,
    options: { killAfterArtifacts: 3 },
    git: { head: "0123abcd", dirty: true },
    scope: ["--allow-read=/tmp/lab"],
    project: { path: "/home/me/job", sha256: sha("project"), files: 12, skipped: [] },
    contract: {
      sha256: sha("contract"),
      count: 6,
      contentChecks: ["endsWith"],
      emptyAllowed: false,
      declared: {
        artifacts: { paths: ["out/*.md"], count: 6, endsWith: "END" },
        checkpoint: { path: "state.json" },
        effects: { path: "sent.log" },
      },
    },
    startedAt: "2026-06-01T10:00:00.000Z",
    endedAt: "2026-06-01T10:00:06.000Z",
    interrupted: null,
    notApplicable: null,
    control: {
      phase: phase(0, 700),
      kill: kill(),
      artifacts: outputs().map((each) => ({ ...each, mtimeMs: 1_779_999_000_000, inode: 9 })),
      checkpoint: { ...checkpoint(6), sha256: sha("control's checkpoint") },
    },
    controlSkipped: null,
    start: killedPhase(100, 900),
    fault: {
      name: "stale-lock",
      variant: "dead-owner",
      armed: true,
      delivered: true,
      evidence: [{ what: "the lock names a dead process", value: 4242 }],
      provenAtMs: 950,
    },
    kill: kill(),
    artifactsAtFault: outputs(3),
    finishedAtFault: ["out/1.md", "out/2.md", "out/3.md"],
    checkpointAtFault: checkpoint(3),
    effectsAtFault: effects(3),
    attempts: [
      attempt("stand-down", { ...phase(1000, 1100), exitCode: 75 }, [3, 3]),
      attempt("resume-killed", killedPhase(1200, 1500), [3, 4]),
      attempt("resume", phase(1600, 2400), [4, 6]),
      attempt("resume-again", phase(2700, 2800), [6, 6]),
    ],
    artifacts: outputs(),
    checkpoint: checkpoint(6),
    effects: effects(6),
    quiet: { observedMs: 300, changed: [] },
    recoveryMs: 1440,
    findings: [{ id: "stale-lock-cleared", ok: true, text: "The lock of a dead owner was taken" }],
    containment: {
      watched: [{ path: "/home/me/job", files: 12, bytes: 34_567, incomplete: null }],
      excluded: [],
      changes: [],
      sentinelIntact: true,
      observedBefore: true,
      observedAfter: true,
    },
    cost: { wallMs: 5000, jobMs: 2500, journalEntries: 44, journalDropped: 0 },
  };
}

/** A good record, damaged. */
export function damaged(damage: (record: RunRecord) => void): RunRecord {
  const record = goodRecord();
  damage(record);
  return record;
}

/** What each damage of a good record must give: `[verdict and reason, damage]`, by name. */
export type GradeTable = Record<string, readonly [string, (record: RunRecord) => void]>;

/** Verdict and reason in one word, for tables: `fail finished-untouched`. */
export function inShort({ verdict, reasonId }: Grade): string {
  return reasonId === null ? verdict : `${verdict} ${reasonId}`;
}

/** An element that must be there. */
export function at<T>(list: readonly T[], index: number): T {
  const value = list.at(index);
  if (value === undefined) throw new RangeError(`No element ${index}`);
  return value;
}

/** Damages a good record in each of the ways and holds what the grader says of it. */
export function assertGrades(table: GradeTable): void {
  for (const [name, [expected, damage]] of Object.entries(table)) {
    assertEquals(inShort(grade(damaged(damage))), expected, name);
  }
}

/** Several damages at once. */
export function both(...damages: ((record: RunRecord) => void)[]) {
  return (record: RunRecord): void => damages.forEach((damage) => damage(record));
}

/** Sets the content checks, in what was declared as well. */
export function checks(contentChecks: string[], emptyAllowed = false) {
  return (record: RunRecord): void => {
    Object.assign(record.contract, { contentChecks, emptyAllowed });
    record.contract.declared = {
      artifacts: {
        count: record.contract.count ?? 0,
        emptyAllowed,
        ...Object.fromEntries(contentChecks.map((name) => [name, true])),
      },
    };
  };
}

/**
 * Handwritten run records for the tests of the report formats: every verdict, and names that try
 * to break out of each format.
 *
 * @module
 */
import type { Artifact, Check, Grade, KillRecord, PhaseRecord, RunRecord } from "../record.ts";

/** A name that means something in HTML, XML, Markdown, SVG and to a terminal. */
export const NASTY =
  "a\nb</script><img src=x onerror=alert(1)>\x1b[31m]]>|`*_\"'&\u202e\u0000\ufffe\ud800--><!--";

const hash = (digit: string) => digit.repeat(64);

/** An output as it is found on disk. */
export function artifact(path: string, more: Partial<Artifact> = {}): Artifact {
  return {
    path,
    bytes: 1234,
    sha256: hash("a"),
    mtimeMs: Date.parse("2026-01-02T03:04:06.000Z"),
    inode: 11,
    problems: [],
    ...more,
  };
}

/** A command that ran and ended well. */
export function phase(more: Partial<PhaseRecord> = {}): PhaseRecord {
  return {
    argv: ["sh", "-c", "./resume.sh"],
    startedMs: 2000,
    endedMs: 2600,
    exitCode: 0,
    signal: null,
    limitHit: null,
    endedByLab: false,
    stdoutBytes: 12,
    stderrBytes: 0,
    stdoutTail: "unit 6 done\n",
    stderrTail: "",
    startError: null,
    ...more,
  };
}

/** A kill that is proven by all three witnesses. */
export function kill(more: Partial<KillRecord> = {}): KillRecord {
  return {
    signals: [
      { signal: "SIGTERM", targets: 2, atMs: 1500 },
      { signal: "SIGKILL", targets: 1, atMs: 1700 },
    ],
    processes: [
      { pid: 4242, startedSeconds: 1_767_323_045, name: "sh" },
      { pid: 4243, startedSeconds: 1_767_323_045, name: "sleep" },
    ],
    witnesses: { groupEmpty: true, markerEmpty: true, pipesClosed: true },
    survivors: [],
    elapsedMs: 210,
    ...more,
  };
}

/** A replay that went well. */
export function record(more: Partial<RunRecord> = {}): RunRecord {
  const artifacts = ["out/1.md", "out/2.md", "out/3.md"].map((path) => artifact(path));
  return {
    schema: "failure-lab/run-record",
    version: 1,
    id: "run-1",
    kind: "replay",
    subject: "hung-process",
    half: null,
    label: null,
    tool: { version: "0.1.0", deno: "2.9.6", os: "linux", arch: "x86_64", compiled: true },
    rerun: "failure-lab replay hung-process --seed 7",
    seed: 7,
    options: { killAfterArtifacts: 2 },
    git: { head: "0123abcd", dirty: true },
    scope: ["--allow-read=/tmp/lab", "--deny-write=/home/me/.bashrc"],
    project: {
      path: "/home/me/job",
      sha256: hash("b"),
      files: 12,
      skipped: [{ path: ".env", reason: "holds credentials" }],
    },
    contract: {
      sha256: hash("c"),
      count: 3,
      contentChecks: ["endsWith"],
      emptyAllowed: false,
      declared: { artifacts: { paths: ["out/*.md"], count: 3 } },
    },
    startedAt: "2026-01-02T03:04:05.000Z",
    endedAt: "2026-01-02T03:04:09.000Z",
    interrupted: null,
    notApplicable: null,
    control: {
      phase: phase({ startedMs: 10, endedMs: 400 }),
      kill: kill({ signals: [] }),
      artifacts,
    },
    controlSkipped: null,
    start: phase({
      argv: ["./start.sh"],
      startedMs: 450,
      endedMs: 1720,
      exitCode: null,
      signal: "SIGKILL",
      endedByLab: true,
    }),
    fault: {
      name: "hung-process",
      variant: null,
      armed: true,
      delivered: true,
      evidence: [
        { what: "state of every process", value: ["T", "T"] },
        { what: "no new output for", value: "500 ms" },
      ],
      provenAtMs: 1450,
    },
    kill: kill(),
    artifactsAtFault: artifacts.slice(0, 2),
    finishedAtFault: ["out/1.md", "out/2.md"],
    checkpointAtFault: null,
    effectsAtFault: null,
    attempts: [{
      purpose: "resume",
      phase: phase(),
      kill: kill({ signals: [] }),
      artifactsBefore: artifacts.slice(0, 2),
      artifactsAfter: artifacts,
      effectsAfter: null,
      checkpointAfter: null,
      lockBefore: null,
      lockAfter: null,
    }],
    artifacts,
    checkpoint: {
      path: "state.json",
      present: true,
      bytes: 40,
      sha256: hash("d"),
      parses: true,
      claims: 3,
      claimedAbsent: [],
      unclaimedPresent: [],
      problem: null,
    },
    effects: null,
    quiet: { observedMs: 500, changed: [] },
    recoveryMs: 1050,
    findings: [],
    containment: {
      watched: [
        { path: "/home/me/job", files: 12, bytes: 34_567, incomplete: null },
        { path: "/home/me/.bashrc", files: 1, bytes: 3771, incomplete: null },
      ],
      excluded: ["/home/me/job/.git/index"],
      changes: [],
      sentinelIntact: true,
      observedBefore: true,
      observedAfter: true,
    },
    cost: { wallMs: 4000, jobMs: 2500, journalEntries: 44, journalDropped: 0 },
    ...more,
  };
}

/** A grade whose deciding check is the first one that is not ok. */
export function grade(verdict: Grade["verdict"], reason: string, checks: Check[] = []): Grade {
  const all: Check[] = [
    { id: "containment-clean", state: "ok", text: "Nothing on the watch list changed" },
    ...checks,
  ];
  const decisive = checks.find((check) => check.state === "bad" || check.state === "unknown");
  return {
    verdict,
    reasonId: decisive?.id ?? null,
    reason,
    containmentBroken: false,
    checks: all,
  };
}

/**
 * The run record: everything that was observed in one run, as plain JSON. The grader reads nothing
 * else, so whatever is not in here cannot make a pass.
 *
 * All times in `…Ms` fields are milliseconds since the start of the run unless the field says
 * otherwise. `null` always means "not known" or "not observed", never "fine".
 *
 * @module
 */
import { z } from "zod";

/** Version of the record's shape. A record of any other version is refused, not guessed at. */
export const RECORD_VERSION = 1;

const ms = z.number().min(0);
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/**
 * One process as we identify it: a pid alone is never enough, because pids are used again.
 *
 * @internal
 */
export const processSchema = z.strictObject({
  pid: z.int().positive(),
  /** Start time in whole seconds since the epoch, as `ps` tells it. */
  startedSeconds: z.int(),
  /** The command's name, without arguments and without environment. */
  name: z.string(),
});

/**
 * One finished (or half-finished) piece of work as found on disk.
 *
 * @internal
 */
export const artifactSchema = z.strictObject({
  /** Path relative to the workspace copy. */
  path: z.string().min(1),
  bytes: z.int().min(0),
  sha256,
  /** Modification time in milliseconds since the epoch. */
  mtimeMs: z.number(),
  inode: z.number().nullable(),
  /** Content checks that failed, in words; empty when all declared ones hold. */
  problems: z.array(z.string()),
});

/**
 * One command that ran: how it began, how it ended, what it said.
 *
 * @internal
 */
export const phaseSchema = z.strictObject({
  argv: z.array(z.string()),
  startedMs: ms,
  endedMs: ms.nullable(),
  exitCode: z.int().nullable(),
  /** The signal that ended it. Judge a death by this, never by an exit code of 128+n. */
  signal: z.string().nullable(),
  /** Which limit ended it: total time, or time without progress; `null` when none did. */
  limitHit: z.enum(["run", "idle"]).nullable(),
  /** Whether the lab ended it on purpose (a kill that belongs to the failure). */
  endedByLab: z.boolean(),
  stdoutBytes: z.int().min(0),
  stderrBytes: z.int().min(0),
  stdoutTail: z.string(),
  stderrTail: z.string(),
  /** Could not be started at all: why. */
  startError: z.string().nullable(),
});

/**
 * Proof that a run's processes are gone: three independent witnesses.
 *
 * @internal
 */
export const killSchema = z.strictObject({
  signals: z.array(z.strictObject({ signal: z.string(), targets: z.int().min(0), atMs: ms })),
  /** Every process that was seen as part of the run. */
  processes: z.array(processSchema),
  witnesses: z.strictObject({
    /** Nobody is left in the process groups that we started. */
    groupEmpty: z.boolean().nullable(),
    /** Nobody carries this run's marker, and nobody of the recorded pids is alive. */
    markerEmpty: z.boolean().nullable(),
    /** Nobody holds our pipes: both gave end-of-file. */
    pipesClosed: z.boolean().nullable(),
  }),
  survivors: z.array(processSchema),
  elapsedMs: ms,
});

/**
 * The failure that was done to the run, with what shows that it happened.
 *
 * @internal
 */
export const faultSchema = z.strictObject({
  name: z.string().min(1),
  variant: z.string().nullable(),
  /** `false` in a disarmed run: everything goes the same way, but the fault is not done. */
  armed: z.boolean(),
  /** `true` only with evidence. */
  delivered: z.boolean(),
  evidence: z.array(z.strictObject({ what: z.string().min(1), value: z.json() })),
  /** When the evidence was complete; the recovery time counts from here. */
  provenAtMs: ms.nullable(),
});

/**
 * The checkpoint as the lab reads it beside the disk.
 *
 * @internal
 */
export const checkpointSchema = z.strictObject({
  path: z.string(),
  present: z.boolean(),
  bytes: z.int().min(0).nullable(),
  sha256: sha256.nullable(),
  /** Whether it parses; `null` when nothing says how to read it. */
  parses: z.boolean().nullable(),
  /** How many units it claims as done; `null` when that cannot be read from it. */
  claims: z.int().min(0).nullable(),
  /** Claimed units that the disk does not hold whole. */
  claimedAbsent: z.array(z.string()),
  /** Whole units on disk that it does not claim. */
  unclaimedPresent: z.array(z.string()),
  /**
   * How claims and outputs were brought together: by their names, or only by how many entries there
   * are or which number stands there. `null` when they were not.
   */
  comparedBy: z.enum(["names", "entries", "number"]).nullable().optional(),
  problem: z.string().nullable(),
});

/**
 * Effects (messages sent, rows written) counted per key.
 *
 * @internal
 */
export const effectsSchema = z.strictObject({
  path: z.string(),
  total: z.int().min(0),
  keys: z.int().min(0),
  doubled: z.array(z.strictObject({ key: z.string(), count: z.int().min(2) })),
  /** Keys of the control run that did not come. */
  missing: z.array(z.string()),
  /** Keys that the control run did not have; empty when there was none to compare with. */
  unexpected: z.array(z.string()).optional(),
  /** Lines that could not be read as an effect, or not be told apart from others. */
  unreadable: z.int().min(0),
  /** Effects of which nobody can say whether they happened, as the job itself reports them. */
  unknown: z.array(z.string()),
});

/**
 * What one try to recover was for; the grader asks different things of each. `stand-down` met the
 * lock of a living owner; `beside` met another living run of the job and ended without success.
 *
 * @internal
 */
export const attemptPurposeSchema = z.enum([
  "resume",
  "resume-killed",
  "resume-again",
  "stand-down",
  "beside",
]);

/**
 * One try to recover: the user's resume command, or the repair of a drill.
 *
 * @internal
 */
export const attemptSchema = z.strictObject({
  purpose: attemptPurposeSchema,
  phase: phaseSchema,
  kill: killSchema,
  artifactsBefore: z.array(artifactSchema),
  artifactsAfter: z.array(artifactSchema),
  effectsAfter: effectsSchema.nullable(),
  checkpointAfter: checkpointSchema.nullable(),
  /** Content hash of the declared lock before and after; `null` when absent or not declared. */
  lockBefore: z.string().nullable(),
  lockAfter: z.string().nullable(),
});

/**
 * A change of something that a run must not touch.
 *
 * @internal
 */
export const containmentChangeSchema = z.strictObject({
  path: z.string(),
  change: z.enum(["added", "removed", "modified", "kind", "mode", "unknown"]),
  before: z.string().nullable(),
  after: z.string().nullable(),
});

/**
 * What was watched outside the lab, and what became of it.
 *
 * @internal
 */
export const containmentSchema = z.strictObject({
  watched: z.array(z.strictObject({
    path: z.string(),
    files: z.int().min(0),
    bytes: z.int().min(0),
    /** Why part of it could not be watched; `null` when all of it was. */
    incomplete: z.string().nullable(),
  })),
  excluded: z.array(z.string()),
  changes: z.array(containmentChangeSchema),
  sentinelIntact: z.boolean().nullable(),
  /** Hashed before the run and again after it. Anything else is not an observation. */
  observedBefore: z.boolean(),
  observedAfter: z.boolean(),
});

/**
 * A finding that belongs to one kind of failure; `ok: null` is "could not be told".
 *
 * @internal
 */
export const findingSchema = z.strictObject({
  /** Stable name, for example `orphan-wrote-after-success`; the answer key uses it. */
  id: z.string().regex(/^[a-z][a-z0-9-]*$/),
  ok: z.boolean().nullable(),
  text: z.string().min(1),
});

/**
 * The whole record of one run.
 *
 * @internal
 */
export const runRecordSchema = z.strictObject({
  schema: z.literal("failure-lab/run-record"),
  version: z.literal(RECORD_VERSION),
  id: z.string().min(1),
  kind: z.enum(["drill", "rehearsal", "replay"]),
  /** Drill or replay id, or `rehearsal`. */
  subject: z.string().min(1),
  /** Half of a drill; `null` elsewhere. */
  half: z.enum(["broken", "repaired"]).nullable(),
  label: z.string().nullable(),
  tool: z.strictObject({
    version: z.string(),
    deno: z.string(),
    os: z.string(),
    arch: z.string(),
    compiled: z.boolean(),
  }),
  /** The line that runs this again. */
  rerun: z.string(),
  seed: z.int().min(0),
  /** Everything that was drawn or set for this run. */
  options: z.record(z.string(), z.json()),
  git: z.strictObject({ head: z.string(), dirty: z.boolean() }).nullable(),
  /** The permission scope of the driver, as Deno flags. */
  scope: z.array(z.string()),
  project: z.strictObject({
    path: z.string(),
    sha256: sha256.nullable(),
    files: z.int().min(0),
    skipped: z.array(z.strictObject({ path: z.string(), reason: z.string() })),
    /** Hash of each file; a path that ends with `/` stands for all below it. Bounded. */
    manifest: z.record(z.string(), sha256).nullable().optional(),
  }).nullable(),
  /** The contract as it was understood, and its hash. */
  contract: z.strictObject({
    sha256,
    count: z.int().min(0).nullable(),
    /** Content checks that are on: `minBytes`, `endsWith`, `check`, `sameAsControl`. */
    contentChecks: z.array(z.string()),
    /** Whether an output of 0 bytes can be a whole one. */
    emptyAllowed: z.boolean(),
    declared: z.json(),
  }),
  startedAt: z.iso.datetime(),
  endedAt: z.iso.datetime().nullable(),
  /** Interrupted by the user or by an error before its end: why. */
  interrupted: z.string().nullable(),
  /** Cannot be done with this contract: which declaration is missing, with the JSON to add. */
  notApplicable: z.string().nullable(),
  /** A run without a fault, before everything else; `null` when it was switched off. */
  control: z.strictObject({
    phase: phaseSchema,
    kill: killSchema,
    artifacts: z.array(artifactSchema),
    /** How a whole run leaves its checkpoint: what the one after a recovery is compared with. */
    checkpoint: checkpointSchema.nullable().optional(),
  })
    .nullable(),
  controlSkipped: z.string().nullable(),
  start: phaseSchema.nullable(),
  fault: faultSchema,
  /** Proof that everything of the failed run was gone before recovery; `null` if never reaped. */
  kill: killSchema.nullable(),
  /** What was on disk when the failed run was over and nothing of it was alive. */
  artifactsAtFault: z.array(artifactSchema),
  /** Paths among them that were proven whole at that moment, so that recovery must not touch them. */
  finishedAtFault: z.array(z.string()),
  checkpointAtFault: checkpointSchema.nullable(),
  effectsAtFault: effectsSchema.nullable(),
  attempts: z.array(attemptSchema),
  /** Final state, taken after the quiet period. */
  artifacts: z.array(artifactSchema),
  checkpoint: checkpointSchema.nullable(),
  effects: effectsSchema.nullable(),
  /**
   * The declared end mark stands in the middle of an output as well, so that it does not tell a half
   * file from a whole one. Absent: not seen.
   */
  endMarkRepeats: z.boolean().optional(),
  /** The time after "success" in which nothing may change any more. */
  quiet: z.strictObject({
    observedMs: ms,
    changed: z.array(z.strictObject({ path: z.string(), by: z.string().nullable() })),
  }).nullable(),
  /** From the proven fault to the moment when the last expected artifact was whole. */
  recoveryMs: ms.nullable(),
  /**
   * Dead processes of the failed run that the system had not collected when the recovery began, and
   * whose numbers stand in files of the job: `kill -0` still takes them for alive. Absent: nobody.
   */
  uncollected: z.array(processSchema).optional(),
  findings: z.array(findingSchema),
  containment: containmentSchema.nullable(),
  /** Process samples, bytes of journal, and the like. */
  cost: z.strictObject({
    wallMs: ms,
    jobMs: ms,
    journalEntries: z.int().min(0),
    journalDropped: z.int().min(0),
  }),
});

// Written by what `parse` gives: `z.infer` names a type of zod that `deno doc --lint` takes for private.

/** See {@linkcode processSchema}. */
export type ProcessIdentity = ReturnType<typeof processSchema.parse>;
/** See {@linkcode artifactSchema}. */
export type Artifact = ReturnType<typeof artifactSchema.parse>;
/** See {@linkcode phaseSchema}. */
export type PhaseRecord = ReturnType<typeof phaseSchema.parse>;
/** See {@linkcode killSchema}. */
export type KillRecord = ReturnType<typeof killSchema.parse>;
/** See {@linkcode faultSchema}. */
export type FaultRecord = ReturnType<typeof faultSchema.parse>;
/** See {@linkcode checkpointSchema}. */
export type CheckpointRecord = ReturnType<typeof checkpointSchema.parse>;
/** See {@linkcode effectsSchema}. */
export type EffectsRecord = ReturnType<typeof effectsSchema.parse>;
/** See {@linkcode attemptSchema}. */
export type AttemptRecord = ReturnType<typeof attemptSchema.parse>;
/** See {@linkcode containmentSchema}. */
export type ContainmentRecord = ReturnType<typeof containmentSchema.parse>;
/** See {@linkcode findingSchema}. */
export type Finding = ReturnType<typeof findingSchema.parse>;
/** See {@linkcode runRecordSchema}. */
export type RunRecord = ReturnType<typeof runRecordSchema.parse>;

/** One thing that the grader asked of a record. */
export interface Check {
  /** Stable name; answer keys and reports use it. */
  id: string;
  /** `ok`, `bad` (a fail), `unknown` (unproven) or `skipped` (does not apply to this record). */
  state: "ok" | "bad" | "unknown" | "skipped";
  /** One sentence for a person: what was seen, and against which rule. */
  text: string;
}

/** A graded record. */
export interface Grade {
  /** Whether the recovery is shown to be right; `unproven` is never a pass. */
  verdict: "pass" | "fail" | "unproven" | "not-applicable";
  /** The id of the check that decided; `null` for a pass. */
  reasonId: string | null;
  /** The sentence of the check that decided. */
  reason: string;
  /** Whether a watched path or the sentinel was changed. Outranks every other verdict. */
  containmentBroken: boolean;
  /** Every check, in the order in which they were asked. */
  checks: Check[];
}

/** What a saved report file holds: records and the grades given to them. */
export interface RunSet {
  /** What kind of file it is. */
  schema: "failure-lab/run-set";
  /** Version of the shape of the records. */
  version: typeof RECORD_VERSION;
  /** `demo`, `drills`, `rehearse`, `replay` or `sweep`. */
  command: string;
  /** The program and the machine that made the runs. */
  tool: RunRecord["tool"];
  /** When the command began, as ISO 8601 in UTC. */
  startedAt: string;
  /** When it ended; `null` while it goes on, or when it was cut off. */
  endedAt: string | null;
  /** Why it was interrupted; `null` when it was not. */
  interrupted: string | null;
  /** Merged verdict of all runs by the one precedence. */
  verdict: "pass" | "fail" | "unproven" | "not-applicable";
  /** Exit code of the command, as the merged verdict gives it. */
  exitCode: number;
  /** The runs in the order in which they were done. */
  runs: {
    record: RunRecord;
    grade: Grade;
    /** For drills: what the answer key expects of this half, and whether it came. */
    expected: { verdict: string; reasonId: string | null; met: boolean } | null;
  }[];
}

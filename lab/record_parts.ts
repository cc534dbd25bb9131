/**
 * The parts that a run record is made of. Whatever is said in record.ts holds here as well.
 *
 * @module
 */
import { z } from "zod";

/**
 * Milliseconds.
 *
 * @internal
 */
export const msSchema = z.number().min(0);
/**
 * A hash as 64 hexadecimal digits.
 *
 * @internal
 */
export const sha256Schema = z.string().regex(/^[0-9a-f]{64}$/);

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
  sha256: sha256Schema,
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
  startedMs: msSchema,
  endedMs: msSchema.nullable(),
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
  signals: z.array(z.strictObject({ signal: z.string(), targets: z.int().min(0), atMs: msSchema })),
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
  elapsedMs: msSchema,
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
  provenAtMs: msSchema.nullable(),
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
  sha256: sha256Schema.nullable(),
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

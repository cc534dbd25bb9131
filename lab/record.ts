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
import {
  artifactSchema,
  attemptSchema,
  checkpointSchema,
  containmentSchema,
  effectsSchema,
  faultSchema,
  findingSchema,
  killSchema,
  msSchema,
  phaseSchema,
  processSchema,
  sha256Schema,
} from "./record_parts.ts";

export * from "./record_parts.ts";

/** Version of the record's shape. A record of any other version is refused, not guessed at. */
export const RECORD_VERSION = 1;

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
    sha256: sha256Schema.nullable(),
    files: z.int().min(0),
    skipped: z.array(z.strictObject({ path: z.string(), reason: z.string() })),
    /** Hash of each file; a path that ends with `/` stands for all below it. Bounded. */
    manifest: z.record(z.string(), sha256Schema).nullable().optional(),
  }).nullable(),
  /** The contract as it was understood, and its hash. */
  contract: z.strictObject({
    sha256: sha256Schema,
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
    /** Outputs that were seen to change after they had come: half ones can be met there. */
    grown: z.array(z.string()).optional(),
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
  /** Paths of which only their age says so: a recovery that makes them again is not proven wrong. */
  likelyAtFault: z.array(z.string()).optional(),
  checkpointAtFault: checkpointSchema.nullable(),
  effectsAtFault: effectsSchema.nullable(),
  attempts: z.array(attemptSchema),
  /** Final state, taken after the quiet period. */
  artifacts: z.array(artifactSchema),
  checkpoint: checkpointSchema.nullable(),
  effects: effectsSchema.nullable(),
  /** The log of effects no longer begins with what it held at the failure. Absent: it does. */
  effectsLogReplaced: z.boolean().optional(),
  /**
   * The declared end mark stands in the middle of an output as well, so that it does not tell a half
   * file from a whole one. Absent: not seen.
   */
  endMarkRepeats: z.boolean().optional(),
  /** The time after "success" in which nothing may change any more. */
  quiet: z.strictObject({
    observedMs: msSchema,
    changed: z.array(z.strictObject({ path: z.string(), by: z.string().nullable() })),
  }).nullable(),
  /** From the proven fault to the moment when the last expected artifact was whole. */
  recoveryMs: msSchema.nullable(),
  /**
   * Dead processes of the failed run that the system had not collected when the recovery began, and
   * whose numbers stand in files of the job: `kill -0` still takes them for alive. Absent: nobody.
   */
  uncollected: z.array(processSchema).optional(),
  findings: z.array(findingSchema),
  containment: containmentSchema.nullable(),
  /** Process samples, bytes of journal, and the like. */
  cost: z.strictObject({
    wallMs: msSchema,
    jobMs: msSchema,
    journalEntries: z.int().min(0),
    journalDropped: z.int().min(0),
  }),
});

// Written by what `parse` gives: `z.infer` names a type of zod that `deno doc --lint` takes for private.

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

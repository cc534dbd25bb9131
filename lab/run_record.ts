/**
 * Starting a run record: everything not observed yet, so that a record of a run that broke off is
 * already honest.
 *
 * @module
 */
import { type FaultRecord, RECORD_VERSION, type RunRecord } from "./record.ts";
import { VERSION } from "./version.ts";

/** What is known before a run begins. */
export type RecordStart =
  & Pick<
    RunRecord,
    "id" | "kind" | "subject" | "half" | "label" | "rerun" | "seed" | "options" | "git" | "scope"
  >
  & Pick<RunRecord, "contract" | "startedAt">
  // A worker of a compiled program does not know that it is compiled, so its starter says it.
  & Partial<Pick<RunRecord, "tool">>
  & { fault: Pick<FaultRecord, "name" | "variant" | "armed"> };

/** A record in which nothing has been observed yet: graded as it is, it is never a pass. */
export function newRecord(start: RecordStart): RunRecord {
  return {
    schema: "failure-lab/run-record",
    version: RECORD_VERSION,
    ...start,
    tool: start.tool ?? toolInfo(),
    project: null,
    endedAt: null,
    interrupted: null,
    notApplicable: null,
    control: null,
    controlSkipped: null,
    start: null,
    fault: { ...start.fault, delivered: false, evidence: [], provenAtMs: null },
    kill: null,
    artifactsAtFault: [],
    finishedAtFault: [],
    checkpointAtFault: null,
    effectsAtFault: null,
    attempts: [],
    artifacts: [],
    checkpoint: null,
    effects: null,
    quiet: null,
    recoveryMs: null,
    findings: [],
    containment: null,
    cost: { wallMs: 0, jobMs: 0, journalEntries: 0, journalDropped: 0 },
  };
}

/** What program this is, for records. */
export function toolInfo(): RunRecord["tool"] {
  return {
    version: VERSION,
    deno: Deno.version.deno,
    os: Deno.build.os,
    arch: Deno.build.arch,
    compiled: Deno.build.standalone === true,
  };
}

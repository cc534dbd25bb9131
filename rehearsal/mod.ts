/**
 * Rehearsals: the user's own job in a disposable copy, made to fail, and its own recovery graded.
 *
 * This file is the only door of the folder.
 *
 * @module
 */
export {
  type Change,
  type ChangesDeclared,
  type ComparedPair,
  compareRuns,
  type Comparison,
  type OutputChanges,
  type PairChange,
  type Refusal,
  type RefusalId,
  type RunFigures,
  type SavedRecord,
} from "./compare.ts";
export { CONFIG_NAME, type ConfigSource, loadConfig, type LoadedConfig } from "./config.ts";
export {
  type Contract,
  ContractError,
  contractSchema,
  killPointOf,
  parseContract,
} from "./contract.ts";
export {
  type CommandPlaces,
  type JobEnvironment,
  jobEnvironment,
  resolveCommand,
} from "./job_environment.ts";
export type { PlanItem } from "./plan.ts";
export {
  type Json,
  type MadeReceipt,
  makeReceipt,
  type Receipt,
  RECEIPT_NOTE,
  RECEIPT_SCHEMA,
  ReceiptError,
  type ReceiptSource,
  receiptText,
  type Redaction,
  type RedactionContext,
  type Section,
} from "./receipt.ts";
export {
  type CheckedRun,
  checkReceipt,
  type ReceiptCheck,
  type SealProblem,
} from "./receipt_check.ts";
export {
  checkOutputs,
  type OutputCheck,
  outputsIn,
  projectFiles,
  type ReadOutput,
} from "./receipt_outputs.ts";
export {
  findReplays,
  planReplays,
  replayNumber,
  type ReplayPlanOptions,
  UnknownReplayError,
} from "./replay_plan.ts";
export { findReplay, type Replay, REPLAYS } from "./replays/mod.ts";
export { dealLanes, planSweep } from "./sweep.ts";
export { type Scope, scopeFlags } from "./scope.ts";
export { plannedScope, runSession, type SessionOptions, type SessionResult } from "./session.ts";

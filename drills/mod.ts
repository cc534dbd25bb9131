/**
 * The drills: eleven failures of unattended work, each with a half in which an obvious recovery goes
 * wrong, and a half in which a repair finishes the work.
 *
 * This file is the only door of the folder.
 *
 * @module
 */
export {
  type AnswerKey,
  type DrillKey,
  type Expectation,
  expectationFor,
  isMet,
  loadAnswerKey,
  type Mode,
  MODES,
} from "./answer_key.ts";
export {
  type DrillRun,
  findDrill,
  findDrills,
  type PlanOptions,
  planRuns,
  UnknownDrillError,
} from "./catalog.ts";
export {
  type Drill,
  type DrillLimits,
  type DrillPage,
  drillsFolder,
  KitFileError,
  loadDrills,
  type Naive,
  naiveOf,
  REPAIR_IDS,
  type RepairId,
  type Variant,
} from "./definition.ts";
export { grantedFlags } from "./scope.ts";
export { kitPath, runDrills, type SessionOptions, type SessionResult } from "./session.ts";
export * from "./faults/block_on_pipe.ts";
export * from "./faults/double_work.ts";
export * from "./faults/hollow_success.ts";
export * from "./faults/kill_leader.ts";
export * from "./faults/kill_monitor.ts";
export * from "./faults/lie_in_checkpoint.ts";
export * from "./faults/plant_lock.ts";
export * from "./faults/provider_outage.ts";
export * from "./faults/escape_scope.ts";
export * from "./faults/tear_checkpoint.ts";

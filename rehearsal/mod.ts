/**
 * Rehearsals: the user's own job in a disposable copy, made to fail, and its own recovery graded.
 *
 * This file is the only door of the folder.
 *
 * @module
 */
export { CONFIG_NAME, type ConfigSource, loadConfig, type LoadedConfig } from "./config.ts";
export {
  type Contract,
  ContractError,
  contractSchema,
  killPointOf,
  parseContract,
} from "./contract.ts";
export type { PlanItem } from "./plan.ts";
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

/**
 * A loopback LLM provider that fails on schedule: for the provider-outage drill and replay, and for
 * agent CLIs that have to run without an account.
 *
 * @example A provider that is overloaded for two requests
 * ```ts
 * import { outageSchedule, startProvider } from "./mod.ts";
 *
 * await using provider = await startProvider({ schedule: outageSchedule({ count: 2 }) });
 * const statuses: number[] = [];
 * for (let attempt = 1; attempt <= 3; attempt++) {
 *   const response = await fetch(`${provider.url}/lab/unit/unit-1`, { method: "POST" });
 *   await response.text();
 *   statuses.push(response.status);
 * }
 * if (statuses.join() !== "529,529,200") throw new Error(statuses.join());
 * ```
 *
 * @module
 */

export { type AttemptGaps, attemptGaps, type Judgement, type KeyGaps } from "./attempt_gaps.ts";
export type { Observer, ProviderClock } from "./_desk.ts";
export type { UnitEffects } from "./effect_ledger.ts";
export {
  checkSchedule,
  type Fault,
  FAULT_KINDS,
  type FaultKind,
  type FaultRule,
  type OutageOptions,
  outageSchedule,
  type Schedule,
} from "./fault_schedule.ts";
export { DEFAULT_KEY, FAKE_KEY_PREFIX } from "./key_guard.ts";
export { type OutageReport, outageReport } from "./outage_report.ts";
export { LAB_MODEL, type ModelRequest, type ProtocolName, type ToolCall } from "./protocol.ts";
export type { LogCounters, LogEntry, LogOptions, Outcome, ProviderLog } from "./request_log.ts";
export { type Script, unitsByCallId, unitsOnDisk } from "./scripted_turns.ts";
export { type Provider, type ProviderOptions, startProvider } from "./server.ts";

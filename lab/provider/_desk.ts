/**
 * What all connections of one provider share: options, schedule, log and counters.
 *
 * @module
 */

import {
  checkSchedule,
  decideFault,
  type Fault,
  noHits,
  type RequestFacts,
  type Schedule,
} from "./fault_schedule.ts";
import type { LogEntry, RequestLog } from "./request_log.ts";
import type { Script } from "./scripted_turns.ts";

/** Told about every request when it is planned and when it has ended; gets a copy. */
export type Observer = (moment: "started" | "ended", entry: LogEntry) => void;

/** Time as the provider needs it; the `Clock` of `lab/clock.ts` is one. */
export interface ProviderClock {
  /** Monotonic milliseconds. */
  nowMs(): number;
  /** Wall-clock time, ISO 8601 in UTC. */
  wallIso(): string;
  /** Resolves after `ms` milliseconds, or at once when `signal` is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** What a desk is made of. */
export interface DeskOptions {
  /** The one key that is taken. */
  key: string;
  /** What the scripted model has to get done. */
  script: Script | null;
  /** Pause before each answer to a work request. */
  delayMs: number;
  /** Time. */
  clock: ProviderClock;
  /** The journal. */
  log: RequestLog;
  /** Aborted when the provider stops. */
  stopping: AbortSignal;
  /** Told about every request. */
  observe: Observer | null;
}

/** The shared state of one provider. */
export class Desk {
  /** What it was made of. */
  readonly options: DeskOptions;
  readonly #startMs: number;
  #schedule: Schedule = [];
  #hits: readonly number[] = [];
  #serial = 0;

  /** The moment of construction is 0 of {@linkcode Desk.nowMs}. */
  constructor(options: DeskOptions) {
    this.options = options;
    this.#startMs = options.clock.nowMs();
  }

  /** Monotonic milliseconds since the start. */
  nowMs(): number {
    return this.options.clock.nowMs() - this.#startMs;
  }

  /** Number of the next answer, from 1. */
  nextSerial(): number {
    return ++this.#serial;
  }

  /** Replaces the schedule; the counts of its rules begin at 0. */
  setSchedule(schedule: Schedule): void {
    checkSchedule(schedule);
    this.#schedule = structuredClone(schedule);
    this.#hits = noHits(schedule);
  }

  /** Decides which fault meets a request, and counts it. */
  decide(facts: RequestFacts): Fault | null {
    const { fault, hits } = decideFault(this.#schedule, this.#hits, facts);
    this.#hits = hits;
    return fault;
  }

  /** Tells the observer. */
  tell(moment: "started" | "ended", entry: LogEntry): void {
    this.options.observe?.(moment, { ...entry });
  }
}

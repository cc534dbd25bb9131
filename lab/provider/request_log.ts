/**
 * What the provider saw and did, request by request, in bounded memory: the first and the last
 * entries in full, and counters for all.
 *
 * No header is kept but the idempotency key and `x-lab-unit`, and no body: only its length and
 * hash.
 *
 * @module
 */

import { EffectLedger, type UnitEffects } from "./effect_ledger.ts";
import type { Fault, FaultKind } from "./fault_schedule.ts";
import { retryAfterMs } from "./faults/mod.ts";
import type { ProtocolName } from "./protocol.ts";

/**
 * How a request ended. `open`: it has not. `complete`: everything was sent and the body ended.
 * `reset`: we reset the connection. `cut`: we closed it instead, because the runtime cannot reset
 * (Deno 2.4.2). `client-left`: the client closed it first. `stopped`: the provider stopped.
 * `failed`: the script threw.
 */
export type Outcome = "open" | "complete" | "reset" | "cut" | "client-left" | "stopped" | "failed";

/** One request and its answer. */
export interface LogEntry {
  /** Number among all requests, from 1. */
  sequence: number;
  /** Arrival, in monotonic milliseconds since the provider started. */
  atMs: number;
  /** Arrival, ISO 8601 in UTC. */
  wallIso: string;
  /** HTTP method. */
  method: string;
  /** Path without the query; of a refused request only the route. */
  path: string;
  /** Protocol, or `other` for model lists, token counts and unknown paths. */
  protocol: ProtocolName | "other";
  /** Whether the request drives the job; only these count as attempts. */
  work: boolean;
  /** Whether the client asked for a stream. */
  stream: boolean;
  /** Bytes of the body as sent. */
  bodyBytes: number;
  /** SHA-256 of the body as sent, in hexadecimal; `null` when the request was refused unread. */
  bodySha256: string | null;
  /** The Idempotency-Key header, or `null`. */
  idempotencyKey: string | null;
  /** The unit in the path or in `x-lab-unit`, or the unit that the scripted turn asks for. */
  unit: string | null;
  /**
   * What attempts are counted by: unit, else idempotency key, else `turn-<n>`; `null` if not work.
   */
  attemptKey: string | null;
  /** Number of this attempt for its key, from 1; 0 when it is not work. */
  attempt: number;
  /** The fault that met the request, or `null`. */
  fault: FaultKind | null;
  /** How long the answer asked the client to wait, in milliseconds; `null` without Retry-After. */
  retryAfterMs: number | null;
  /** How it asked; a date has a resolution of one second. */
  retryAfterForm: "seconds" | "http-date" | null;
  /** HTTP status sent, or `null` when no status line was. */
  status: number | null;
  /** Bytes sent, headers included. */
  bytesSent: number;
  /** Provider events sent. */
  eventCount: number;
  /** Pings sent; they are not events. */
  pingCount: number;
  /** End of the exchange, in monotonic milliseconds since the start; `null` while it is open. */
  endMs: number | null;
  /** How it ended. */
  outcome: Outcome;
  /** A remark, such as the reason of a refusal; never holds anything that a client sent. */
  note: string | null;
}

/** Counters over all requests, also over those whose entries were dropped. */
export interface LogCounters {
  /** All requests. */
  requests: number;
  /** Requests that drive the job. */
  work: number;
  /** Work requests that met a fault. */
  faulted: number;
  /** Work requests that were answered without a fault. */
  answered: number;
  /** Requests refused because of their key. */
  refused: number;
}

/** A copy of the log. */
export interface ProviderLog {
  /** The first and the last entries, in order of arrival. */
  entries: readonly LogEntry[];
  /** How many entries between them were dropped. */
  dropped: number;
  /** Counters over all requests. */
  counters: LogCounters;
  /** Effects by unit, in order of the first effect. */
  effects: readonly UnitEffects[];
  /** Effects that could not be counted because there were too many units; not 0 = do not judge. */
  effectsNotCounted: number;
}

/** Limits of the log. */
export interface LogOptions {
  /** Entries kept from the start. @default {200} */
  keepFirst?: number;
  /** Entries kept up to now. @default {800} */
  keepLast?: number;
  /** Units, idempotency keys and attempt keys that are told apart. @default {10000} */
  keysMax?: number;
}

/** What is known about a request on its arrival. */
export type Arrival =
  & Pick<LogEntry, "atMs" | "wallIso" | "method" | "path" | "protocol">
  & Partial<Pick<LogEntry, "work" | "stream" | "idempotencyKey" | "unit" | "note">>;

/** The journal of one provider. */
export class RequestLog {
  /** Who has done which unit. */
  readonly ledger: EffectLedger;
  readonly #keepFirst: number;
  readonly #keepLast: number;
  readonly #keysMax: number;
  readonly #first: LogEntry[] = [];
  readonly #last: LogEntry[] = [];
  readonly #attempts = new Map<string, number>();
  readonly #counters: LogCounters = { requests: 0, work: 0, faulted: 0, answered: 0, refused: 0 };
  #dropped = 0;
  #turn = 1;

  /** @throws {RangeError} If a limit is negative or not a whole number. */
  constructor(options: LogOptions = {}) {
    this.#keepFirst = checkLimit("keepFirst", options.keepFirst ?? 200);
    this.#keepLast = checkLimit("keepLast", options.keepLast ?? 800);
    this.#keysMax = checkLimit("keysMax", options.keysMax ?? 10_000);
    this.ledger = new EffectLedger(this.#keysMax);
  }

  /** Number that the next work request will have, from 1. */
  get nextWorkNumber(): number {
    return this.#counters.work + 1;
  }

  /** Opens the entry of a request. The caller goes on writing into it until {@linkcode end}. */
  begin(arrival: Arrival): LogEntry {
    this.#counters.requests++;
    if (arrival.note === KEY_REFUSED) this.#counters.refused++;
    const work = arrival.work ?? false;
    const unit = arrival.unit ?? null;
    const idempotencyKey = arrival.idempotencyKey ?? null;
    const attemptKey = work ? unit ?? idempotencyKey ?? `turn-${this.#turn}` : null;
    if (work) this.#counters.work++;
    const entry: LogEntry = {
      sequence: this.#counters.requests,
      stream: false,
      note: null,
      ...arrival,
      work,
      unit,
      idempotencyKey,
      attemptKey,
      attempt: attemptKey === null ? 0 : this.#countAttempt(attemptKey),
      bodyBytes: 0,
      bodySha256: null,
      fault: null,
      retryAfterMs: null,
      retryAfterForm: null,
      status: null,
      bytesSent: 0,
      eventCount: 0,
      pingCount: 0,
      endMs: null,
      outcome: "open",
    };
    this.#keep(entry);
    return entry;
  }

  /** Notes that a request met a fault, so that it counts while it is still stalled. */
  meetFault(entry: LogEntry, fault: Fault): void {
    entry.fault = fault.kind;
    entry.retryAfterMs = retryAfterMs(fault);
    if (entry.retryAfterMs !== null) {
      entry.retryAfterForm = fault.retryAfterForm === "http-date" ? "http-date" : "seconds";
    }
    if (entry.work) this.#counters.faulted++;
  }

  /** Closes an entry. */
  end(entry: LogEntry, outcome: Exclude<Outcome, "open">, atMs: number): void {
    entry.outcome = outcome;
    entry.endMs = atMs;
    if (!isAnswered(entry)) return;
    this.#counters.answered++;
    // The retries of an agent that sends no key belong to one turn until that turn is answered.
    if (entry.attemptKey === `turn-${this.#turn}`) this.#turn++;
  }

  /** A copy of everything that is kept. */
  snapshot(): ProviderLog {
    return {
      entries: [...this.#first, ...this.#last].map((entry) => ({ ...entry })),
      dropped: this.#dropped,
      counters: { ...this.#counters },
      effects: this.ledger.units(),
      effectsNotCounted: this.ledger.notCounted,
    };
  }

  #countAttempt(key: string): number {
    const attempt = (this.#attempts.get(key) ?? 0) + 1;
    this.#attempts.delete(key);
    this.#attempts.set(key, attempt);
    if (this.#attempts.size > this.#keysMax) {
      // Maps keep insertion order: the first key is the one that was quiet for longest.
      for (const oldest of this.#attempts.keys()) {
        this.#attempts.delete(oldest);
        break;
      }
    }
    return attempt;
  }

  #keep(entry: LogEntry): void {
    if (this.#first.length < this.#keepFirst) {
      this.#first.push(entry);
      return;
    }
    this.#last.push(entry);
    if (this.#last.length > this.#keepLast) {
      this.#last.shift();
      this.#dropped++;
    }
  }
}

/** Whether an entry is work that the client was told about in full and without a fault. */
export function isAnswered(entry: LogEntry): boolean {
  return entry.work && entry.fault === null && entry.status === 200 && entry.outcome === "complete";
}

/** The note of a refused request. What arrived is not in it, and nowhere else. */
export const KEY_REFUSED = "a key that is not ours arrived";

function checkLimit(name: string, value: number): number {
  if (Number.isInteger(value) && value >= 0) return value;
  throw new RangeError(
    `Cannot keep a log as '${name}' must be a whole number from 0: current value is ${value}`,
  );
}

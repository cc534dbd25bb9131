/**
 * Which fault meets which request. Pure: the same schedule, requests and times give the same
 * faults, and nothing here reads a clock.
 *
 * @module
 */

/** All faults, in the order of the path that a request takes. */
export const FAULT_KINDS = [
  "429",
  "529",
  "500",
  "503",
  "401",
  "400",
  "quota",
  "reset-before-headers",
  "stall-before-first-byte",
  "empty-200",
  "html-200",
  "error-event",
  "malformed-frame",
  "reset-mid-stream",
  "ends-early",
  "cut-tool-json",
  "stall-mid-stream",
  "stall-with-pings",
] as const;

/** Name of a fault. */
export type FaultKind = typeof FAULT_KINDS[number];

/** One fault with its variants; a field that does not belong to the kind is refused. */
export interface Fault {
  /** What goes wrong. */
  kind: FaultKind;
  /**
   * `429`, `529`, `503`, `quota`: value of the Retry-After header in whole seconds. Without it,
   * `429` says 3, `quota` says 3600, and the other two send no header.
   */
  retryAfterSeconds?: number;
  /**
   * The same four: how the header says it (RFC 9110, 10.2.3: seconds or a date), or that it is left
   * out. @default {"seconds"}
   */
  retryAfterForm?: "seconds" | "http-date" | "none";
  /** Kinds with an error text, `error-event` included: the text. */
  message?: string;
  /** `reset-mid-stream`, `stall-mid-stream`, `stall-with-pings`: how far the answer gets.
   * @default {"tool-json"} */
  after?: "headers" | "text" | "tool-json";
  /** `stall-with-pings`: milliseconds between two pings. @default {1000} */
  pingEveryMs?: number;
  /** Where the JSON of the tool call is cut, as a fraction in (0, 1). @default {0.5} */
  cutAt?: number;
  /** `cut-tool-json`: the answer closes properly with "token limit reached". @default {false} */
  tokenLimit?: boolean;
  /**
   * The unit counts as done before the fault hits: the effect happens, and its answer is lost. This
   * is how a retry with a fresh key doubles work. @default {false}
   */
  effectFirst?: boolean;
}

/** When a fault applies. All given conditions must hold; none at all means always. */
export interface FaultRule {
  /** What goes wrong. */
  fault: Fault;
  /** From this work request on, counted from 1 since the provider started. @default {1} */
  fromRequest?: number;
  /** For at most this many requests. @default {Infinity} */
  count?: number;
  /** From this moment on, in milliseconds since the provider started. @default {0} */
  fromMs?: number;
  /** Until before this moment, in milliseconds since the provider started. @default {Infinity} */
  untilMs?: number;
  /** Only requests for these units. */
  units?: readonly string[];
  /**
   * `work`: requests that drive the job. `all`: also requests for titles, token counts and model
   * lists, as in an outage of the whole service. @default {"work"}
   */
  requests?: "work" | "all";
}

/** Rules in order; the first that applies wins. An empty schedule is a healthy provider. */
export type Schedule = readonly FaultRule[];

/** What the schedule needs to know about a request. */
export interface RequestFacts {
  /** Whether it drives the job. */
  work: boolean;
  /** Number of this work request since the start, from 1; the number of the next one otherwise. */
  workNumber: number;
  /** Arrival, in milliseconds since the start. */
  atMs: number;
  /** The unit it names, or `null`. */
  unit: string | null;
}

/** A decision, with the hits to pass to the next one. */
export interface FaultDecision {
  /** The fault that meets the request, or `null`. */
  fault: Fault | null;
  /** How often each rule of the schedule has applied so far. */
  hits: readonly number[];
}

/** How often each rule has applied before the first request: never. */
export function noHits(schedule: Schedule): readonly number[] {
  return schedule.map(() => 0);
}

/**
 * Decides which fault meets a request.
 *
 * @param hits What the decision before this one returned, at first {@linkcode noHits}.
 */
export function decideFault(
  schedule: Schedule,
  hits: readonly number[],
  facts: RequestFacts,
): FaultDecision {
  const index = schedule.findIndex((rule, at) => applies(rule, hits[at] ?? 0, facts));
  const rule = schedule[index];
  if (rule === undefined) return { fault: null, hits };
  return { fault: rule.fault, hits: hits.map((hit, at) => at === index ? hit + 1 : hit) };
}

function applies(rule: FaultRule, hits: number, facts: RequestFacts): boolean {
  if (!facts.work && rule.requests !== "all") return false;
  if (facts.workNumber < (rule.fromRequest ?? 1)) return false;
  if (hits >= (rule.count ?? Infinity)) return false;
  if (facts.atMs < (rule.fromMs ?? 0) || facts.atMs >= (rule.untilMs ?? Infinity)) return false;
  return rule.units === undefined || (facts.unit !== null && rule.units.includes(facts.unit));
}

/** How an outage starts and ends. */
export interface OutageOptions {
  /** What clients see. @default {{ kind: "529" }} */
  fault?: Fault;
  /** Start, as a moment. @default {0} */
  fromMs?: number;
  /** Start, as a work request, counted from 1. @default {1} */
  fromRequest?: number;
  /** End, as a length of time from `fromMs`. Without it and `count`, the outage never ends. */
  forMs?: number;
  /** End, as a number of refused requests. */
  count?: number;
}

/**
 * The schedule of one outage. Choose `forMs` or `count` larger than the client's whole back-off, so
 * that patience alone does not get it through.
 *
 * An outage without `count` also meets side requests, as a real one does; with `count` it meets
 * only work requests, so that requests for titles do not use it up.
 *
 * @throws {RangeError} If a number is out of its bounds.
 */
export function outageSchedule(options: OutageOptions = {}): Schedule {
  const { fault = { kind: "529" }, fromMs = 0, fromRequest = 1, forMs, count } = options;
  const rule: FaultRule = {
    fault,
    fromMs,
    fromRequest,
    requests: count === undefined ? "all" : "work",
    ...(count === undefined ? {} : { count }),
    ...(forMs === undefined ? {} : { untilMs: fromMs + forMs }),
  };
  checkSchedule([rule]);
  return [rule];
}

const RETRY_AFTER_KINDS: readonly FaultKind[] = ["429", "529", "503", "quota"];
const MESSAGE_KINDS: readonly FaultKind[] = [
  ...RETRY_AFTER_KINDS,
  "500",
  "401",
  "400",
  "error-event",
];
const MID_STREAM_KINDS: readonly FaultKind[] = [
  "reset-mid-stream",
  "stall-mid-stream",
  "stall-with-pings",
];

/** Which kinds a field belongs to. */
const FIELD_KINDS: Readonly<Record<string, readonly FaultKind[]>> = {
  retryAfterSeconds: RETRY_AFTER_KINDS,
  retryAfterForm: RETRY_AFTER_KINDS,
  message: MESSAGE_KINDS,
  after: MID_STREAM_KINDS,
  pingEveryMs: ["stall-with-pings"],
  cutAt: [...MID_STREAM_KINDS, "cut-tool-json"],
  tokenLimit: ["cut-tool-json"],
};

/**
 * Refuses a schedule that cannot mean what it says.
 *
 * @throws {RangeError} If a number is out of its bounds.
 * @throws {TypeError} If a kind is unknown, or a field does not belong to its kind.
 */
export function checkSchedule(schedule: Schedule): void {
  for (const rule of schedule) {
    checkFault(rule.fault);
    needWhole("fromRequest", rule.fromRequest, 1);
    needWhole("count", rule.count, 1);
    needAtLeast("fromMs", rule.fromMs, 0);
    const { fromMs = 0, untilMs = Infinity } = rule;
    if (!(untilMs > fromMs)) {
      throw new RangeError(
        `Cannot schedule a fault as 'untilMs' must be after 'fromMs': current values are ` +
          `${untilMs} and ${fromMs}`,
      );
    }
  }
}

function checkFault(fault: Fault): void {
  if (!FAULT_KINDS.includes(fault.kind)) {
    throw new TypeError(`Cannot schedule the fault "${fault.kind}": no such kind`);
  }
  for (const field of Object.keys(fault)) {
    const kinds = FIELD_KINDS[field];
    if (kinds !== undefined && !kinds.includes(fault.kind)) {
      throw new TypeError(
        `Cannot schedule the fault "${fault.kind}": "${field}" belongs to ${kinds.join(", ")}`,
      );
    }
  }
  needWhole("retryAfterSeconds", fault.retryAfterSeconds, 0);
  needAtLeast("pingEveryMs", fault.pingEveryMs, 1);
  const { cutAt } = fault;
  if (cutAt !== undefined && !(cutAt > 0 && cutAt < 1)) {
    throw new RangeError(
      `Cannot schedule a fault as 'cutAt' must be between 0 and 1: current value is ${cutAt}`,
    );
  }
}

function needAtLeast(name: string, value: number | undefined, least: number): void {
  if (value === undefined || value >= least) return;
  throw new RangeError(
    `Cannot schedule a fault as '${name}' must be at least ${least}: current value is ${value}`,
  );
}

function needWhole(name: string, value: number | undefined, least: number): void {
  needAtLeast(name, value, least);
  if (value === undefined || Number.isInteger(value)) return;
  throw new RangeError(
    `Cannot schedule a fault as '${name}' must be a whole number: current value is ${value}`,
  );
}

/**
 * Faults that are an honest error status: 429, 529, 500, 503, 401, 400 and a used-up quota.
 *
 * @module
 */

import type { Fault, FaultKind } from "../fault_schedule.ts";
import { type FaultInput, type Step, wholeBody } from "./step.ts";

/** Status and text of each kind. The texts are those that clients are known to look for. */
const STATUSES = {
  "429": { status: 429, message: "Rate limited" },
  "529": { status: 529, message: "Overloaded" },
  "500": { status: 500, message: "Internal server error" },
  "503": { status: 503, message: "Service unavailable" },
  "401": { status: 401, message: "invalid x-api-key" },
  "400": { status: 400, message: "prompt is too long: 220000 tokens > 200000 maximum" },
  "quota": { status: 429, message: "You exceeded your current quota" },
} as const satisfies Partial<Record<FaultKind, { status: number; message: string }>>;

/** A fault that is an error status. */
export type StatusKind = keyof typeof STATUSES;

/** Seconds of Retry-After where the schedule names none; `null` sends no header. */
const RETRY_AFTER_SECONDS: Readonly<Partial<Record<FaultKind, number>>> = { "429": 3, quota: 3600 };

/** Whether a kind is an error status. */
export function isStatusKind(kind: FaultKind): kind is StatusKind {
  return Object.hasOwn(STATUSES, kind);
}

/**
 * How long a fault asks the client to wait.
 *
 * @returns Milliseconds, or `null` when it sends no Retry-After.
 */
export function retryAfterMs(fault: Fault): number | null {
  if (fault.retryAfterForm === "none") return null;
  const seconds = fault.retryAfterSeconds ?? RETRY_AFTER_SECONDS[fault.kind];
  return seconds === undefined ? null : seconds * 1000;
}

/**
 * The Retry-After header: whole seconds, or an IMF-fixdate (RFC 9110, 10.2.3 and 5.6.7).
 *
 * A date has no fractions of a second; it is rounded up, so that it never asks for less.
 */
function retryAfterHeaders(fault: Fault, wallMs: number): Record<string, string> {
  const waitMs = retryAfterMs(fault);
  if (waitMs === null) return {};
  if (fault.retryAfterForm !== "http-date") return { "retry-after": String(waitMs / 1000) };
  const at = Math.ceil((wallMs + waitMs) / 1000) * 1000;
  return { "retry-after": new Date(at).toUTCString() };
}

/** The steps of an error status. */
export function statusFault(kind: StatusKind, input: FaultInput): Step[] {
  const { fault, dialect, wallMs } = input;
  const { status, message } = STATUSES[kind];
  const body = dialect.errorBody({
    status,
    message: fault.message ?? message,
    quotaUsedUp: kind === "quota",
  });
  const contentType = dialect.name === "lab-unit"
    ? "text/plain; charset=utf-8"
    : "application/json";
  return wholeBody(status, contentType, body, retryAfterHeaders(fault, wallMs));
}

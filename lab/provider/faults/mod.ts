/**
 * All faults by name. A new fault is a name in `fault_schedule.ts`, a function in this folder and a
 * line in this file.
 *
 * @module
 */

import type { FaultKind } from "../fault_schedule.ts";
import { cutToolJson, endsEarly, errorEvent, malformedFrame } from "./broken_stream.ts";
import { empty200, html200 } from "./hollow_200.ts";
import { resetBeforeHeaders, resetMidStream } from "./reset.ts";
import { stallBeforeFirstByte, stallMidStream, stallWithPings } from "./stall.ts";
import { isStatusKind, statusFault, type StatusKind } from "./status.ts";
import type { FaultInput, Step } from "./step.ts";

export { healthy } from "./healthy.ts";
export { retryAfterMs } from "./status.ts";
export { type FaultInput, type Step, wholeBody } from "./step.ts";

const BROKEN_ANSWERS: Readonly<
  Record<Exclude<FaultKind, StatusKind>, (input: FaultInput) => Step[]>
> = {
  "reset-before-headers": resetBeforeHeaders,
  "stall-before-first-byte": stallBeforeFirstByte,
  "empty-200": empty200,
  "html-200": html200,
  "error-event": errorEvent,
  "malformed-frame": malformedFrame,
  "reset-mid-stream": resetMidStream,
  "ends-early": endsEarly,
  "cut-tool-json": cutToolJson,
  "stall-mid-stream": stallMidStream,
  "stall-with-pings": stallWithPings,
};

/** What the server does with a request that meets a fault. */
export function faultSteps(input: FaultInput): Step[] {
  const { kind } = input.fault;
  return isStatusKind(kind) ? statusFault(kind, input) : BROKEN_ANSWERS[kind](input);
}

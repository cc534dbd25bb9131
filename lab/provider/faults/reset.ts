/**
 * Faults in which the connection is reset (TCP RST).
 *
 * @module
 */

import { answerHead, type FaultInput, sendUntil, type Step } from "./step.ts";

/**
 * A client that is told of a reset before it has read what came first may drop that; this is how
 * long it gets to read. Measured: without it Claude Code took a reset in mid-stream for one before
 * the stream, and tried again, which it does not do after the first event.
 */
const SETTLE_MS = 50;

/** Reset before a single byte of the response. */
export function resetBeforeHeaders(): Step[] {
  return [{ do: "reset", settleMs: 0 }];
}

/** Reset in the middle of the answer; status 200 and a part of it have arrived. */
export function resetMidStream({ answer, fault }: FaultInput): Step[] {
  return [answerHead(answer), ...sendUntil(answer, fault.after), {
    do: "reset",
    settleMs: SETTLE_MS,
  }];
}

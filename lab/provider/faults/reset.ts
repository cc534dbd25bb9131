/**
 * Faults in which the connection is reset (TCP RST).
 *
 * @module
 */

import { answerHead, type FaultInput, sendUntil, type Step } from "./step.ts";

/** Reset before a single byte of the response. */
export function resetBeforeHeaders(): Step[] {
  return [{ do: "reset" }];
}

/** Reset in the middle of the answer; status 200 and a part of it have arrived. */
export function resetMidStream({ answer, fault }: FaultInput): Step[] {
  return [answerHead(answer), ...sendUntil(answer, fault.after), { do: "reset" }];
}

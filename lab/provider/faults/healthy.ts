/**
 * The control case: no fault, on the same path that every fault takes.
 *
 * @module
 */

import type { Answer } from "../protocol.ts";
import { answerHead, send, type Step } from "./step.ts";

/**
 * The steps of an answer as it should be.
 *
 * @internal
 */
export function healthy(answer: Answer): Step[] {
  const frames = [...answer.opening, ...answer.callHead, ...answer.callTail, ...answer.ending];
  const text = frames.map((frame) => frame.text).join("");
  const bodyBytes = answer.streaming ? null : new TextEncoder().encode(text).length;
  return [answerHead(answer, bodyBytes), ...send(...frames), { do: "end" }];
}

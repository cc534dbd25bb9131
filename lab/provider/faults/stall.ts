/**
 * Faults in which the connection lives and the provider says nothing more.
 *
 * @module
 */

import type { Frame } from "../protocol.ts";
import { answerHead, type FaultInput, sendUntil, type Step } from "./step.ts";

/** Milliseconds between two pings where the schedule names none. */
const PING_EVERY_MS = 1000;

/**
 * Keeps a connection alive on which one document is awaited: an empty line, which JSON readers skip
 * (DeepSeek sends these to requests that wait; API docs, "Rate Limit").
 */
const EMPTY_LINE: Frame = { text: "\n", counts: "ping" };

const SILENCE = { do: "stall", ping: null, pingEveryMs: PING_EVERY_MS } as const;

/** Silence before the first byte, headers included. */
export function stallBeforeFirstByte(): Step[] {
  return [SILENCE];
}

/** Silence in the middle of the answer. */
export function stallMidStream({ answer, fault }: FaultInput): Step[] {
  return [answerHead(answer), ...sendUntil(answer, fault.after), SILENCE];
}

/** Pings and no provider event, in the middle of the answer. */
export function stallWithPings({ answer, dialect, fault }: FaultInput): Step[] {
  const ping = answer.streaming ? dialect.ping : EMPTY_LINE;
  const pingEveryMs = fault.pingEveryMs ?? PING_EVERY_MS;
  return [
    answerHead(answer),
    ...sendUntil(answer, fault.after),
    { do: "stall", ping, pingEveryMs },
  ];
}

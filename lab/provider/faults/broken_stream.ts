/**
 * Faults inside an answer that began with status 200 and whose connection ends properly.
 *
 * @module
 */

import { answerHead, type FaultInput, send, type Step, wholeBody } from "./step.ts";

/** The error that `error-event` reports where the schedule names no text. */
const OVERLOADED = { status: 529, message: "Overloaded" };

/** The text arrives, then the stream ends without a tool call and without its end mark. */
export function endsEarly({ answer }: FaultInput): Step[] {
  return [answerHead(answer), ...send(...answer.opening), { do: "end" }];
}

/**
 * The stream ends inside the JSON of the tool call. With `tokenLimit` it is closed by the book,
 * with "token limit reached" as the reason, and only the JSON is not whole.
 */
export function cutToolJson({ answer, fault }: FaultInput): Step[] {
  const head = [answerHead(answer), ...send(...answer.opening, ...answer.callHead)];
  if (fault.tokenLimit !== true) return [...head, { do: "end" }];
  return [...head, ...send(...answer.callTail, ...answer.ending), { do: "end" }];
}

/**
 * One frame whose JSON is cut off; the rest of the stream follows as if nothing had happened. A
 * single document stays cut.
 */
export function malformedFrame({ answer, dialect }: FaultInput): Step[] {
  if (!answer.streaming) {
    return [answerHead(answer), ...send(...answer.opening, dialect.malformed), { do: "end" }];
  }
  return [
    answerHead(answer),
    ...send(
      ...answer.opening,
      ...answer.callHead,
      dialect.malformed,
      ...answer.callTail,
      ...answer.ending,
    ),
    { do: "end" },
  ];
}

/** Status 200, then an error: an event of the stream, or the whole document. */
export function errorEvent({ answer, dialect, fault }: FaultInput): Step[] {
  const error = {
    ...OVERLOADED,
    ...(fault.message === undefined ? {} : { message: fault.message }),
  };
  if (!answer.streaming) return wholeBody(200, answer.contentType, dialect.errorBody(error));
  return [
    answerHead(answer),
    ...send(...answer.opening, ...answer.callHead, ...dialect.errorFrames(error)),
    { do: "end" },
  ];
}

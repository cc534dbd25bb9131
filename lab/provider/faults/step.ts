/**
 * A delivery is a list of steps, so that what a fault does can be read and tested without a socket.
 *
 * @module
 */

import type { Answer, Dialect, Frame } from "../protocol.ts";
import type { Fault } from "../fault_schedule.ts";

/**
 * One thing that the server does with the connection.
 *
 * @internal
 */
export type Step =
  /** Sends the status line and the headers; `bodyBytes` is null for a body of unknown length. */
  | {
    do: "head";
    status: number;
    headers: Readonly<Record<string, string>>;
    bodyBytes: number | null;
  }
  /** Sends a piece of the body. */
  | { do: "frame"; frame: Frame }
  /** Ends the body as the protocol of the connection demands; the connection may be used again. */
  | { do: "end" }
  /** Waits `settleMs`, then resets the connection (TCP RST). */
  | { do: "reset"; settleMs: number }
  /** Says nothing more until the client leaves or the provider stops; sends `ping` in between. */
  | { do: "stall"; ping: Frame | null; pingEveryMs: number };

/**
 * What a fault works on.
 *
 * @internal
 */
export interface FaultInput {
  /** The fault with its variants. */
  fault: Fault;
  /** The protocol of the request. */
  dialect: Dialect;
  /** What would have been answered; already cut where the fault asks for it. */
  answer: Answer;
  /** Wall-clock time in milliseconds since the epoch, for a Retry-After date. */
  wallMs: number;
}

/** Headers of every 200 that carries an answer. */
export function answerHead(answer: Answer, bodyBytes: number | null = null): Step {
  const headers = { "content-type": answer.contentType, "cache-control": "no-cache" };
  return { do: "head", status: 200, headers, bodyBytes };
}

/** The steps that send frames. */
export function send(...frames: readonly Frame[]): Step[] {
  return frames.map((frame) => ({ do: "frame", frame }));
}

/** Whole text as one body with its length. */
export function wholeBody(
  status: number,
  contentType: string,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): Step[] {
  const bodyBytes = new TextEncoder().encode(text).length;
  return [
    { do: "head", status, headers: { "content-type": contentType, ...headers }, bodyBytes },
    ...send({ text, counts: "none" }),
    { do: "end" },
  ];
}

/** The answer up to the point that `after` names; see {@linkcode Fault}. */
export function sendUntil(answer: Answer, after: Fault["after"] = "tool-json"): Step[] {
  switch (after) {
    case "headers":
      return [];
    case "text":
      return send(...answer.opening);
    case "tool-json":
      return send(...answer.opening, ...answer.callHead);
  }
}

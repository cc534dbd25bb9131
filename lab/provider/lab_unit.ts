/**
 * The plain-text endpoint for shell jobs: `POST /lab/unit/<key>` answers `ok <key>`.
 *
 * @module
 */

import { type Answer, type Dialect, LAB_MODEL, type Turn, wholeAnswer } from "./protocol.ts";

const CONTENT_TYPE = "text/plain; charset=utf-8";

function whole(turn: Turn): Answer {
  return wholeAnswer(`${turn.text}\n`, CONTENT_TYPE);
}

/** The plain-text protocol. Its turn text is the whole answer; there is no stream and no tool. */
export const labUnit: Dialect = {
  name: "lab-unit",
  ping: { text: "\n", counts: "ping" },
  malformed: { text: "o\u0000", counts: "none" },
  parse: () => ({
    stream: false,
    model: LAB_MODEL,
    tools: [],
    answeredCallIds: new Set(),
    wantsJson: false,
  }),
  stream: whole,
  whole,
  errorBody: (error) => `error ${error.status}: ${error.message}\n`,
  errorFrames: (error) => [{ text: `error: ${error.message}\n`, counts: "event" }],
};

/**
 * Faults in which status 200 carries nothing of the protocol.
 *
 * @module
 */

import { answerHead, type FaultInput, type Step, wholeBody } from "./step.ts";

/** What a captive portal or a proxy puts in the place of an answer. */
const HTML_PAGE =
  "<!DOCTYPE html><html><head><title>Sign in</title></head><body>Proxy sign-in</body></html>\n";

/** Status 200 and not one byte of body. */
export function empty200({ answer }: FaultInput): Step[] {
  return [answerHead(answer, answer.streaming ? null : 0), { do: "end" }];
}

/** Status 200 and a page for people. */
export function html200(): Step[] {
  return wholeBody(200, "text/html; charset=utf-8", HTML_PAGE);
}

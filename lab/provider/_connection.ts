/**
 * Serves one connection: request after request until one side ends it.
 *
 * @module
 */

import { createHash } from "node:crypto";
import { deliver, type Line } from "./_delivery.ts";
import type { Desk } from "./_desk.ts";
import { errorSteps, type Plan, planAnswer, type Received } from "./_plan.ts";
import { BadRequestError, type RequestHead, RequestReader } from "./_request_reader.ts";
import { ResponseWriter } from "./_response_writer.ts";
import { type Wire, WireClosedError } from "./_wire.ts";
import { openaiChat } from "./openai_chat.ts";
import { KEY_REFUSED, type Outcome } from "./request_log.ts";

/** How long a client that was refused in the middle of its request may take to read why. */
const LINGER_MS = 1000;

/** Serves a connection to its end, and closes it. Never throws for what a client does. */
export async function serveConnection(wire: Wire, desk: Desk): Promise<void> {
  const reader = new RequestReader(wire);
  try {
    while (!desk.options.stopping.aborted && await serveRequest(wire, reader, desk));
    wire.finish();
  } catch (error) {
    if (!(error instanceof WireClosedError)) throw error;
  } finally {
    wire.close();
    await wire.closed;
  }
}

/** @returns Whether the connection can be used for another request. */
async function serveRequest(wire: Wire, reader: RequestReader, desk: Desk): Promise<boolean> {
  let head: RequestHead | null = null;
  let received: Received;
  let writer = new ResponseWriter(wire, { modern: true, headOnly: false, close: true });
  let close = true;
  try {
    head = await reader.readHead();
    if (head === null) return false;
    close = !head.modern || head.headers.get("connection")?.toLowerCase() === "close";
    const headOnly = head.method === "HEAD";
    writer = new ResponseWriter(wire, { modern: head.modern, headOnly, close });
    const arrival = { atMs: desk.nowMs(), wallIso: desk.options.clock.wallIso() };
    received = { head, body: await reader.readBody(head, () => writer.confirm()), ...arrival };
  } catch (error) {
    if (!(error instanceof BadRequestError)) throw error;
    await refuseUnreadable(error, head, { wire, writer, desk });
    return false;
  }
  const plan = await planAnswer(received, desk);
  const outcome = await carryOut(plan, received.body, { wire, writer, desk });
  return outcome === "complete" && !close;
}

interface Parts {
  wire: Wire;
  writer: ResponseWriter;
  desk: Desk;
}

function lineOf({ wire, writer, desk }: Parts): Line {
  const { stopping, clock } = desk.options;
  return { wire, writer, stopping, clock };
}

/** Answers what is no request, or not a whole one, and logs it. */
async function refuseUnreadable(
  error: BadRequestError,
  head: RequestHead | null,
  parts: Parts,
): Promise<void> {
  const { desk, wire } = parts;
  const { log, clock, stopping } = desk.options;
  const entry = log.begin({
    atMs: desk.nowMs(),
    wallIso: clock.wallIso(),
    method: head?.method ?? "(unreadable)",
    path: "(unreadable)",
    protocol: "other",
    note: error.message,
  });
  const steps = errorSteps(openaiChat, error.status, error.message);
  log.end(entry, await deliver(steps, lineOf(parts), entry), desk.nowMs());
  desk.tell("ended", entry);
  // A close with unread data is a reset, which can take the answer out of the client's hands.
  wire.finish();
  const over = new AbortController();
  wire.gone.then(() => over.abort());
  await clock.sleep(LINGER_MS, AbortSignal.any([stopping, over.signal]));
  over.abort();
}

async function carryOut(plan: Plan, body: Uint8Array, parts: Parts): Promise<Outcome> {
  const { entry, steps, effect } = plan;
  const { desk } = parts;
  const { log, clock, stopping, delayMs } = desk.options;
  let outcome: Exclude<Outcome, "open"> = "failed";
  entry.bodyBytes = body.length;
  if (entry.note !== KEY_REFUSED) {
    entry.bodySha256 = createHash("sha256").update(body).digest("hex");
  }
  try {
    desk.tell("started", entry);
    if (entry.work && delayMs > 0) await clock.sleep(delayMs, stopping);
    // The effect comes before its answer, as in real services: a client that dies now has had it.
    if (effect !== null && !stopping.aborted) {
      log.ledger.record(effect.unit, entry.idempotencyKey, effect.answered);
    }
    outcome = await deliver(steps, lineOf(parts), entry);
  } finally {
    log.end(entry, outcome, desk.nowMs());
    desk.tell("ended", entry);
  }
  return outcome;
}

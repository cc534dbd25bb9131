/**
 * Serves one connection: request after request until one side ends it.
 *
 * @module
 */

import { createHash } from "node:crypto";
import { deliver, type Line } from "./_delivery.ts";
import type { Desk } from "./_desk.ts";
import { errorSteps, type Plan, planAnswer, readRest, type Received } from "./_plan.ts";
import { BadRequestError, type RequestHead, RequestReader } from "./_request_reader.ts";
import { ResponseWriter } from "./_response_writer.ts";
import type { Outcome } from "./request_log.ts";
import { openaiChat } from "./openai_chat.ts";

/** Serves a connection to its end, and closes it. Never throws for what a client does. */
export async function serveConnection(conn: Deno.TcpConn, desk: Desk): Promise<void> {
  const reader = new RequestReader(conn);
  try {
    conn.setNoDelay(true);
    while (!desk.options.stopping.aborted && await serveRequest(conn, reader, desk));
  } catch (error) {
    if (!isSocketError(error)) throw error;
  } finally {
    closeQuietly(conn);
  }
}

/** Closes a socket that may be closed already. */
export function closeQuietly(socket: Disposable): void {
  try {
    socket[Symbol.dispose]();
  } catch (error) {
    if (!(error instanceof Deno.errors.BadResource)) throw error;
  }
}

/** What a socket throws when the client has gone or stop() has closed it. */
function isSocketError(error: unknown): boolean {
  return error instanceof Deno.errors.ConnectionReset ||
    error instanceof Deno.errors.ConnectionAborted ||
    error instanceof Deno.errors.BrokenPipe ||
    error instanceof Deno.errors.NotConnected ||
    error instanceof Deno.errors.BadResource ||
    error instanceof Deno.errors.Interrupted;
}

/** @returns Whether the connection can be used for another request. */
async function serveRequest(
  conn: Deno.TcpConn,
  reader: RequestReader,
  desk: Desk,
): Promise<boolean> {
  let head: RequestHead | null = null;
  let received: Received;
  let writer = new ResponseWriter(conn, { modern: true, headOnly: false, close: true });
  let close = true;
  try {
    head = await reader.readHead();
    if (head === null) return false;
    close = !head.modern || head.headers.get("connection")?.toLowerCase() === "close";
    writer = new ResponseWriter(conn, {
      modern: head.modern,
      headOnly: head.method === "HEAD",
      close,
    });
    const arrival = { atMs: desk.nowMs(), wallIso: desk.options.clock.wallIso() };
    const confirm = () => writer.confirm();
    received = { head, reader, body: await reader.readBody(head, confirm), ...arrival };
  } catch (error) {
    if (!(error instanceof BadRequestError)) throw error;
    await refuseUnreadable(error, head, { reader, writer, desk });
    return false;
  }
  const plan = await planAnswer(received, desk);
  const outcome = await carryOut(plan, received, { writer, desk });
  return outcome === "complete" && !close;
}

interface Parts {
  reader: RequestReader;
  writer: ResponseWriter;
  desk: Desk;
}

function lineOf({ reader, writer, desk }: Parts): Line {
  const { stopping, clock } = desk.options;
  return { reader, writer, stopping, clock };
}

/** Answers what is no request, or not a whole one, and logs it. */
async function refuseUnreadable(
  error: BadRequestError,
  head: RequestHead | null,
  parts: Parts,
): Promise<void> {
  const { desk } = parts;
  const { log, clock } = desk.options;
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
}

async function carryOut(
  plan: Plan,
  received: Received,
  { writer, desk }: { writer: ResponseWriter; desk: Desk },
): Promise<Outcome> {
  const { entry, steps, effect } = plan;
  const { log, clock, stopping, delayMs } = desk.options;
  const { reader } = received;
  let outcome: Exclude<Outcome, "open"> = "client-left";
  try {
    if (!steps.some((step) => step.do === "reset")) await readRest(received);
    entry.bodyBytes = received.body.length;
    entry.unreadBytes = reader.holds ? 1 : 0;
    if (entry.status !== 401 && entry.note === null) {
      entry.bodySha256 = createHash("sha256").update(received.body).digest("hex");
    }
    desk.tell("started", entry);
    if (entry.work && delayMs > 0) await clock.sleep(delayMs, stopping);
    // The effect comes before its answer, as in real services: a client that dies now has had it.
    if (effect !== null) log.ledger.record(effect.unit, entry.idempotencyKey, effect.answered);
    outcome = await deliver(steps, lineOf({ reader, writer, desk }), entry);
  } catch (error) {
    if (!(error instanceof BadRequestError) && !isSocketError(error)) throw error;
  } finally {
    log.end(entry, outcome, desk.nowMs());
    desk.tell("ended", entry);
  }
  return outcome;
}

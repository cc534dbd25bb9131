/**
 * Turns a request into a log entry and the steps of its answer.
 *
 * @module
 */

import { readJson } from "./_body.ts";
import type { Desk } from "./_desk.ts";
import { BadRequestError, type RequestHead } from "./_request_reader.ts";
import type { Fault } from "./fault_schedule.ts";
import { faultSteps, healthy, type Step, wholeBody } from "./faults/mod.ts";
import { judgeKey } from "./key_guard.ts";
import { type Answer, type AnswerContext, type Dialect, wholeAnswer } from "./protocol.ts";
import { type Arrival, KEY_REFUSED, type LogEntry } from "./request_log.ts";
import { findRoute, type Route } from "./routes.ts";
import { isWorkRequest, type PlannedTurn, planTurn } from "./scripted_turns.ts";

/** Longest unit or idempotency key, so that the memory of the log has a limit. */
const LABEL_MAX_CHARS = 255;

/** What the log keeps of a path or of an error text, for the same reason. */
const TEXT_MAX_CHARS = 300;

/** A request as it arrived. */
export interface Received {
  /** Request line and headers. */
  head: RequestHead;
  /** The body as sent. */
  body: Uint8Array;
  /** Arrival in milliseconds since the start. */
  atMs: number;
  /** Arrival, ISO 8601 in UTC. */
  wallIso: string;
}

/** What to do with a request. */
export interface Plan {
  /** Its entry in the log. */
  entry: LogEntry;
  /** Its answer. */
  steps: readonly Step[];
  /** Unit to record as done, or `null`. */
  effect: { unit: string; answered: boolean } | null;
}

/**
 * Decides how a request is answered, and opens its entry in the log.
 *
 * A request that cannot be understood gets an entry and an answer too.
 */
export async function planAnswer(received: Received, desk: Desk): Promise<Plan> {
  const { head, atMs, wallIso } = received;
  const route = findRoute(head.method, head.url.pathname);
  const arrival: Arrival = {
    atMs,
    wallIso,
    method: head.method,
    path: route.kind === "unknown" ? route.name : clip(head.url.pathname),
    protocol: route.kind === "model" || route.kind === "unit" ? route.dialect.name : "other",
  };
  const verdict = judgeKey(head.headers, head.url.searchParams, desk.options.key);
  if (verdict === "foreign") {
    return refuse(route, { ...arrival, path: route.name, note: KEY_REFUSED }, desk);
  }
  try {
    if (route.kind === "model") {
      if (verdict === "none") return refuse(route, { ...arrival, note: "no key arrived" }, desk);
      return await planModel(route, received, arrival, desk);
    }
    if (route.kind === "unit") return planUnit(route, received, arrival, desk);
    return planFixed(route, arrival, desk);
  } catch (error) {
    if (!(error instanceof BadRequestError)) throw error;
    const entry = desk.options.log.begin({ ...arrival, note: error.message });
    return { entry, steps: errorSteps(route.dialect, error.status, error.message), effect: null };
  }
}

function refuse(route: Route, arrival: Arrival, desk: Desk): Plan {
  const entry = desk.options.log.begin(arrival);
  const steps = errorSteps(route.dialect, 401, "invalid x-api-key");
  return { entry, steps, effect: null };
}

/** The steps of an error that is not a scheduled fault. */
export function errorSteps(dialect: Dialect, status: number, message: string): Step[] {
  const type = dialect.name === "lab-unit" ? "text/plain; charset=utf-8" : "application/json";
  return wholeBody(status, type, dialect.errorBody({ status, message }));
}

/** What is needed to answer; `build` makes the answer as a given fault needs it cut. */
interface Material {
  dialect: Dialect;
  build(fault: Fault | null): Answer;
  arrival: Arrival;
}

/** An opened entry, the steps of its answer, and the fault that shaped them. */
interface Settled {
  entry: LogEntry;
  steps: readonly Step[];
  fault: Fault | null;
}

/**
 * Opens the entry and lets the schedule decide; without an await, so that nothing comes between.
 */
function settle({ dialect, build, arrival }: Material, desk: Desk): Settled {
  const { log, clock } = desk.options;
  const fault = desk.decide({
    work: arrival.work ?? false,
    workNumber: log.nextWorkNumber,
    atMs: arrival.atMs,
    unit: arrival.unit ?? null,
  });
  const entry = log.begin(arrival);
  if (fault === null) return { entry, steps: healthy(build(null)), fault };
  log.meetFault(entry, fault);
  const wallMs = Date.parse(clock.wallIso());
  return { entry, steps: faultSteps({ fault, dialect, answer: build(fault), wallMs }), fault };
}

/** What the request does to the ledger: an answer is an effect, a fault only if it says so. */
function effectOf(unit: string | null, fault: Fault | null): Plan["effect"] {
  if (unit === null) return null;
  if (fault === null) return { unit, answered: true };
  return fault.effectFirst === true ? { unit, answered: false } : null;
}

function planFixed(
  route: Extract<Route, { kind: "fixed" | "unknown" }>,
  arrival: Arrival,
  desk: Desk,
): Plan {
  const { dialect } = route;
  const text = route.kind === "fixed" ? route.body : "{}";
  const build = () => wholeAnswer(text, "application/json");
  const { entry, steps, fault } = settle({ dialect, build, arrival }, desk);
  if (route.kind === "fixed" || fault !== null) return { entry, steps, effect: null };
  return { entry, steps: errorSteps(dialect, 404, "no such path and method"), effect: null };
}

function planUnit(
  route: Extract<Route, { kind: "unit" }>,
  received: Received,
  arrival: Arrival,
  desk: Desk,
): Plan {
  const { dialect, unit } = route;
  const idempotencyKey = readLabel(received.head.headers, "idempotency-key");
  checkLabel("unit", unit);
  const turn = { text: `ok ${unit}`, call: null };
  const build = () => dialect.whole(turn, { serial: 0, model: "" });
  const labelled = { ...arrival, work: true, unit, idempotencyKey };
  const { entry, steps, fault } = settle({ dialect, build, arrival: labelled }, desk);
  const conflict = desk.options.log.ledger.classify(unit, idempotencyKey) === "conflict";
  if (fault === null && conflict) {
    const message = "this idempotency key belongs to another unit";
    return { entry, steps: errorSteps(dialect, 422, message), effect: null };
  }
  return { entry, steps, effect: effectOf(unit, fault) };
}

async function planModel(
  route: Extract<Route, { kind: "model" }>,
  received: Received,
  arrival: Arrival,
  desk: Desk,
): Promise<Plan> {
  const { dialect } = route;
  const { headers, url } = received.head;
  const encoding = headers.get("content-encoding");
  const request = dialect.parse(await readJson(received.body, encoding), url.pathname);
  const idempotencyKey = readLabel(headers, "idempotency-key");
  const named = readLabel(headers, "x-lab-unit");
  const serial = desk.nextSerial();
  const work = isWorkRequest(desk.options.script, request.tools);
  const labelled: Arrival = { ...arrival, stream: request.stream, idempotencyKey, unit: named };
  let planned: PlannedTurn;
  try {
    planned = await planTurn(desk.options.script, request, serial);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const note = clip(`the script failed: ${reason}`);
    const entry = desk.options.log.begin({ ...labelled, note });
    return { entry, steps: errorSteps(dialect, 500, "the script failed"), effect: null };
  }
  const build = (fault: Fault | null): Answer => {
    const context = answerContext(request.model, serial, fault);
    return request.stream
      ? dialect.stream(planned.turn, context)
      : dialect.whole(planned.turn, context);
  };
  const unit = named ?? planned.unit;
  const material = { dialect, build, arrival: { ...labelled, work, unit } };
  const { entry, steps, fault } = settle(material, desk);
  // Not the unit of the script: what that turn produces is a file, and the file is its effect.
  return { entry, steps, effect: work ? effectOf(named ?? idempotencyKey, fault) : null };
}

function answerContext(model: string, serial: number, fault: Fault | null): AnswerContext {
  return {
    serial,
    model,
    ...(fault?.cutAt === undefined ? {} : { cutAt: fault.cutAt }),
    ...(fault?.tokenLimit === undefined ? {} : { tokenLimit: fault.tokenLimit }),
  };
}

function clip(text: string): string {
  return text.slice(0, TEXT_MAX_CHARS);
}

function readLabel(headers: Headers, name: string): string | null {
  const value = headers.get(name);
  if (value === null || value === "") return null;
  checkLabel(name, value);
  return value;
}

function checkLabel(name: string, value: string): void {
  if (value.length <= LABEL_MAX_CHARS) return;
  throw new BadRequestError(400, `The ${name} must have at most ${LABEL_MAX_CHARS} characters`);
}

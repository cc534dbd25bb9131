/**
 * Decides what the scripted model says next. The decision rests on the disk (which unit is missing)
 * or on the ids of answered tool calls, and never on how many tool results the history holds:
 * agents drop results after a kill, and one sends them twice, so that a count skips units.
 *
 * @module
 */

import { createHash } from "node:crypto";
import type { ModelRequest, ToolCall, Turn } from "./protocol.ts";

/** What the scripted model has to get done, and with which tool. */
export interface Script {
  /**
   * The unit to ask for next, or `null` when nothing is left. Called once for each work request;
   * what it throws ends that request with status 500.
   */
  nextUnit(request: ModelRequest): string | null | Promise<string | null>;
  /** The tool call that produces a unit, in the shape that the agent expects. */
  toolFor(unit: string): Omit<ToolCall, "id">;
  /**
   * Names of tools that mark a request as work. A request that offers none of them is a side
   * request (a title, a summary) and gets a short text. `any`: every request that offers a tool.
   */
  workTools: readonly string[] | "any";
  /** What the model says when nothing is left. @default {"done"} */
  doneText?: string;
}

/** What the model answers to side requests, in text or, when asked for, as JSON. */
const SIDE_TEXT = "lab";
const SIDE_JSON = '{"title":"lab"}';

/** What the model answers to every request when there is no script. */
const PLAIN_TEXT = "ok";

/** Hexadecimal digits of a unit's tag: 64 bits, so that no two units of one run share it. */
const TAG_DIGITS = 16;

function unitTag(unit: string): string {
  return createHash("sha256").update(unit).digest("hex").slice(0, TAG_DIGITS);
}

/**
 * The id of a tool call. It carries the unit, so that {@linkcode unitsByCallId} can tell from the
 * id alone which unit a result belongs to, whatever else is in the history.
 *
 * @param serial Number of the answer, so that two calls for one unit have two ids.
 * @returns At most 40 characters of `[a-z0-9_]`.
 */
export function callId(unit: string, serial: number): string {
  return `call_lab_${serial}_${unitTag(unit)}`;
}

/**
 * `nextUnit` from the disk: the first unit that is not there in full.
 *
 * @param isWhole Looks at the file of a unit, at its content and not only at its presence.
 */
export function unitsOnDisk(
  units: readonly string[],
  isWhole: (unit: string) => boolean | Promise<boolean>,
): Script["nextUnit"] {
  return async () => {
    for (const unit of units) {
      if (!await isWhole(unit)) return unit;
    }
    return null;
  };
}

/**
 * `nextUnit` from call ids: the first unit whose call has no result in the history. Repeated and
 * missing results do no harm; a fresh session starts again at the first unit.
 *
 * Not for Gemini clients that send results without an id (pi does, Gemini CLI sends it): they would
 * be asked for the first unit for ever. Use {@linkcode unitsOnDisk} for them.
 */
export function unitsByCallId(units: readonly string[]): Script["nextUnit"] {
  return ({ answeredCallIds }) => {
    const tags = new Set([...answeredCallIds].map((id) => id.slice(id.lastIndexOf("_") + 1)));
    return units.find((unit) => !tags.has(unitTag(unit))) ?? null;
  };
}

/** Whether a request is about the work of the script, and not about a title or a summary. */
export function isWorkRequest(script: Script | null, tools: readonly string[]): boolean {
  if (script === null) return true;
  if (script.workTools === "any") return tools.length > 0;
  return script.workTools.some((name) => tools.includes(name));
}

/** The answer to one request, and the unit that it asks for. */
export interface PlannedTurn {
  /** What to say. */
  turn: Turn;
  /** The unit that the tool call of this turn produces, or `null`. */
  unit: string | null;
}

/**
 * Decides the answer to one request.
 *
 * @param serial Number of this answer since the start; it makes the call id unique.
 * @throws What `script.nextUnit` or `script.toolFor` throws.
 */
export async function planTurn(
  script: Script | null,
  request: ModelRequest,
  serial: number,
): Promise<PlannedTurn> {
  if (script === null) return { turn: { text: PLAIN_TEXT, call: null }, unit: null };
  if (!isWorkRequest(script, request.tools)) {
    const text = request.wantsJson ? SIDE_JSON : SIDE_TEXT;
    return { turn: { text, call: null }, unit: null };
  }
  const unit = await script.nextUnit(request);
  if (unit === null) return { turn: { text: script.doneText ?? "done", call: null }, unit: null };
  const call = { id: callId(unit, serial), ...script.toolFor(unit) };
  return { turn: { text: `unit ${unit}`, call }, unit };
}

/**
 * What the four protocols and the plain unit endpoint have in common: a turn, the frames that carry
 * it, and the {@linkcode Dialect} that each protocol file implements.
 *
 * @module
 */

import type { ProviderError } from "./provider_error.ts";

/** The protocols that the provider speaks; `lab-unit` is the plain-text one for shell jobs. */
export type ProtocolName =
  | "anthropic-messages"
  | "openai-chat"
  | "openai-responses"
  | "gemini"
  | "lab-unit";

/** A tool call that the scripted model makes. */
export interface ToolCall {
  /** At most 64 characters of `[A-Za-z0-9_-]`, the narrowest rule among the protocols. */
  id: string;
  /** The tool as the agent offers it, such as `Write` or `exec_command`. */
  name: string;
  /** The arguments; must survive `JSON.stringify`. */
  input: Readonly<Record<string, unknown>>;
}

/** One answer of the scripted model. */
export interface Turn {
  /** What the model says; never empty, because some agents treat empty text as a failure. */
  text: string;
  /** The one tool call of this turn, or `null` when the model is done. */
  call: ToolCall | null;
}

/** A piece of a response body, and what it counts as in the log. */
export interface Frame {
  /** The exact text sent. */
  text: string;
  /**
   * `event` is a provider event, `ping` only says that the connection lives, `none` is half an
   * event or no protocol at all. A watchdog must not take a ping for an event.
   */
  counts: "event" | "ping" | "none";
}

/** A response body in the parts at which a fault can cut it. Sent in this order. */
export interface Answer {
  /** Whether this is a stream of server-sent events. */
  streaming: boolean;
  /** Value of the `content-type` header. */
  contentType: string;
  /** Start of the answer and its text. */
  opening: readonly Frame[];
  /** First part of the tool call; ends inside its JSON. Empty without a call. */
  callHead: readonly Frame[];
  /** Rest of the tool call. */
  callTail: readonly Frame[];
  /** Reason for stopping, usage, and the end mark of the protocol. */
  ending: readonly Frame[];
}

/** What a protocol needs besides the turn to write an answer. */
export interface AnswerContext {
  /** Number of this answer since the start; makes ids unique and repeatable. */
  serial: number;
  /** The model that the request named. */
  model: string;
  /** Where the tool JSON is split, as a fraction of its length in (0, 1). @default {0.5} */
  cutAt?: number;
  /** Close the answer as "the token limit was reached" right after `callHead`. @default {false} */
  tokenLimit?: boolean;
}

/** What a request says, as far as the script needs it. */
export interface ModelRequest {
  /** Whether the client asked for server-sent events. */
  stream: boolean;
  /** The model it named; `lab-model` when it named none. */
  model: string;
  /** Names of the tools it offers. */
  tools: readonly string[];
  /**
   * Ids of the tool calls that have a result in the history. A set on purpose: agents drop results
   * and send them twice, so their number says nothing.
   */
  answeredCallIds: ReadonlySet<string>;
  /** Whether the client asked for JSON text, as requests for a title do. */
  wantsJson: boolean;
}

/** One protocol. All members are pure. */
export interface Dialect {
  /** Which protocol this is. */
  readonly name: ProtocolName;
  /** A frame that keeps the connection alive and carries no news. */
  readonly ping: Frame;
  /** A frame whose JSON is cut off. */
  readonly malformed: Frame;
  /** Reads a request. `path` is the path of the URL. */
  parse(body: unknown, path: string): ModelRequest;
  /** Writes an answer as server-sent events. */
  stream(turn: Turn, context: AnswerContext): Answer;
  /** Writes the same answer as one document. */
  whole(turn: Turn, context: AnswerContext): Answer;
  /** The body that goes with an error status. */
  errorBody(error: ProviderError): string;
  /** The frames that report an error inside a stream that began with status 200. */
  errorFrames(error: ProviderError): readonly Frame[];
}

/** The model that the provider offers when the client names none. */
export const LAB_MODEL = "lab-model";

/**
 * Creation time in all answers, in seconds since the epoch: fixed, so that runs can be compared.
 */
export const CREATED_AT_SECONDS = 1;

/** Tokens that every answer claims to have used; small, so that no agent compacts its history. */
export const USAGE_TOKENS = { input: 10, output: 20 } as const;

/** An SSE frame with a JSON payload, and with an `event:` line when `event` is given. */
export function sseFrame(payload: unknown, event?: string): Frame {
  const data = typeof payload === "string" ? payload : JSON.stringify(payload);
  const name = event === undefined ? "" : `event: ${event}\n`;
  return { text: `${name}data: ${data}\n\n`, counts: "event" };
}

/**
 * An SSE comment, which clients must ignore (WHATWG HTML, 9.2.6). Providers without a ping event
 * keep streams alive in this way.
 */
export const SSE_COMMENT_PING: Frame = { text: ": ping\n\n", counts: "ping" };

/**
 * Splits the JSON text of a tool call for two frames. Both parts hold at least one character, and a
 * surrogate pair is never torn.
 *
 * @param json At least two characters, as every JSON object has.
 * @param cutAt A fraction in (0, 1).
 */
export function splitToolJson(json: string, cutAt = 0.5): [head: string, tail: string] {
  let at = Math.max(1, Math.floor(json.length * cutAt));
  const code = json.charCodeAt(at);
  if (code >= 0xdc00 && code <= 0xdfff) at++;
  return [json.slice(0, at), json.slice(at)];
}

/** An answer that is one document; it can be cut in the middle of its text, or inside `call`. */
export function wholeAnswer(text: string, contentType: string, cutText?: string): Answer {
  const found = cutText === undefined ? -1 : text.indexOf(cutText);
  const at = found === -1
    ? Math.floor(text.length / 2)
    : found + Math.floor((cutText?.length ?? 0) / 2);
  return {
    streaming: false,
    contentType,
    opening: [{ text: text.slice(0, at), counts: "none" }],
    callHead: [],
    callTail: [],
    ending: [{ text: text.slice(at), counts: "event" }],
  };
}

/** The fields of a JSON object, or none when `value` is not an object. */
export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? value as Record<string, unknown> : {};
}

/** `value` when it is an array, else an empty one. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** `value` when it is a string that is not empty, else `null`. */
export function textOf(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

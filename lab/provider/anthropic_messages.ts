// deno-lint-ignore-file camelcase -- the wire format is snake_case
/**
 * The Anthropic Messages protocol: `POST /v1/messages`.
 *
 * Event order and fields follow the API reference ("Streaming Messages"); clients that were run
 * against them: Claude Code, pi, Qwen Code, Cline, opencode.
 *
 * @module
 */

import {
  type Answer,
  type AnswerContext,
  type Dialect,
  fieldsOf,
  type Frame,
  LAB_MODEL,
  listOf,
  type ModelRequest,
  splitToolJson,
  sseFrame,
  textOf,
  type Turn,
  USAGE_TOKENS,
  wholeAnswer,
} from "./protocol.ts";
import { anthropicErrorType, type ProviderError } from "./provider_error.ts";

function event(type: string, fields: Record<string, unknown> = {}): Frame {
  return sseFrame({ type, ...fields }, type);
}

function parse(body: unknown): ModelRequest {
  const request = fieldsOf(body);
  const answered = new Set<string>();
  for (const message of listOf(request.messages)) {
    for (const block of listOf(fieldsOf(message).content)) {
      const { type, tool_use_id } = fieldsOf(block);
      const id = textOf(tool_use_id);
      if (type === "tool_result" && id !== null) answered.add(id);
    }
  }
  const format = fieldsOf(fieldsOf(request.output_config).format);
  return {
    stream: request.stream === true,
    model: textOf(request.model) ?? LAB_MODEL,
    tools: listOf(request.tools).flatMap((tool) => textOf(fieldsOf(tool).name) ?? []),
    answeredCallIds: answered,
    wantsJson: format.type === "json_schema",
  };
}

function stopReason(turn: Turn, context: AnswerContext): string {
  if (context.tokenLimit === true) return "max_tokens";
  return turn.call === null ? "end_turn" : "tool_use";
}

function messageFields(context: AnswerContext): Record<string, unknown> {
  return {
    id: `msg_lab_${context.serial}`,
    type: "message",
    role: "assistant",
    model: context.model,
  };
}

function stream(turn: Turn, context: AnswerContext): Answer {
  const opening = [
    event("message_start", {
      message: {
        ...messageFields(context),
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: USAGE_TOKENS.input, output_tokens: 1 },
      },
    }),
    event("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
    event("content_block_delta", { index: 0, delta: { type: "text_delta", text: turn.text } }),
    event("content_block_stop", { index: 0 }),
  ];
  const callHead: Frame[] = [];
  const callTail: Frame[] = [];
  if (turn.call !== null) {
    const { id, name, input } = turn.call;
    const [head, tail] = splitToolJson(JSON.stringify(input), context.cutAt);
    const delta = (partial_json: string) =>
      event("content_block_delta", { index: 1, delta: { type: "input_json_delta", partial_json } });
    const content_block = { type: "tool_use", id, name, input: {} };
    callHead.push(event("content_block_start", { index: 1, content_block }), delta(head));
    if (context.tokenLimit !== true) callTail.push(delta(tail));
    callTail.push(event("content_block_stop", { index: 1 }));
  }
  const ending = [
    event("message_delta", {
      delta: { stop_reason: stopReason(turn, context), stop_sequence: null },
      usage: { output_tokens: USAGE_TOKENS.output },
    }),
    event("message_stop"),
  ];
  const contentType = "text/event-stream";
  return { streaming: true, contentType, opening, callHead, callTail, ending };
}

function whole(turn: Turn, context: AnswerContext): Answer {
  const content: Record<string, unknown>[] = [{ type: "text", text: turn.text }];
  if (turn.call !== null && context.tokenLimit !== true) {
    content.push({ type: "tool_use", ...turn.call });
  }
  const message = {
    ...messageFields(context),
    content,
    stop_reason: stopReason(turn, context),
    stop_sequence: null,
    usage: { input_tokens: USAGE_TOKENS.input, output_tokens: USAGE_TOKENS.output },
  };
  const cutText = turn.call === null ? undefined : JSON.stringify(turn.call.input);
  return wholeAnswer(JSON.stringify(message), "application/json", cutText);
}

function errorFields(error: ProviderError): Record<string, unknown> {
  return { error: { type: anthropicErrorType(error.status), message: error.message } };
}

/** The Anthropic Messages protocol. */
export const anthropicMessages: Dialect = {
  name: "anthropic-messages",
  ping: { ...event("ping"), counts: "ping" },
  // The event is named: a bad frame without a name is ignored by Claude Code.
  malformed: {
    text: 'event: content_block_delta\ndata: {"type":"content_block_delta","index":1,"del\n\n',
    counts: "none",
  },
  parse,
  stream,
  whole,
  errorBody: (error) => JSON.stringify({ type: "error", ...errorFields(error) }),
  errorFrames: (error) => [event("error", errorFields(error))],
};

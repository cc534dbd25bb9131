// deno-lint-ignore-file camelcase -- the wire format is snake_case
/**
 * The OpenAI Responses protocol: `POST /v1/responses`.
 *
 * Event order and fields follow the API reference ("Streaming events"); clients that were run
 * against them: Codex, pi, opencode.
 *
 * @module
 */

import {
  type Answer,
  type AnswerContext,
  CREATED_AT_SECONDS,
  type Dialect,
  fieldsOf,
  type Frame,
  LAB_MODEL,
  listOf,
  type ModelRequest,
  splitToolJson,
  SSE_COMMENT_PING,
  sseFrame,
  textOf,
  type ToolCall,
  type Turn,
  USAGE_TOKENS,
  wholeAnswer,
} from "./protocol.ts";
import { openaiErrorBody, openaiErrorNames, type ProviderError } from "./provider_error.ts";

type Item = Record<string, unknown>;

/** Makes the events of one stream; their sequence numbers count up from 0. */
type EventMaker = (type: string, fields: Item) => Frame;

function parse(body: unknown): ModelRequest {
  const request = fieldsOf(body);
  const answered = new Set<string>();
  for (const item of listOf(request.input)) {
    const { type, call_id } = fieldsOf(item);
    const id = textOf(call_id);
    if (id === null) continue;
    if (type === "function_call_output" || type === "custom_tool_call_output") answered.add(id);
  }
  const format = textOf(fieldsOf(fieldsOf(request.text).format).type) ?? "text";
  return {
    stream: request.stream === true,
    model: textOf(request.model) ?? LAB_MODEL,
    tools: listOf(request.tools).flatMap((tool) => {
      const { name, type } = fieldsOf(tool);
      return textOf(name) ?? textOf(type) ?? [];
    }),
    answeredCallIds: answered,
    wantsJson: format.startsWith("json"),
  };
}

function responseFields(context: AnswerContext, output: readonly Item[], done: boolean): Item {
  const cut = context.tokenLimit === true;
  return {
    id: `resp_lab_${context.serial}`,
    object: "response",
    created_at: CREATED_AT_SECONDS,
    status: done ? (cut ? "incomplete" : "completed") : "in_progress",
    ...(done && cut ? { incomplete_details: { reason: "max_output_tokens" } } : {}),
    model: context.model,
    output,
    parallel_tool_calls: false,
    tools: [],
    tool_choice: "auto",
    ...(done ? { usage: usageFields() } : {}),
  };
}

function usageFields(): Item {
  return {
    input_tokens: USAGE_TOKENS.input,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: USAGE_TOKENS.output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: USAGE_TOKENS.input + USAGE_TOKENS.output,
  };
}

function messageItem(turn: Turn, context: AnswerContext): Item & { id: string } {
  return {
    type: "message",
    id: `msg_lab_${context.serial}`,
    status: "completed",
    role: "assistant",
    content: [{ type: "output_text", text: turn.text, annotations: [] }],
  };
}

function callItem(call: ToolCall, context: AnswerContext): Item & { id: string } {
  return {
    type: "function_call",
    id: `fc_lab_${context.serial}`,
    call_id: call.id,
    name: call.name,
    arguments: JSON.stringify(call.input),
    status: "completed",
  };
}

/** The call as it stands at the end of the answer: cut off when the token limit was reached. */
function sentItem(call: ToolCall, context: AnswerContext): Item & { id: string } {
  const item = callItem(call, context);
  if (context.tokenLimit !== true) return item;
  const [head] = splitToolJson(JSON.stringify(call.input), context.cutAt);
  return { ...item, arguments: head, status: "incomplete" };
}

function messageEvents(event: EventMaker, item: Item & { id: string }, text: string): Frame[] {
  const place = { item_id: item.id, output_index: 0, content_index: 0 };
  const part = (value: string) => ({ type: "output_text", text: value, annotations: [] });
  return [
    event("response.output_item.added", {
      output_index: 0,
      item: { ...item, status: "in_progress", content: [] },
    }),
    event("response.content_part.added", { ...place, part: part("") }),
    event("response.output_text.delta", { ...place, delta: text }),
    event("response.output_text.done", { ...place, text }),
    event("response.content_part.done", { ...place, part: part(text) }),
    event("response.output_item.done", { output_index: 0, item }),
  ];
}

function stream(turn: Turn, context: AnswerContext): Answer {
  let sequence_number = 0;
  const event: EventMaker = (type, fields) =>
    sseFrame({ type, sequence_number: sequence_number++, ...fields }, type);
  const message = messageItem(turn, context);
  const output: Item[] = [message];
  const opening = [
    event("response.created", { response: responseFields(context, [], false) }),
    ...messageEvents(event, message, turn.text),
  ];
  const callHead: Frame[] = [];
  const callTail: Frame[] = [];
  if (turn.call !== null) {
    const [head, tail] = splitToolJson(JSON.stringify(turn.call.input), context.cutAt);
    const item = sentItem(turn.call, context);
    const place = { item_id: item.id, output_index: 1 };
    callHead.push(
      event("response.output_item.added", {
        output_index: 1,
        item: { ...item, arguments: "", status: "in_progress" },
      }),
      event("response.function_call_arguments.delta", { ...place, delta: head }),
    );
    if (context.tokenLimit !== true) {
      callTail.push(event("response.function_call_arguments.delta", { ...place, delta: tail }));
    }
    callTail.push(
      event("response.function_call_arguments.done", { ...place, arguments: item.arguments }),
      event("response.output_item.done", { output_index: 1, item }),
    );
    output.push(item);
  }
  const last = context.tokenLimit === true ? "response.incomplete" : "response.completed";
  const ending = [event(last, { response: responseFields(context, output, true) })];
  const contentType = "text/event-stream";
  return { streaming: true, contentType, opening, callHead, callTail, ending };
}

function whole(turn: Turn, context: AnswerContext): Answer {
  const output: Item[] = [messageItem(turn, context)];
  let cutText: string | undefined;
  if (turn.call !== null) {
    const item = sentItem(turn.call, context);
    output.push(item);
    cutText = JSON.stringify(item.arguments);
  }
  const text = JSON.stringify(responseFields(context, output, true));
  return wholeAnswer(text, "application/json", cutText);
}

function errorFrames(error: ProviderError): Frame[] {
  const { type, code } = openaiErrorNames(error);
  const response = {
    id: "resp_lab_failed",
    object: "response",
    created_at: CREATED_AT_SECONDS,
    status: "failed",
    error: { code: code ?? type, message: error.message },
    output: [],
  };
  return [sseFrame({ type: "response.failed", sequence_number: 0, response }, "response.failed")];
}

/** The OpenAI Responses protocol. */
export const openaiResponses: Dialect = {
  name: "openai-responses",
  ping: SSE_COMMENT_PING,
  malformed: {
    text: 'event: response.output_text.delta\ndata: {"type":"response.output_te\n\n',
    counts: "none",
  },
  parse,
  stream,
  whole,
  errorBody: openaiErrorBody,
  errorFrames,
};

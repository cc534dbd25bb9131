// deno-lint-ignore-file camelcase -- the wire format is snake_case
/**
 * The OpenAI Chat Completions protocol: `POST /v1/chat/completions`.
 *
 * Chunk order and fields follow the API reference ("The chat completion chunk object"); clients
 * that were run against them: pi, opencode, Qwen Code, Cline.
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
  type Turn,
  USAGE_TOKENS,
  wholeAnswer,
} from "./protocol.ts";
import { openaiErrorBody } from "./provider_error.ts";

const USAGE = {
  prompt_tokens: USAGE_TOKENS.input,
  completion_tokens: USAGE_TOKENS.output,
  total_tokens: USAGE_TOKENS.input + USAGE_TOKENS.output,
};

function parse(body: unknown): ModelRequest {
  const request = fieldsOf(body);
  const answered = new Set<string>();
  for (const message of listOf(request.messages)) {
    const { role, tool_call_id } = fieldsOf(message);
    const id = textOf(tool_call_id);
    if (role === "tool" && id !== null) answered.add(id);
  }
  const format = textOf(fieldsOf(request.response_format).type) ?? "text";
  return {
    stream: request.stream === true,
    model: textOf(request.model) ?? LAB_MODEL,
    tools: listOf(request.tools)
      .flatMap((tool) => textOf(fieldsOf(fieldsOf(tool).function).name) ?? []),
    answeredCallIds: answered,
    wantsJson: format.startsWith("json"),
  };
}

function finishReason(turn: Turn, context: AnswerContext): string {
  if (context.tokenLimit === true) return "length";
  return turn.call === null ? "stop" : "tool_calls";
}

function stream(turn: Turn, context: AnswerContext): Answer {
  const base = {
    id: `chatcmpl-lab-${context.serial}`,
    object: "chat.completion.chunk",
    created: CREATED_AT_SECONDS,
    model: context.model,
  };
  const chunk = (delta: Record<string, unknown>, finish_reason: string | null = null) =>
    sseFrame({ ...base, choices: [{ index: 0, delta, finish_reason }] });
  const callHead: Frame[] = [];
  const callTail: Frame[] = [];
  if (turn.call !== null) {
    const { id, name, input } = turn.call;
    const [head, tail] = splitToolJson(JSON.stringify(input), context.cutAt);
    const first = { index: 0, id, type: "function", function: { name, arguments: head } };
    callHead.push(chunk({ tool_calls: [first] }));
    if (context.tokenLimit !== true) {
      callTail.push(chunk({ tool_calls: [{ index: 0, function: { arguments: tail } }] }));
    }
  }
  return {
    streaming: true,
    contentType: "text/event-stream",
    opening: [chunk({ role: "assistant", content: "" }), chunk({ content: turn.text })],
    callHead,
    callTail,
    ending: [
      chunk({}, finishReason(turn, context)),
      sseFrame({ ...base, choices: [], usage: USAGE }),
      sseFrame("[DONE]"),
    ],
  };
}

function whole(turn: Turn, context: AnswerContext): Answer {
  const message: Record<string, unknown> = { role: "assistant", content: turn.text };
  let cutText: string | undefined;
  if (turn.call !== null) {
    const { id, name, input } = turn.call;
    const full = JSON.stringify(input);
    const args = context.tokenLimit === true ? splitToolJson(full, context.cutAt)[0] : full;
    cutText = JSON.stringify(args);
    message.tool_calls = [{ id, type: "function", function: { name, arguments: args } }];
  }
  const completion = {
    id: `chatcmpl-lab-${context.serial}`,
    object: "chat.completion",
    created: CREATED_AT_SECONDS,
    model: context.model,
    choices: [{ index: 0, message, finish_reason: finishReason(turn, context) }],
    usage: USAGE,
  };
  return wholeAnswer(JSON.stringify(completion), "application/json", cutText);
}

/** The OpenAI Chat Completions protocol. */
export const openaiChat: Dialect = {
  name: "openai-chat",
  ping: SSE_COMMENT_PING,
  malformed: { text: 'data: {"id":"chatcmpl-lab","choices":[{"index":0,"del\n\n', counts: "none" },
  parse,
  stream,
  whole,
  errorBody: openaiErrorBody,
  errorFrames: (error) => [sseFrame(openaiErrorBody(error))],
};

/**
 * The Gemini protocol: `POST /v1beta/models/<model>:generateContent` and
 * `:streamGenerateContent?alt=sse`.
 *
 * Fields follow the API reference ("GenerateContentResponse"); clients that were run against them:
 * Gemini CLI, pi, opencode, Qwen Code. A `functionCall` arrives whole in this protocol, so the only
 * cut "inside the tool JSON" is one inside the frame itself.
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
  SSE_COMMENT_PING,
  sseFrame,
  textOf,
  type Turn,
  USAGE_TOKENS,
  wholeAnswer,
} from "./protocol.ts";
import { googleStatus, type ProviderError } from "./provider_error.ts";

type Part = Record<string, unknown>;

const MODEL_PATH_REGEXP = /\/models\/([^/:]+):(\w+)$/;

function parse(body: unknown, path: string): ModelRequest {
  const request = fieldsOf(body);
  const [, model, method] = MODEL_PATH_REGEXP.exec(path) ?? [];
  const answered = new Set<string>();
  for (const content of listOf(request.contents)) {
    for (const part of listOf(fieldsOf(content).parts)) {
      const id = textOf(fieldsOf(fieldsOf(part).functionResponse).id);
      if (id !== null) answered.add(id);
    }
  }
  const format = textOf(fieldsOf(request.generationConfig).responseMimeType) ?? "text/plain";
  return {
    stream: method === "streamGenerateContent",
    model: model ?? LAB_MODEL,
    tools: listOf(request.tools)
      .flatMap((tool) => listOf(fieldsOf(tool).functionDeclarations))
      .flatMap((declaration) => textOf(fieldsOf(declaration).name) ?? []),
    answeredCallIds: answered,
    wantsJson: format.includes("json"),
  };
}

function response(parts: readonly Part[], context: AnswerContext, finishReason?: string): Part {
  return {
    candidates: [{
      content: { role: "model", parts },
      index: 0,
      ...(finishReason === undefined ? {} : { finishReason }),
    }],
    usageMetadata: {
      promptTokenCount: USAGE_TOKENS.input,
      candidatesTokenCount: USAGE_TOKENS.output,
      totalTokenCount: USAGE_TOKENS.input + USAGE_TOKENS.output,
    },
    modelVersion: context.model,
    responseId: `resp-lab-${context.serial}`,
  };
}

function callPart(turn: Turn): Part[] {
  if (turn.call === null) return [];
  const { id, name, input } = turn.call;
  return [{ functionCall: { id, name, args: input } }];
}

function stream(turn: Turn, context: AnswerContext): Answer {
  const callHead: Frame[] = [];
  const callTail: Frame[] = [];
  const limit = context.tokenLimit === true;
  if (turn.call !== null && !limit) {
    const { text } = sseFrame(response(callPart(turn), context));
    const [head, tail] = splitToolJson(text, context.cutAt);
    callHead.push({ text: head, counts: "none" });
    callTail.push({ text: tail, counts: "event" });
  }
  return {
    streaming: true,
    contentType: "text/event-stream",
    opening: [sseFrame(response([{ text: turn.text }], context))],
    callHead,
    callTail,
    ending: [sseFrame(response([{ text: "" }], context, limit ? "MAX_TOKENS" : "STOP"))],
  };
}

function whole(turn: Turn, context: AnswerContext): Answer {
  const limit = context.tokenLimit === true;
  const parts = [{ text: turn.text }, ...(limit ? [] : callPart(turn))];
  const text = JSON.stringify(response(parts, context, limit ? "MAX_TOKENS" : "STOP"));
  const cutText = turn.call === null || limit ? undefined : JSON.stringify(turn.call.input);
  return wholeAnswer(text, "application/json", cutText);
}

function errorBody(error: ProviderError): string {
  const { status: code, message } = error;
  return JSON.stringify({ error: { code, message, status: googleStatus(code) } });
}

/** The Gemini protocol. */
export const gemini: Dialect = {
  name: "gemini",
  ping: SSE_COMMENT_PING,
  malformed: { text: 'data: {"candidates":[{"content":{"role":"model","par\n\n', counts: "none" },
  parse,
  stream,
  whole,
  errorBody,
  errorFrames: (error) => [sseFrame(errorBody(error))],
};

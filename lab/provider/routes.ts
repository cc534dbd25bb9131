/**
 * Which path means what.
 *
 * @module
 */

import { anthropicMessages } from "./anthropic_messages.ts";
import { gemini } from "./gemini.ts";
import { labUnit } from "./lab_unit.ts";
import { openaiChat } from "./openai_chat.ts";
import { openaiResponses } from "./openai_responses.ts";
import { CREATED_AT_SECONDS, type Dialect, LAB_MODEL, USAGE_TOKENS } from "./protocol.ts";

/** What a path means. */
export type Route =
  /** A model is asked for an answer. */
  | { kind: "model"; name: string; dialect: Dialect }
  /** A shell job reports a unit. */
  | { kind: "unit"; name: string; dialect: Dialect; unit: string }
  /** A fixed answer: model lists, token counts, a sign of life. */
  | { kind: "fixed"; name: string; dialect: Dialect; body: string }
  /** No such path. */
  | { kind: "unknown"; name: string; dialect: Dialect };

const UNIT_PATH_REGEXP = /^\/lab\/unit\/([^/]+)$/;
const GEMINI_PATH_REGEXP = /^(?:\/v1(?:beta)?)?\/models\/[^/:]+:(\w+)$/;

/** Clients put the version into their base URL or leave it to us, so the prefix is optional. */
const VERSION_REGEXP = /^\/v1(?:beta)?(?=\/)/;

/** Both list formats in one document: OpenAI reads `data[].id`, Anthropic and Gemini the others. */
const MODEL_LIST = JSON.stringify({
  object: "list",
  data: [{
    id: LAB_MODEL,
    object: "model",
    type: "model",
    created: CREATED_AT_SECONDS,
    "created_at": "1970-01-01T00:00:01Z",
    "display_name": LAB_MODEL,
    "owned_by": "lab",
  }],
  "has_more": false,
  "first_id": LAB_MODEL,
  "last_id": LAB_MODEL,
  models: [{
    name: `models/${LAB_MODEL}`,
    displayName: LAB_MODEL,
    supportedGenerationMethods: ["generateContent", "countTokens"],
  }],
});

const MODEL_DIALECTS: Readonly<Record<string, Dialect>> = {
  "/messages": anthropicMessages,
  "/chat/completions": openaiChat,
  "/responses": openaiResponses,
};

/** Tells what a request is for. */
export function findRoute(method: string, path: string): Route {
  const unit = UNIT_PATH_REGEXP.exec(path)?.[1];
  if (unit !== undefined) {
    const name = "/lab/unit/<key>";
    const dialect = labUnit;
    if (method !== "POST") return { kind: "unknown", name, dialect };
    return { kind: "unit", name, dialect, unit: decode(unit) };
  }
  const geminiMethod = GEMINI_PATH_REGEXP.exec(path)?.[1];
  if (geminiMethod !== undefined) return findGeminiRoute(method, geminiMethod);
  const name = path.replace(VERSION_REGEXP, "");
  const dialect = Object.hasOwn(MODEL_DIALECTS, name) ? MODEL_DIALECTS[name] : undefined;
  if (dialect !== undefined && method === "POST") return { kind: "model", name, dialect };
  if (name === "/messages/count_tokens" && method === "POST") {
    const body = JSON.stringify({ "input_tokens": USAGE_TOKENS.input });
    return { kind: "fixed", name, dialect: anthropicMessages, body };
  }
  if (method !== "GET" && method !== "HEAD") return unknownRoute();
  if (path === "/") return { kind: "fixed", name, dialect: anthropicMessages, body: "{}" };
  if (name === "/models") return { kind: "fixed", name, dialect: openaiChat, body: MODEL_LIST };
  return unknownRoute();
}

function findGeminiRoute(method: string, geminiMethod: string): Route {
  const name = `/models/<model>:${geminiMethod}`;
  const dialect = gemini;
  if (method !== "POST") return unknownRoute();
  if (geminiMethod === "generateContent" || geminiMethod === "streamGenerateContent") {
    return { kind: "model", name, dialect };
  }
  if (geminiMethod !== "countTokens") return unknownRoute();
  const body = JSON.stringify({ totalTokens: USAGE_TOKENS.input });
  return { kind: "fixed", name, dialect, body };
}

function unknownRoute(): Route {
  return { kind: "unknown", name: "(unknown path)", dialect: openaiChat };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

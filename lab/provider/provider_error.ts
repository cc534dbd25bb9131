/**
 * The errors that the provider reports, and the name that each protocol gives them.
 *
 * @module
 */

/** A failure as a provider reports it. */
export interface ProviderError {
  /** HTTP status, also inside a stream, where the real one was 200. */
  status: number;
  /** One sentence for people. */
  message: string;
  /** The account has nothing left, so that waiting a little is no use. @default {false} */
  quotaUsedUp?: boolean;
}

/** Anthropic: `error.type` by status (API reference, "Errors"). */
const ANTHROPIC_TYPES: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  500: "api_error",
  529: "overloaded_error",
};

/** Google: `error.status` by code (google.rpc.Code). */
const GOOGLE_STATUSES: Readonly<Record<number, string>> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  404: "NOT_FOUND",
  429: "RESOURCE_EXHAUSTED",
  500: "INTERNAL",
  503: "UNAVAILABLE",
  529: "UNAVAILABLE",
};

/** The type that the Anthropic API gives a status. */
export function anthropicErrorType(status: number): string {
  return ANTHROPIC_TYPES[status] ?? (status < 500 ? "invalid_request_error" : "api_error");
}

/** The status name that the Gemini API gives a status. */
export function googleStatus(status: number): string {
  return GOOGLE_STATUSES[status] ?? (status < 500 ? "INVALID_ARGUMENT" : "INTERNAL");
}

/** `type` and `code` that the OpenAI API gives an error. */
export function openaiErrorNames(error: ProviderError): { type: string; code: string | null } {
  if (error.quotaUsedUp === true) return { type: "insufficient_quota", code: "insufficient_quota" };
  switch (error.status) {
    case 401:
      return { type: "invalid_request_error", code: "invalid_api_key" };
    case 429:
      return { type: "rate_limit_error", code: "rate_limit_exceeded" };
    case 529:
      return { type: "server_error", code: "server_is_overloaded" };
    default:
      return error.status < 500
        ? { type: "invalid_request_error", code: null }
        : { type: "server_error", code: null };
  }
}

/** The error body of both OpenAI protocols. */
export function openaiErrorBody(error: ProviderError): string {
  return JSON.stringify({
    error: { message: error.message, ...openaiErrorNames(error), param: null },
  });
}

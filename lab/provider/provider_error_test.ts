import { assertEquals } from "@std/assert";
import { anthropicErrorType, googleStatus, openaiErrorNames } from "./provider_error.ts";

Deno.test("each protocol has its own name for an overloaded provider", () => {
  assertEquals(anthropicErrorType(529), "overloaded_error");
  assertEquals(googleStatus(529), "UNAVAILABLE");
  assertEquals(openaiErrorNames({ status: 529, message: "" }).code, "server_is_overloaded");
});

Deno.test("a status without a name of its own falls back to its class", () => {
  assertEquals([anthropicErrorType(422), anthropicErrorType(503)], [
    "invalid_request_error",
    "api_error",
  ]);
  assertEquals([googleStatus(422), googleStatus(502)], ["INVALID_ARGUMENT", "INTERNAL"]);
  assertEquals(openaiErrorNames({ status: 422, message: "" }).type, "invalid_request_error");
});

Deno.test("a used-up quota is told apart from a rate limit", () => {
  const error = { status: 429, message: "" };
  assertEquals(openaiErrorNames(error).type, "rate_limit_error");
  assertEquals(openaiErrorNames({ ...error, quotaUsedUp: true }).type, "insufficient_quota");
});

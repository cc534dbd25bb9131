/**
 * Two clients of the loopback provider: one that knows how answers can be wrong, and one as people
 * write it.
 *
 * @module
 */
import type { Provider } from "../../lab/provider/mod.ts";
import type { SendAnswer } from "../../repairs/mod.ts";

/**
 * Asks for one unit, with a stable key, and believes only a whole answer that came within the limit.
 * Empty lines are pings and count for nothing. Asking again with the same key is harmless, so an
 * attempt that broke off counts as not sent.
 */
export async function askCarefully(
  provider: Provider,
  unit: string,
  key: string,
  options: { eventLimitMs: number; signal: AbortSignal },
): Promise<SendAnswer> {
  const limit = AbortSignal.timeout(options.eventLimitMs);
  try {
    const response = await request(provider, unit, key, AbortSignal.any([limit, options.signal]));
    const text = await response.text();
    if (response.ok && text.trim() === `ok ${unit}`) return { sent: true };
    const retryAfterSeconds = Number(response.headers.get("retry-after"));
    return {
      sent: false,
      why: `status ${response.status}: ${text.trim().slice(0, 80)}`,
      retryAfterMs: Number.isFinite(retryAfterSeconds) ? retryAfterSeconds * 1000 : 0,
    };
  } catch (error) {
    const why = limit.aborted
      ? `no event within ${options.eventLimitMs} ms`
      : `it broke off: ${error instanceof Error ? error.message : error}`;
    return { sent: false, why };
  }
}

/**
 * Asks for one unit with a key of its own for each attempt, waits for as long as bytes may come, and
 * takes status 200 for an answer.
 */
export async function askNaively(
  provider: Provider,
  unit: string,
  attempt: number,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    const response = await request(provider, unit, `${unit}-try-${attempt}`, signal);
    await response.text();
    return response.ok;
  } catch {
    return false;
  }
}

function request(
  provider: Provider,
  unit: string,
  key: string,
  signal: AbortSignal,
): Promise<Response> {
  return fetch(`${provider.url}/lab/unit/${unit}`, {
    method: "POST",
    headers: { "idempotency-key": key, "x-api-key": provider.key },
    signal,
  });
}

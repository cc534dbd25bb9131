/**
 * The variables that lead a job's calls of a model provider to the loopback provider.
 *
 * @module
 */
import type { Provider } from "../lab/provider/mod.ts";

/** Environment of a job that would call a provider: our address, our fake key. */
export function providerEnvironment(
  { url, key }: Pick<Provider, "url" | "key">,
): Record<string, string> {
  return {
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: key,
    OPENAI_BASE_URL: `${url}/v1`,
    OPENAI_API_KEY: key,
    GOOGLE_GEMINI_BASE_URL: url,
    GEMINI_API_KEY: key,
  };
}

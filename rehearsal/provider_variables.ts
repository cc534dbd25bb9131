/**
 * Which environment variables give access to a real model provider. They are taken out of the job's
 * environment, so that a rehearsal does not spend money by the way. (A login that lies in a file of
 * the user's home is not taken away.)
 *
 * @module
 */

/** Words of a variable's name that mean a provider, or a program that pays one. */
const PROVIDERS: ReadonlySet<string> = new Set([
  "AI21",
  "ANTHROPIC",
  "ANYSCALE",
  "ARK",
  "BEDROCK",
  "CEREBRAS",
  "CLAUDE",
  "CODEX",
  "COHERE",
  "COPILOT",
  "CURSOR",
  "DASHSCOPE",
  "DEEPINFRA",
  "DEEPSEEK",
  "FIREWORKS",
  "GEMINI",
  "GENAI",
  "GROK",
  "GROQ",
  "HF",
  "HUGGING",
  "HUGGINGFACE",
  "HUGGINGFACEHUB",
  "LITELLM",
  "MINIMAX",
  "MISTRAL",
  "MOONSHOT",
  "NVIDIA",
  "OLLAMA",
  "OPENAI",
  "OPENCODE",
  "OPENROUTER",
  "PERPLEXITY",
  "PPLX",
  "QWEN",
  "REPLICATE",
  "SAMBANOVA",
  "TOGETHER",
  "TOGETHERAI",
  "VERTEX",
  "VERTEXAI",
  "VOYAGE",
  "WATSONX",
  "XAI",
  "ZAI",
  "ZHIPU",
  "ZHIPUAI",
]);

/** A name that ends with these words holds a secret, or the address that it is sent to. */
const ACCESS: readonly string[] = [
  "API_BASE",
  "APIKEY",
  "CREDENTIALS",
  "CUSTOM_HEADERS",
  "ENDPOINT",
  "KEY",
  "KEYS",
  "SECRET",
  "TOKEN",
  "URL",
];

/** Names that do not follow the rule. */
const EXACT: ReadonlySet<string> = new Set([
  "AI_GATEWAY_API_KEY",
  "AWS_BEARER_TOKEN_BEDROCK",
  "CLAUDE_CODE_USE_BEDROCK",
  "CLAUDE_CODE_USE_FOUNDRY",
  "CLAUDE_CODE_USE_VERTEX",
  "CO_API_KEY",
  "GITHUB_MODELS_TOKEN",
  "GOOGLE_API_KEY",
  "GOOGLE_APPLICATION_CREDENTIALS",
  "GOOGLE_GENAI_USE_VERTEXAI",
  "GOOGLE_GENERATIVE_AI_API_KEY",
]);

/** What may stand behind: the second of several keys, or the stage that it is for. */
const SUFFIX_REGEXP = /(_(\d+|DEV|FILE|LIVE|PROD|PRODUCTION|STAGING|TEST))+$/;

/** Whether a variable gives access to a real provider, by its name. */
export function isProviderVariable(name: string): boolean {
  const core = name.toUpperCase().replace(SUFFIX_REGEXP, "");
  if (EXACT.has(core)) return true;
  return core.split("_").some((word) => PROVIDERS.has(word)) &&
    ACCESS.some((words) => core.endsWith(`_${words}`));
}

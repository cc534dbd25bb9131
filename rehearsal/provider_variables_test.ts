import { assertEquals } from "@std/assert";
import { isProviderVariable } from "./provider_variables.ts";

Deno.test("isProviderVariable() knows keys and addresses of model providers", () => {
  for (
    const name of [
      "AI21_API_KEY",
      "AI_GATEWAY_API_KEY",
      "AIDER_OPENAI_API_KEY",
      "ANTHROPIC_API_KEY",
      "ANTHROPIC_API_KEY_2",
      "ANTHROPIC_AUTH_TOKEN",
      "ANTHROPIC_BASE_URL",
      "ANTHROPIC_BEDROCK_BASE_URL",
      "ANTHROPIC_CUSTOM_HEADERS",
      "ANTHROPIC_FOUNDRY_API_KEY",
      "ANTHROPIC_VERTEX_BASE_URL",
      "AWS_BEARER_TOKEN_BEDROCK",
      "AZURE_OPENAI_API_KEY",
      "AZURE_OPENAI_ENDPOINT",
      "CEREBRAS_API_KEY",
      "CLAUDE_API_KEY",
      "CLAUDE_CODE_OAUTH_TOKEN",
      "CLAUDE_CODE_USE_BEDROCK",
      "CLAUDE_CODE_USE_VERTEX",
      "CODEX_API_KEY",
      "COHERE_API_KEY",
      "COPILOT_GITHUB_TOKEN",
      "CO_API_KEY",
      "CURSOR_API_KEY",
      "DASHSCOPE_API_KEY",
      "DEEPSEEK_API_KEY",
      "FIREWORKS_API_KEY",
      "GEMINI_API_KEY",
      "GOOGLE_API_KEY",
      "GOOGLE_APPLICATION_CREDENTIALS",
      "GOOGLE_GEMINI_BASE_URL",
      "GOOGLE_GENAI_USE_VERTEXAI",
      "GOOGLE_GENERATIVE_AI_API_KEY",
      "GROQ_API_KEY",
      "HF_ENDPOINT",
      "HF_TOKEN",
      "HUGGINGFACEHUB_API_TOKEN",
      "HUGGING_FACE_HUB_TOKEN",
      "LITELLM_MASTER_KEY",
      "MISTRAL_API_KEY",
      "MOONSHOT_API_KEY",
      "NVIDIA_API_KEY",
      "OLLAMA_API_KEY",
      "OPENAI_API_BASE",
      "OPENAI_API_KEY",
      "OPENAI_API_KEY_FILE",
      "OPENAI_API_KEY_PROD_2",
      "OPENAI_BASE_URL",
      "OPENAI_KEY",
      "OPENROUTER_API_KEY",
      "PERPLEXITY_API_KEY",
      "QWEN_API_KEY",
      "REPLICATE_API_TOKEN",
      "TOGETHER_API_KEY",
      "VITE_OPENAI_API_KEY",
      "VOYAGE_API_KEY",
      "XAI_API_KEY",
      "ZAI_API_KEY",
      "openai_api_key",
    ]
  ) assertEquals(isProviderVariable(name), true, name);
});

Deno.test("isProviderVariable() knows each provider by each kind of access", () => {
  const providers = "AI21 ANTHROPIC ANYSCALE ARK BEDROCK CEREBRAS CLAUDE CODEX COHERE COPILOT " +
    "CURSOR DASHSCOPE DEEPINFRA DEEPSEEK FIREWORKS GEMINI GENAI GROK GROQ HF HUGGING HUGGINGFACE " +
    "HUGGINGFACEHUB LITELLM MINIMAX MISTRAL MOONSHOT NVIDIA OLLAMA OPENAI OPENCODE OPENROUTER " +
    "PERPLEXITY PPLX QWEN REPLICATE SAMBANOVA TOGETHER TOGETHERAI VERTEX VERTEXAI VOYAGE WATSONX " +
    "XAI ZAI ZHIPU ZHIPUAI";
  const kinds = "API_BASE API_KEY API_KEYS API_URL APIKEY AUTH_TOKEN BASE_URL BEARER_TOKEN " +
    "CREDENTIALS CUSTOM_HEADERS ENDPOINT KEY SECRET TOKEN URL";
  for (const provider of providers.split(" ")) {
    for (const kind of kinds.split(" ")) {
      assertEquals(isProviderVariable(`${provider}_${kind}`), true, `${provider}_${kind}`);
    }
  }
  for (const name of ["CLAUDE_CODE_USE_FOUNDRY", "GITHUB_MODELS_TOKEN", "GOOGLE_API_KEY_2"]) {
    assertEquals(isProviderVariable(name), true, name);
  }
});

Deno.test("isProviderVariable() leaves everything else alone", () => {
  for (
    const name of [
      "",
      "_",
      "ANTHROPIC_LOG",
      "ANTHROPIC_MODEL",
      "ANTHROPIC_SMALL_FAST_MODEL",
      "API_KEY",
      "AWS_REGION",
      "BASE_URL",
      "BASE_URL_OPENAI_NOTES",
      "CARGO_REGISTRY_TOKEN",
      "CLAUDE_CODE_MAX_OUTPUT_TOKENS",
      "CLAUDE_CONFIG_DIR",
      "CODEX_HOME",
      "CUDA_VISIBLE_DEVICES",
      "DATABASE_URL",
      "GITHUB_TOKEN",
      "GOOGLE_CLOUD_PROJECT",
      "HF_HOME",
      "HF_HUB_OFFLINE",
      "HOME",
      "KEY",
      "KEYBOARD",
      "LANG",
      "MAX_THINKING_TOKENS",
      "MONKEY",
      "NVIDIA_VISIBLE_DEVICES",
      "OLLAMA_HOST",
      "OPENAI_API_VERSION",
      "OPENAI_LOG",
      "OPENAI_MODEL",
      "OPENAI_MONKEY",
      "PATH",
      "PATH_TO_OPENAI",
      "SECRET",
      "SSH_AUTH_SOCK",
      "TOKEN",
      "TOKENIZERS_PARALLELISM",
      "XAIAPIKEY",
    ]
  ) assertEquals(isProviderVariable(name), false, name);
});

/**
 * What the user's command sees: its program, its environment, and that neither leads back to the
 * real project.
 *
 * @module
 */
import { join } from "@std/path";
import { findProgram } from "../lab/mod.ts";
import { argvOf, type Contract, ContractError } from "./contract.ts";

/**
 * Variables with real keys and addresses of model providers. They are taken out of the command's
 * environment before it runs, so that a rehearsal cannot spend money.
 */
export const PROVIDER_VARIABLES_REGEXP =
  /^(ANTHROPIC|OPENAI|AZURE_OPENAI|GEMINI|GOOGLE_(API|GEMINI|GENAI|APPLICATION)|MISTRAL|GROQ|COHERE|OPENROUTER|DEEPSEEK|XAI|TOGETHER|FIREWORKS|PERPLEXITY|HUGGINGFACE|HF|REPLICATE|DASHSCOPE|QWEN|CLAUDE_CODE|CODEX|BEDROCK|VERTEX)_?(.*_)?(API_KEY|AUTH_TOKEN|TOKEN|BASE_URL|API_BASE|ENDPOINT|KEY|CREDENTIALS|OAUTH_TOKEN)$/;

/** The environment of the user's command in its copy. */
export interface JobEnvironment {
  env: Record<string, string>;
  /** Names of provider variables that were taken out. */
  removed: string[];
  /** Names of variables in which the project's path was replaced by the copy's. */
  moved: string[];
}

/**
 * Builds the environment: the user's own, without real provider variables, with every mention of
 * the project's folder replaced by the copy's, and the contract's `env` on top.
 */
export function jobEnvironment(
  own: Readonly<Record<string, string>>,
  contract: Contract,
  projectDir: string,
  workspace: string,
): JobEnvironment {
  const env: Record<string, string> = {};
  const removed: string[] = [];
  const moved: string[] = [];
  for (const [name, value] of Object.entries(own)) {
    if (PROVIDER_VARIABLES_REGEXP.test(name)) {
      removed.push(name);
      continue;
    }
    const here = movePath(value, projectDir, workspace);
    if (here !== value) moved.push(name);
    env[name] = here;
  }
  for (const [name, value] of Object.entries(contract.env)) {
    env[name] = movePath(value, projectDir, workspace);
  }
  env.PWD = workspace;
  delete env.OLDPWD;
  return { env, removed, moved };
}

/** Replaces whole-component mentions of the project's folder; `/a/proj2` is not `/a/proj`. */
function movePath(value: string, from: string, to: string): string {
  if (from === "/" || !value.includes(from)) return value;
  return value.split(from).reduce((done, rest) =>
    /^(\/|:|$|["'\s])/.test(rest) ? `${done}${to}${rest}` : `${done}${from}${rest}`
  );
}

/**
 * Resolves a command as it will run in the copy.
 *
 * @param what Name of the contract's key, for messages.
 * @returns The words, with the program as an absolute path.
 * @throws {ContractError} When the program is not found, or when a word names the real project.
 */
export function resolveCommand(
  what: string,
  command: Contract["start"],
  places: { projectDir: string; workspace: string; path: string },
): string[] {
  const argv = argvOf(command);
  const { projectDir, workspace, path } = places;
  const real = argv.find((word) => mentions(word, projectDir));
  if (real !== undefined) {
    throw new ContractError(
      `Cannot rehearse "${what}": it names the real project by its full path ("${projectDir}"), so ` +
        "it would work on the real one and not on the copy. Write the path relative to the " +
        "project's folder",
    );
  }
  const name = argv[0] ?? "";
  const program = findProgram(name, path, projectDir);
  if (program === null) {
    throw new ContractError(
      `Cannot rehearse "${what}": the command "${name}" was not found or may not be run. ` +
        (name.includes("/")
          ? `It is looked for relative to ${projectDir}`
          : `PATH is ${path || "empty"}`),
    );
  }
  // A program of the project itself runs from the copy.
  const moved = program.startsWith(`${projectDir}/`)
    ? join(workspace, program.slice(projectDir.length + 1))
    : program;
  return [moved, ...argv.slice(1)];
}

function mentions(word: string, projectDir: string): boolean {
  return movePath(word, projectDir, "\0") !== word;
}

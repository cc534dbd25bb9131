/**
 * Presets: contracts for jobs that are a coding agent with a prompt, ready to be filled in.
 *
 * Such a job costs money in every run when it reaches a real provider, so its control run is off.
 * The flags are those with which each agent was seen to run without a person at the terminal.
 *
 * This file is the only door of the folder.
 *
 * @module
 */

/** A job that is known by its program. */
export interface Preset {
  /** Short name, for `--preset`. */
  id: string;
  /** What it is. */
  title: string;
  /** Files or folders of a project that hint at it. */
  hints: readonly string[];
  /** How a script calls it. */
  calls: RegExp;
  /** Command that begins the work that the prompt file describes. */
  start: (prompt: string) => string;
  /** Command that goes on with it. */
  resume: (prompt: string) => string;
}

const GO_ON = "Look at what is there already, and finish what is missing.";

function fileText(path: string): string {
  return `"$(cat ${/^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`})"`;
}

/** Every preset. */
export const PRESETS: readonly Preset[] = [
  {
    id: "claude",
    title: "Claude Code",
    hints: [".claude/", "CLAUDE.md"],
    calls: /\bclaude\s+(?:[^\n|;&]*\s)?(?:-p|--print)\b/,
    start: (prompt) => `claude -p ${fileText(prompt)} --dangerously-skip-permissions`,
    resume: () => `claude -p "${GO_ON}" --continue --dangerously-skip-permissions`,
  },
  {
    id: "codex",
    title: "Codex",
    hints: [".codex/"],
    calls: /\bcodex\s+exec\b/,
    start: (prompt) =>
      `codex exec --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox ${
        fileText(prompt)
      }`,
    resume: () =>
      "codex exec resume --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox --last " +
      `"${GO_ON}"`,
  },
  {
    id: "gemini",
    title: "Gemini CLI",
    hints: [".gemini/", "GEMINI.md"],
    calls: /\bgemini\s+(?:[^\n|;&]*\s)?(?:-p|--prompt|--yolo)\b/,
    start: (prompt) => `gemini --yolo --skip-trust -p ${fileText(prompt)}`,
    resume: () => `gemini --yolo --skip-trust --resume latest -p "${GO_ON}"`,
  },
  {
    id: "opencode",
    title: "opencode",
    hints: [".opencode/", "opencode.json"],
    calls: /\bopencode\s+run\b/,
    start: (prompt) => `opencode run --auto ${fileText(prompt)}`,
    resume: () => `opencode run --auto --continue "${GO_ON}"`,
  },
  {
    id: "qwen",
    title: "Qwen Code",
    hints: [".qwen/", "QWEN.md"],
    calls: /\bqwen\s+(?:[^\n|;&]*\s)?(?:-p|--yolo)\b/,
    start: (prompt) => `qwen --yolo -p ${fileText(prompt)}`,
    resume: () => `qwen --yolo --continue -p "${GO_ON}"`,
  },
  {
    id: "pi",
    title: "pi",
    hints: [".pi/"],
    calls: /\bpi\s+-p\b/,
    start: (prompt) => `pi -p ${fileText(prompt)}`,
    resume: () => `pi -p --continue "${GO_ON}"`,
  },
];

/** Limits of a job that thinks for minutes before it writes. */
export const AGENT_LIMITS = { runSeconds: 1800, idleSeconds: 300, graceSeconds: 5 } as const;

/** What everybody who rehearses an agent should know. */
export const AGENT_NOTE: string =
  "A rehearsal leads the agent to the lab's own provider with a fake key, which costs nothing and " +
  "answers by script. To let it work with its real provider, which costs money in every run, name " +
  'address and key in "env" of the contract. The control run is off for that reason.';

/** Finds a preset; `null` when there is none of that name. */
export function findPreset(id: string): Preset | null {
  return PRESETS.find((preset) => preset.id === id) ?? null;
}

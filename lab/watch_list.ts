/**
 * What is watched when nothing else is said: the program itself, the user's project, and the files
 * through which a stray job would reach into their next session.
 *
 * @module
 */
import type { WatchRoot } from "./containment.ts";

/** Shell start-up and tool configuration, relative to the home folder: small, and rarely written. */
export const WATCHED_SHELL_FILES: readonly string[] = [
  ".bashrc",
  ".bash_profile",
  ".bash_login",
  ".bash_logout",
  ".profile",
  ".zshenv",
  ".zshrc",
  ".zprofile",
  ".zlogin",
  ".config/fish/config.fish",
  ".config/fish/conf.d",
  ".config/fish/functions",
  ".config/environment.d",
  ".config/autostart",
  ".config/systemd/user",
  "Library/LaunchAgents",
  ".gitconfig",
  ".config/git",
  ".npmrc",
  ".yarnrc",
  ".yarnrc.yml",
  ".netrc",
  ".pypirc",
  ".config/pip/pip.conf",
  ".cargo/config.toml",
  ".docker/config.json",
  // Of ~/.ssh only what decides who gets in and where one goes: private keys are never opened.
  ".ssh/authorized_keys",
  ".ssh/config",
];

/**
 * Configuration of coding agents, relative to the home folder. Session stores, logs, caches and
 * databases beside these files are left out: every running session writes to them (`~/.claude/
 * projects`, `~/.codex/sessions`, `~/.local/share/opencode`, `~/.gemini/tmp`, `~/.cline/data/
 * sessions`), so they would change although no run of the lab touched them; so do files that hold a
 * login, which the agents renew by themselves (`auth.json`, `.credentials.json`).
 */
export const WATCHED_AGENT_FILES: readonly string[] = [
  ".claude/settings.json",
  ".claude/settings.local.json",
  ".claude/CLAUDE.md",
  ".claude/agents",
  ".claude/commands",
  ".claude/hooks",
  ".claude/skills",
  ".codex/config.toml",
  ".codex/AGENTS.md",
  ".codex/prompts",
  ".codex/rules",
  ".gemini/settings.json",
  ".gemini/GEMINI.md",
  ".gemini/commands",
  ".gemini/trustedFolders.json",
  ".config/opencode/opencode.json",
  ".config/opencode/opencode.jsonc",
  ".config/opencode/AGENTS.md",
  ".config/opencode/agent",
  ".config/opencode/command",
  ".config/opencode/plugin",
  ".qwen/settings.json",
  ".qwen/QWEN.md",
  ".qwen/commands",
  ".qwen/agents",
  ".cline/data/settings/cline_mcp_settings.json",
  ".aider.conf.yml",
  ".aider.model.settings.yml",
  ".aider.model.metadata.json",
  ".pi/agent/models.json",
  ".pi/agent/settings.json",
  ".pi/agent/AGENTS.md",
  ".cursor/mcp.json",
  ".cursor/hooks.json",
];

/**
 * `~/.claude.json` holds configuration and the state of every session in one file, and a running
 * Claude Code writes it all the time. Of it only these keys are compared.
 */
export const WATCHED_CLAUDE_KEYS: readonly string[] = [
  "apiKeyHelper",
  "customApiKeyResponses",
  "env",
  "hooks",
  "mcpServers",
  "permissions",
];

/** Names in `~/.ssh` that come and go with every connection. */
const SSH_CHURN: readonly string[] = ["known_hosts*", "agent*", "cm*", "mux*", "*.sock", "sockets"];

/** Parts of the source folder that a build or git itself writes. */
const KIT_IGNORED: readonly string[] = [
  ".git",
  "node_modules",
  "dist/.cache",
  "dist/failure-lab*",
  "dist/MANIFEST.txt",
  "dist/SHA256SUMS",
];

/** For whom the list is made. Paths are absolute. */
export interface WatchListOptions {
  /** The user's project; left out when there is none (drills). */
  projectDir?: string | null;
  /** The program: the binary, or the source folder. */
  kitPath: string;
  /** The user's home folder; `null` when the environment names none. */
  home: string | null;
}

/**
 * The places that every run watches. A path that does not exist is in the list as well: its
 * appearance is a change. The home folder itself is not: the driver of a run may read what is
 * watched, and may not write to it, and too many programs come and go there. Reads nothing.
 */
export function defaultWatchList(options: WatchListOptions): WatchRoot[] {
  const { projectDir, kitPath, home } = options;
  const roots: WatchRoot[] = [{ path: kitPath, depth: "full", ignore: KIT_IGNORED }];
  if (projectDir !== undefined && projectDir !== null && projectDir !== kitPath) {
    roots.push({ path: projectDir, depth: "full" });
  } else if (projectDir === kitPath) roots[0] = { path: kitPath, depth: "full" };
  if (home === null || !home.startsWith("/") || home === "/") return roots;
  for (const file of [...WATCHED_SHELL_FILES, ...WATCHED_AGENT_FILES]) {
    roots.push({ path: `${home}/${file}`, depth: "full" });
  }
  roots.push(
    { path: `${home}/.claude.json`, depth: "full", keys: WATCHED_CLAUDE_KEYS },
    { path: `${home}/.ssh`, depth: "entries", ignore: SSH_CHURN },
  );
  return roots;
}

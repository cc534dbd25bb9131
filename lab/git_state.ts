/**
 * The git state of a folder, for the record: which commit, and whether there are changes.
 *
 * @module
 */
import type { RunRecord } from "./record.ts";
import { findProgram, SYSTEM_PATH } from "./system_tools.ts";

const LIMIT_MS = 2000;

/**
 * Asks git for head and state of a folder.
 *
 * @returns `null` when the folder is not in a git tree, git is missing, may not be run, or does
 *     not answer within two seconds.
 */
export async function gitState(dir: string): Promise<RunRecord["git"]> {
  try {
    const git = findProgram("git", SYSTEM_PATH, "/");
    if (git === null) return null;
    const out = await runGit(git, dir, ["status", "--porcelain=v2", "--branch", "-uno"]);
    const head = /^# branch\.oid ([0-9a-f]+)$/m.exec(out)?.[1];
    if (head === undefined) return null;
    return { head, dirty: out.split("\n").some((line) => line !== "" && !line.startsWith("#")) };
  } catch {
    return null;
  }
}

async function runGit(git: string, dir: string, args: string[]): Promise<string> {
  const child = new Deno.Command(git, {
    args: ["-c", "core.fsmonitor=false", ...args],
    cwd: dir,
    // No lock and no prompt: a look at the user's tree must not change it or wait for anybody.
    env: { GIT_OPTIONAL_LOCKS: "0", GIT_TERMINAL_PROMPT: "0", PATH: SYSTEM_PATH, LC_ALL: "C" },
    clearEnv: true,
    stdin: "null",
    stdout: "piped",
    stderr: "null",
    signal: AbortSignal.timeout(LIMIT_MS),
  });
  const output = await child.output();
  // Half an answer of a git that was ended is none.
  return output.success ? new TextDecoder().decode(output.stdout) : "";
}

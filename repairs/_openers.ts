/**
 * Who has a file open, and whether somebody holds a kernel lock on it. Both only as far as the
 * programs of this machine can see; "not known" is an answer and never counts as "nobody".
 *
 * @module
 */
import { findProgram, SYSTEM_PATH, systemTool } from "../lab/mod.ts";

/** What can be said about a question of this kind. */
export type Sight = "yes" | "no" | "unknown";

/** Who has a file open. */
export interface Openers {
  /** Processes other than this one. */
  pids: number[];
  /** `unknown` when no program could tell. */
  isOpen: Sight;
}

/** A helper that takes longer than this (a dead network disk) counts as one that cannot tell. */
const HELPER_LIMIT_MS = 5000;

interface Answer {
  code: number;
  stdout: string;
}

async function ask(name: string, args: string[]): Promise<Answer | null> {
  const program = findProgram(name, SYSTEM_PATH, "/");
  if (program === null) return null;
  try {
    const { code, signal, stdout } = await new Deno.Command(program, {
      args,
      env: { PATH: SYSTEM_PATH, LC_ALL: "C" },
      clearEnv: true,
      stdin: "null",
      stderr: "null",
      signal: AbortSignal.timeout(HELPER_LIMIT_MS),
    }).output();
    return signal === null ? { code, stdout: new TextDecoder().decode(stdout) } : null;
  } catch {
    return null;
  }
}

/**
 * Who has this file open now, by `lsof` or else `fuser`. Both see only processes that this user may
 * look into.
 */
export async function findOpeners(path: string): Promise<Openers> {
  for (const [name, args] of [["lsof", ["-t", "--", path]], ["fuser", [path]]] as const) {
    const answer = await ask(name, [...args]);
    // 1 stands for "nobody" with both, and then nothing is printed.
    if (answer === null || answer.code > 1) continue;
    // The lsof of small systems ignores its arguments and prints every open file of everybody.
    if (!/^[\d\s]*$/.test(answer.stdout)) continue;
    const pids = (answer.stdout.match(/\d+/g) ?? []).map(Number).filter((pid) => pid !== Deno.pid);
    return { pids, isOpen: pids.length > 0 ? "yes" : "no" };
  }
  return { pids: [], isOpen: "unknown" };
}

const HELD = 5;

/**
 * Whether somebody holds a kernel lock (flock) on this file, in whatever process: a grandchild can
 * hold what its dead parent took. Looks by taking the lock for an instant, so ask only when you
 * are about to act.
 */
export async function findKernelLock(path: string): Promise<Sight> {
  const flock = findProgram("flock", SYSTEM_PATH, "/");
  if (flock === null) return "unknown";
  try {
    // Opened for reading by the shell: `flock FILE` would make the file when it has just gone.
    const { code } = await new Deno.Command(systemTool("sh"), {
      args: ["-c", `exec 9<"$1" || exit 3; "$0" -n -E ${HELD} 9`, flock, path],
      clearEnv: true,
      stdin: "null",
      stdout: "null",
      stderr: "null",
      signal: AbortSignal.timeout(HELPER_LIMIT_MS),
    }).output();
    if (code === HELD) return "yes";
    return code === 0 ? "no" : "unknown";
  } catch {
    return "unknown";
  }
}

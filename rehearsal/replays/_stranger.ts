/**
 * A live process that has nothing to do with the job: the one whose number stands in a stale lock.
 *
 * It carries no marker, so that nothing takes it for a part of the run. It waits for its standard
 * input to end, which is a pipe that we hold: should the lab die, however suddenly, it ends as well.
 *
 * @module
 */
import { killQuietly, SYSTEM_PATH, systemTool } from "../../lab/mod.ts";

/** A running stranger. */
export interface Stranger extends AsyncDisposable {
  readonly pid: number;
  /** How it ended, or `null` while it lives. Nobody but us has a reason to end it. */
  ended(): string | null;
}

/** Starts a stranger in a group of its own. */
export function startStranger(): Stranger {
  const child = new Deno.Command(systemTool("sh"), {
    args: ["-c", "read -r line; exit 0", "stranger"],
    env: { PATH: SYSTEM_PATH },
    clearEnv: true,
    cwd: "/",
    stdin: "piped",
    stdout: "null",
    stderr: "null",
    // Its own session: a signal to the job's group, or from the terminal, does not reach it.
    detached: true,
  }).spawn();
  let ended: string | null = null;
  const status = child.status.then((end) => {
    ended = end.signal ?? `exit ${end.code}`;
  });
  return {
    pid: child.pid,
    ended: () => ended,
    async [Symbol.asyncDispose]() {
      await child.stdin.close().catch(() => {});
      killQuietly(child);
      await status;
    },
  };
}

/**
 * Sending signals, through the `kill` program: it works under a scoped `--allow-run`, where
 * `Deno.kill` does not, and it is the same on Linux and macOS.
 *
 * @module
 */
import { SYSTEM_PATH, systemTool } from "./system_tools.ts";

/** The signals that the lab sends. */
export type LabSignal = "TERM" | "KILL" | "STOP" | "CONT" | "INT" | "HUP";

/**
 * Sends one signal to process groups and single processes at once. Requires `--allow-run` for
 * `kill`.
 *
 * Callers verify identity (pid and start time) right before; this function only sends. A target
 * that is gone already, or that belongs to someone else, is not an error; the others are still hit.
 *
 * @param targets Positive numbers are pids, negative ones are process groups.
 * @throws {RangeError} Before anything is sent, when a target would reach beyond one process or
 *     group (0, 1, -1), is not a whole number, or is this process or the group that it leads.
 * @throws {EnvironmentError} When the machine has no `kill`.
 */
export async function sendSignal(signal: LabSignal, targets: readonly number[]): Promise<void> {
  for (const target of targets) assertOneTarget(signal, target);
  if (targets.length === 0) return;
  await runKill(["-s", signal, "--", ...targets.map(String)]);
}

/**
 * Whether a process group has a member. The kernel answers for all members at one moment, where a
 * look at the process table can miss one that forks and ends while `ps` reads. Dead members that
 * nobody collected count. Sends nothing.
 *
 * @throws {RangeError} When the number is not that of one group, or is the group of this process.
 */
export async function groupExists(pgid: number): Promise<boolean> {
  assertOneTarget("0", pgid);
  return await runKill(["-s", "0", "--", String(-pgid)]);
}

function assertOneTarget(signal: string, target: number): void {
  const id = Math.abs(target);
  if (Number.isSafeInteger(target) && id > 1 && id !== Deno.pid) return;
  throw new RangeError(
    `Cannot send ${signal}: the target must be one process or group of ours: it is ${target}`,
  );
}

async function runKill(args: string[]): Promise<boolean> {
  const output = await new Deno.Command(systemTool("kill"), {
    args,
    env: { PATH: SYSTEM_PATH, LC_ALL: "C" },
    clearEnv: true,
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).output();
  return output.success;
}

/**
 * How a job ended, and whether all of it has.
 *
 * @module
 */
import type { KillRecord } from "../lab/mod.ts";

/** How a job ended: by its own exit code, or by a signal. One of the two is `null`. */
export interface JobEnd {
  /** `null` when a signal ended it. */
  exitCode: number | null;
  /** `null` when it ended by itself. */
  signal: string | null;
}

/** Whether a kill record shows that nobody of the job is left. */
export function isGone(kill: KillRecord): boolean {
  const { groupEmpty, markerEmpty, pipesClosed } = kill.witnesses;
  return kill.survivors.length === 0 && groupEmpty === true && markerEmpty === true &&
    pipesClosed !== false;
}

const SIGNAL_NUMBERS: Record<string, number> = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGQUIT: 3,
  SIGILL: 4,
  SIGTRAP: 5,
  SIGABRT: 6,
  SIGFPE: 8,
  SIGKILL: 9,
  SIGSEGV: 11,
  SIGPIPE: 13,
  SIGALRM: 14,
  SIGTERM: 15,
  SIGBUS: Deno.build.os === "darwin" ? 10 : 7,
  SIGSYS: Deno.build.os === "darwin" ? 12 : 31,
  SIGUSR1: Deno.build.os === "darwin" ? 30 : 10,
  SIGUSR2: Deno.build.os === "darwin" ? 31 : 12,
  SIGXCPU: 24,
  SIGXFSZ: 25,
};

/** The exit code a shell gives for this end: the job's own, or 128 + the signal's number. */
export function exitCodeOf(end: JobEnd): number {
  if (end.signal === null) return end.exitCode ?? 1;
  return 128 + (SIGNAL_NUMBERS[end.signal] ?? 0);
}

/**
 * `deadline`: a job that hangs, or that leaves children behind, is ended as a whole, with proof,
 * and, if wished, started afresh.
 *
 * - **Total limit**: an attempt may take so long and no longer.
 * - **Idle limit**: so long without a sign of progress. The sign is growth of the declared files
 *   or, where none are declared, output. Neither CPU time nor a heartbeat counts: a job that waits
 *   for ever can have both.
 * - **The end**: TERM to everybody of the job (its group, whoever carries its mark, whoever
 *   descends from it), a grace period, KILL, then a look that nobody is left, then a quiet period
 *   in which no declared file may change and nobody may come back.
 * - **A fresh attempt**: only after that proof, and with stdin from /dev/null, because a retry
 *   that inherits the same blocked pipe hangs again.
 *
 * @module
 */
import {
  type Clock,
  identityOf,
  type KillRecord,
  type ProcessIdentity,
  systemClock,
} from "../lab/mod.ts";
import { formatDuration } from "../lab/report/text.ts";
import { Job, type JobOptions } from "./_job.ts";
import { exitCodeOf, isGone, type JobEnd } from "./_job_end.ts";
import { HoldingSink, PassingSink } from "./_output.ts";
import { ProgressWatch, writeSignature } from "./_progress.ts";
import { sayDeath } from "./_run.ts";
import { describeKill, type Say, stopJob, type StopRequest } from "./_stop.ts";

/** Exit code when a limit ended the job (the same that `timeout` of coreutils gives). */
export const DEADLINE_EXIT = 124;
/** Exit code when it could not be shown that everybody of the job is gone and quiet. */
export const NOT_PROVEN_EXIT = 3;

/** What to run and within which limits. */
export interface DeadlineOptions {
  /** The program and its arguments. */
  argv: readonly string[];
  /** Folder of the job. @default {the folder of this process} */
  cwd?: string | undefined;
  /** Added to the environment. */
  env?: Readonly<Record<string, string>> | undefined;
  /** Longest time of one attempt. At least one of `totalMs` and `idleMs` is needed. */
  totalMs?: number | undefined;
  /** Longest time without progress. */
  idleMs?: number | undefined;
  /** Files whose growth is progress (globs); without any, output of the job is. */
  progress?: readonly string[] | undefined;
  /** Time between TERM and KILL. @default {10000} */
  graceMs?: number | undefined;
  /** Time without writes after the end. @default {500} */
  quietMs?: number | undefined;
  /** Time that children get to end by themselves after their leader did. @default {1000} */
  settleMs?: number | undefined;
  /** Fresh attempts after one that a limit ended. @default {0} */
  retries?: number | undefined;
  /** After the leader's own exit, name children that go on running and leave them. */
  leaveChildren?: boolean | undefined;
  /** Stdin of the first attempt; later ones always get /dev/null. @default {"null"} */
  stdin?: "null" | "inherit" | undefined;
  /**
   * `pass`: stdout goes on as it comes. `hold`: it is held back until the attempt has ended, and
   * only that of the attempt that counts is given on. @default {"hold" with retries, else "pass"}
   */
  output?: "pass" | "hold" | undefined;
  /** What messages call the idle limit. @default {"--idle"} */
  idleName?: string | undefined;
  /** Told why, right before a limit ends the job. */
  onLimit?: ((why: string) => void) | undefined;
  /** Gets messages for a person. */
  say?: Say | undefined;
  /** Being asked to stop. */
  stop?: StopRequest | undefined;
  /** The clock to go by. @default {systemClock} */
  clock?: Clock | undefined;
}

/** One attempt. */
export interface DeadlineAttempt {
  /** Its exit code or signal. */
  end: JobEnd;
  /** Which limit ended it, or `null`. */
  limit: "total" | "idle" | null;
  /** How long it took. */
  elapsedMs: number;
  /** How it was ended, or how its leftovers were; `null` when there was nothing to end. */
  kill: KillRecord | null;
  /** Children left running on the caller's wish. */
  left: ProcessIdentity[];
  /** Whether nobody is left and nothing was written in the quiet period. */
  isProvenQuiet: boolean;
}

/** How it all ended. */
export interface DeadlineResult {
  /**
   * `ended`: the job ended by itself. `limit`: a limit ended the last attempt. `stopped`: we were
   * asked to stop. `not-proven`: somebody of the job may still be at work.
   */
  outcome: "ended" | "limit" | "stopped" | "not-proven";
  /** All attempts, in their order. */
  attempts: DeadlineAttempt[];
  /** Exit code for the wrapper. */
  exitCode: number;
}

/** Most silence that one look can add: time in which we ourselves were stopped does not count. */
const LOOK_GAP_MS_MAX = 2000;
const QUIET_MS = 500;
/** Time for end-of-file on the output once nobody of the job is left. */
const DRAIN_LIMIT_MS = 1000;

/**
 * Runs a job within its limits. Requires `ps`, `kill` and `sh` on this machine.
 *
 * @throws {RangeError} When no limit is given.
 * @throws {JobStartError} When the job cannot be started.
 * @throws {EnvironmentError} When this machine lacks a program that is needed.
 */
export async function runWithDeadline(options: DeadlineOptions): Promise<DeadlineResult> {
  if (options.totalMs === undefined && options.idleMs === undefined) {
    throw new RangeError("Cannot run with a deadline: give a total limit, an idle limit, or both");
  }
  const retries = options.retries ?? 0;
  const say = options.say ?? (() => {});
  const attempts: DeadlineAttempt[] = [];
  while (true) {
    const number = attempts.length + 1;
    const isLast = number > retries;
    const { attempt, isCommitted } = await runAttempt(options, number, isLast);
    attempts.push(attempt);
    if (options.stop?.signal.aborted) {
      return { outcome: "stopped", attempts, exitCode: exitCodeOf(attempt.end) };
    }
    if (!attempt.isProvenQuiet) {
      say("It cannot be shown that the job is gone and quiet, so nothing is started again.");
      return { outcome: "not-proven", attempts, exitCode: NOT_PROVEN_EXIT };
    }
    if (attempt.limit === null) {
      return { outcome: "ended", attempts, exitCode: exitCodeOf(attempt.end) };
    }
    if (isLast || isCommitted) return { outcome: "limit", attempts, exitCode: DEADLINE_EXIT };
    say(`Attempt ${number + 1} of ${retries + 1} begins, with stdin from /dev/null.`);
  }
}

async function runAttempt(
  options: DeadlineOptions,
  number: number,
  isLast: boolean,
): Promise<{ attempt: DeadlineAttempt; isCommitted: boolean }> {
  const clock = options.clock ?? systemClock;
  const pause = (ms: number) => clock.sleep(ms);
  const stdout = new PassingSink(Deno.stdout, pause);
  const holds = (options.output ?? ((options.retries ?? 0) > 0 ? "hold" : "pass")) === "hold";
  using held = new HoldingSink(stdout);
  // Only where bytes of output are the sign of progress, or are held back, do they go through us.
  const isPiped = holds || (options.progress ?? []).length === 0;
  const sinks = { stdout: holds ? held : stdout, stderr: new PassingSink(Deno.stderr, pause) };
  const attempt = await superviseOnce(options, clock, {
    stdin: number === 1 ? options.stdin ?? "null" : "null",
    sinks: isPiped ? sinks : undefined,
  });
  // Of several attempts, the one that nobody will follow is the one that counts.
  const counts = attempt.limit === null || isLast || options.stop?.signal.aborted;
  if (holds && counts) await held.commit();
  return { attempt, isCommitted: holds ? held.isCommitted : false };
}

async function superviseOnce(
  options: DeadlineOptions,
  clock: Clock,
  streams: Pick<JobOptions, "stdin" | "sinks">,
): Promise<DeadlineAttempt> {
  const beganMs = clock.nowMs();
  const { argv, cwd, env } = options;
  await using job = await Job.start({ argv, cwd, env, clock, ...streams });
  const limit = await watchLimits(job, options, clock, beganMs);
  const graceMs = options.graceMs ?? 10_000;
  let kill: KillRecord | null = null;
  let left: ProcessIdentity[] = [];
  if (options.stop?.signal.aborted) {
    kill = await stopJob(job, options.stop, graceMs);
  } else if (limit !== null) {
    options.onLimit?.(limit.why);
    options.say?.(`${limit.why} Ending the job.`);
    kill = await job.end(graceMs);
  } else {
    sayDeath(job.ended ?? UNKNOWN_END, options.say);
    ({ kill, left } = await endLeftovers(job, options, clock));
  }
  let isProvenQuiet = true;
  if (kill !== null) {
    ({ kill, isProvenQuiet } = await proveQuiet(job, kill, options, clock));
    options.say?.(describeKill(kill) + (isProvenQuiet ? quietText(options) : ""));
  } else if (!await job.drain(DRAIN_LIMIT_MS) && left.length === 0) {
    isProvenQuiet = false;
    options.say?.("The job has ended, but somebody who cannot be seen holds its output open.");
  }
  if (job.outputProblem !== null) {
    options.say?.(`The job's output could not be passed on whole: ${job.outputProblem}`);
  }
  return {
    end: job.ended ?? UNKNOWN_END,
    limit: limit?.name ?? null,
    elapsedMs: clock.nowMs() - beganMs,
    kill,
    left,
    isProvenQuiet,
  };
}

const UNKNOWN_END: JobEnd = { exitCode: null, signal: null };

interface LimitHit {
  name: "total" | "idle";
  why: string;
}

async function watchLimits(
  job: Job,
  options: DeadlineOptions,
  clock: Clock,
  beganMs: number,
): Promise<LimitHit | null> {
  const { totalMs = Infinity, idleMs = Infinity, stop } = options;
  const everyMs = Math.max(10, Math.min(1000, Math.min(totalMs, idleMs) / 20));
  const hasGrown = growthProbe(job, options);
  let silentMs = 0;
  let lookedMs = clock.nowMs();
  while (true) {
    if (await job.waitEnd(everyMs, stop?.signal) || stop?.signal.aborted) return null;
    await job.lookWhenDue();
    const nowMs = clock.nowMs();
    silentMs += Math.min(nowMs - lookedMs, LOOK_GAP_MS_MAX + everyMs);
    lookedMs = nowMs;
    if (hasGrown() || job.isOutputBlocked) silentMs = 0;
    if (nowMs - beganMs >= totalMs) {
      return {
        name: "total",
        why: `The job ran longer than ${formatDuration(totalMs)} (--total).`,
      };
    }
    if (silentMs >= idleMs) return { name: "idle", why: idleText(options, idleMs) };
  }
}

function idleText(options: DeadlineOptions, idleMs: number): string {
  const what = (options.progress ?? []).length > 0
    ? `No file of ${options.progress?.join(" ")} grew`
    : "The job printed nothing";
  return `${what} for ${formatDuration(idleMs)} (${options.idleName ?? "--idle"}).`;
}

/** Claims only what was looked at. */
function quietText(options: DeadlineOptions): string {
  const quiet = formatDuration(options.quietMs ?? QUIET_MS);
  return (options.progress ?? []).length > 0
    ? ` For ${quiet} nobody came back and no declared file changed.`
    : ` For ${quiet} nobody came back.`;
}

function growthProbe(job: Job, options: DeadlineOptions): () => boolean {
  const globs = options.progress ?? [];
  if (globs.length > 0) {
    const watch = new ProgressWatch(globs, options.cwd ?? Deno.cwd());
    watch.look();
    return () => watch.look().grew;
  }
  let knownBytes = 0;
  return () => {
    const grew = job.outputBytes > knownBytes;
    knownBytes = job.outputBytes;
    return grew;
  };
}

/** After the leader's own exit: its children may end by themselves for a moment, then they must. */
async function endLeftovers(
  job: Job,
  options: DeadlineOptions,
  clock: Clock,
): Promise<{ kill: KillRecord | null; left: ProcessIdentity[] }> {
  const endMs = clock.nowMs() + (options.settleMs ?? 1000);
  let alive = await job.look();
  while (alive.length > 0 && clock.nowMs() < endMs) {
    await clock.sleep(50, options.stop?.signal);
    alive = await job.look();
  }
  if (alive.length === 0) return { kill: null, left: [] };
  const names = alive.map((row) => `${row.name} (pid ${row.pid})`).join(", ");
  if (options.leaveChildren) {
    options.say?.(`The job has ended but left running, as you asked: ${names}.`);
    return { kill: null, left: alive.map(identityOf) };
  }
  options.say?.(`The job has ended but left running: ${names}. Ending them, too.`);
  return { kill: await job.end(options.graceMs ?? 10_000), left: [] };
}

/**
 * Watches until nobody of the job was seen and no declared file changed for the whole quiet
 * period. Whoever shows up meanwhile is ended. Gives up after twenty quiet periods.
 */
async function proveQuiet(
  job: Job,
  first: KillRecord,
  options: DeadlineOptions,
  clock: Clock,
): Promise<{ kill: KillRecord; isProvenQuiet: boolean }> {
  const quietMs = options.quietMs ?? QUIET_MS;
  const globs = options.progress ?? [];
  const cwd = options.cwd ?? Deno.cwd();
  let kill = first;
  let signature = writeSignature(globs, cwd);
  let quietSinceMs = clock.nowMs();
  const endMs = quietSinceMs + quietMs * 20;
  while (true) {
    await clock.sleep(Math.max(10, quietMs / 5));
    const alive = await job.look();
    if (alive.length > 0) kill = await job.end(0);
    const now = writeSignature(globs, cwd);
    const isQuiet = alive.length === 0 && now === signature;
    signature = now;
    if (!isQuiet) quietSinceMs = clock.nowMs();
    if (isGone(kill) && isQuiet && clock.nowMs() - quietSinceMs >= quietMs) {
      return { kill, isProvenQuiet: true };
    }
    if (clock.nowMs() >= endMs) return { kill, isProvenQuiet: false };
  }
}

/**
 * Running a job to its own end, for the repairs that set no limits: nothing is done to it unless
 * somebody asks us to stop, or the repair itself finds that it must not go on.
 *
 * @module
 */
import { type Clock, identityOf, type KillRecord, type ProcessIdentity } from "../lab/mod.ts";
import { Job } from "./_job.ts";
import { exitCodeOf, type JobEnd } from "./_job_end.ts";
import { describeKill, type Say, stopJob, type StopRequest } from "./_stop.ts";

/** What every wrapper lets its caller say about the job. */
export interface WrappedJob {
  /** The program and its arguments. */
  argv: readonly string[];
  /** Folder of the job. @default {the folder of this process} */
  cwd?: string | undefined;
  /** Added to the environment. */
  env?: Readonly<Record<string, string>> | undefined;
  /** What the job reads. @default {"inherit"} */
  stdin?: "null" | "inherit" | undefined;
  /** Time that the job has to end after it was asked to. @default {10000} */
  graceMs?: number | undefined;
  /** Gets messages for a person. */
  say?: Say | undefined;
  /** Being asked to stop. */
  stop?: StopRequest | undefined;
}

/** A job, and what to look after while it runs. */
export interface RunOptions extends WrappedJob {
  /** The clock to go by. */
  clock: Clock;
  /** Called every `everyMs`; a text that it gives is the reason to end the job. */
  tick?: (() => Promise<string | null>) | undefined;
  /** Time between two looks. @default {1000} */
  everyMs?: number | undefined;
  /** Marks the job's processes. @default {drawn} */
  token?: string | undefined;
  /** Look for children that outlive the job, after giving them a second to end. */
  looksAfter?: boolean | undefined;
}

/** How it ended. */
export interface RunResult {
  /** Its exit code or signal. */
  end: JobEnd;
  /** `itself`, or `stop` when we were asked to stop, or `tick` when the repair ended it. */
  endedBy: "itself" | "stop" | "tick";
  /** Why the repair ended it. */
  why: string | null;
  /** How it was ended; `null` when nothing had to be. */
  kill: KillRecord | null;
  /** Processes of the job that still run. Known only where somebody looked. */
  left: ProcessIdentity[];
  /** The job's own exit code, or 128 + the number of the signal that ended it. */
  exitCode: number;
}

/**
 * Runs a job to its end.
 *
 * @throws {JobStartError} When the job cannot be started.
 * @throws {EnvironmentError} When this machine lacks a program that is needed.
 */
export async function runJob(options: RunOptions): Promise<RunResult> {
  const { stop, say } = options;
  const graceMs = options.graceMs ?? 10_000;
  await using job = await Job.start(options);
  let kill: KillRecord | null = null;
  let why: string | null = null;
  let endedBy: RunResult["endedBy"] = "itself";
  while (!await job.waitEnd(options.everyMs ?? 1000, stop?.signal)) {
    if (stop?.signal.aborted) {
      endedBy = "stop";
      kill = await stopJob(job, stop, graceMs);
      break;
    }
    why = await options.tick?.() ?? null;
    if (why !== null && job.ended === null) {
      endedBy = "tick";
      say?.(`${why} Ending the job.`);
      kill = await job.end(graceMs);
      break;
    }
    await job.lookWhenDue();
  }
  if (kill !== null) say?.(describeKill(kill));
  const end = job.ended ?? { exitCode: null, signal: null };
  if (endedBy === "itself") sayDeath(end, say);
  const left = kill !== null
    ? kill.survivors
    : options.looksAfter
    ? await leftOf(job, options)
    : [];
  return { end, endedBy, why, kill, left, exitCode: exitCodeOf(end) };
}

const SETTLE_MS = 1000;

async function leftOf(job: Job, options: RunOptions): Promise<ProcessIdentity[]> {
  const endMs = options.clock.nowMs() + SETTLE_MS;
  while (true) {
    const alive = await job.look();
    if (alive.length === 0 || options.clock.nowMs() >= endMs) return alive.map(identityOf);
    await options.clock.sleep(50, options.stop?.signal);
  }
}

/** Says that a signal ended the job that nobody here had sent. Says nothing for a plain exit. */
export function sayDeath(end: JobEnd, say: Say | undefined): void {
  if (end.signal === null) return;
  const hint = end.signal === "SIGKILL" ? " Often this is the system, short of memory." : "";
  say?.(`The job was killed by ${end.signal}, not by us; exit code ${exitCodeOf(end)}.${hint}`);
}

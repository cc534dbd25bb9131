/**
 * Running a job under a lease.
 *
 * @module
 */
import { systemClock } from "../lab/mod.ts";
import { runJob, type RunResult, type WrappedJob } from "./_run.ts";
import {
  acquireLease,
  type Lease,
  LEASE_HELD_EXIT,
  LeaseHeldError,
  LeaseLostError,
  type LeaseOptions,
} from "./lease.ts";
import type { Judgement } from "./lease_owner.ts";

/** Exit code when the lease was lost while the job ran; the job was ended. */
export const LEASE_LOST_EXIT = 3;

/** How it ended. */
export interface LeasedRun {
  /** `stood-down`: nothing was started. `lost`: the job was ended because the lease was lost. */
  outcome: "ran" | "stood-down" | "lost";
  /** Exit code for the wrapper. */
  exitCode: number;
  /** Why the run stood down. */
  judgement: Judgement | null;
  /** The generation; `null` when nothing was started. */
  generation: number | null;
  /** Where the lock of an owner that was gone is kept now. */
  takenOver: string | null;
  /** The job, as it ran; `null` when it was not started. */
  job: RunResult | null;
}

/**
 * Takes the lease, runs the job, gives the lease back. The job finds the lock's path in
 * `FAILURE_LAB_LEASE` and the generation in `FAILURE_LAB_GENERATION`. When the lease is lost, the
 * job is ended. When processes of the job outlive it, the lock stays until they have ended.
 *
 * @param renewMs The lock's time is moved, and the lease checked, this often. @default {1000}
 * @throws {JobStartError} When the job cannot be started; the lease is given back.
 */
export async function runUnderLease(
  options: LeaseOptions,
  job: WrappedJob & { renewMs?: number | undefined },
): Promise<LeasedRun> {
  const nothing = { generation: null, takenOver: null, job: null };
  let lease: Lease;
  try {
    lease = await acquireLease(options);
  } catch (error) {
    if (!(error instanceof LeaseHeldError)) throw error;
    options.say?.(`${error.message}.`);
    const { judgement } = error;
    return { ...nothing, outcome: "stood-down", exitCode: LEASE_HELD_EXIT, judgement };
  }
  try {
    const result = await runJob({
      ...job,
      clock: options.clock ?? systemClock,
      token: lease.token,
      env: {
        ...job.env,
        FAILURE_LAB_LEASE: lease.path,
        FAILURE_LAB_GENERATION: String(lease.generation),
      },
      tick: () => Promise.resolve(whyLost(lease)),
      everyMs: job.renewMs ?? 1000,
      looksAfter: true,
    });
    if (result.left.length > 0) {
      const names = result.left.map((each) => `${each.name} (pid ${each.pid})`).join(", ");
      options.say?.(`The job left running: ${names}. The lock stays until they have ended.`);
      lease.leaveToJob();
    }
    const isLost = result.endedBy === "tick";
    return {
      outcome: isLost ? "lost" : "ran",
      exitCode: isLost ? LEASE_LOST_EXIT : result.exitCode,
      judgement: null,
      generation: lease.generation,
      takenOver: lease.takenOver,
      job: result,
    };
  } finally {
    await lease.release();
  }
}

function whyLost(lease: Lease): string | null {
  try {
    lease.renew();
    return null;
  } catch (error) {
    // Also a disk that cannot be read: what cannot be shown to be ours is not ours.
    return error instanceof LeaseLostError
      ? `${error.message}.`
      : `The lease on "${lease.path}" cannot be checked any more: ${error}.`;
  }
}

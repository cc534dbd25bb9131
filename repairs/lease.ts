/**
 * `lease`: one run at a time, also after a crash.
 *
 * The lock proves its owner: host, boot, process space, pid and start time, and a kernel lock that
 * ends with the owner's life. Another run takes it over only when that owner is provably gone; the
 * lock of an owner of whom that cannot be shown (empty, not a number, another host, not readable)
 * is never removed: the run stands down. What is taken over is moved aside and kept
 * (`NAME.stale-1`). Each owner has a generation; a late owner finds a larger one and stops.
 *
 * Beside the lock stays one small file, `NAME.fence`: the generation, and the guard that lets one
 * taker at a time decide. It may not be deleted while anybody uses the lock.
 *
 * @module
 */
import { type Clock, drawToken, identify, readProcessTable, systemClock } from "../lab/mod.ts";
import { removeIfThere } from "./_durable.ts";
import { type Guard, openGuard, readGeneration } from "./_guard.ts";
import {
  askWitnesses,
  type FoundLock,
  type HeldLock,
  makeLockFile,
  makeLockFolder,
  moveLockAside,
  pidsOfProgram,
  readLock,
} from "./_lock_file.ts";
import { type Place, readPlace } from "./_place.ts";
import { writeSignature } from "./_progress.ts";
import { RepairError } from "./errors.ts";
import { type Judgement, judgeOwner, type LeaseRecord, type OwnerClaims } from "./lease_owner.ts";

/** Exit code of a run that stood down (EX_TEMPFAIL of sysexits.h). */
export const LEASE_HELD_EXIT = 75;

/** How to take a lease. */
export interface LeaseOptions extends OwnerClaims {
  /** The lock. */
  path: string;
  /** `file`, or `folder` for company that locks with `mkdir`. @default {"file"} */
  shape?: "file" | "folder" | undefined;
  /** Wait this long for a living owner. @default {0} */
  waitMs?: number | undefined;
  /**
   * A lock without a known owner counts as left behind when it has not changed for so long, nobody
   * holds it or has it open (and that can be told), and no `progress` file has changed for as long.
   * Without this, such a lock is never taken.
   */
  staleAfterMs?: number | undefined;
  /** Files that a living owner of an unknown lock would change (globs). */
  progress?: readonly string[] | undefined;
  /** A lock without a known owner is in use while a program of this name runs. */
  noProcess?: string | undefined;
  /** Marks the owner's job. @default {drawn} */
  token?: string | undefined;
  /** Gets messages for a person. */
  say?: ((message: string) => void) | undefined;
  /** Ends the wait when it is aborted. */
  signal?: AbortSignal | undefined;
  /** The clock to go by. @default {systemClock} */
  clock?: Clock | undefined;
}

/** Somebody else has the lock, or may have it. Stand down. */
export class LeaseHeldError extends RepairError {
  /** Name of the class, for messages. */
  override name = "LeaseHeldError";
  /** What is known about the owner. */
  readonly judgement: Judgement;

  /**
   * Makes the error.
   *
   * @param judgement See {@linkcode LeaseHeldError.judgement}.
   */
  constructor(message: string, judgement: Judgement) {
    super(message);
    this.judgement = judgement;
  }
}

/** The lock is not ours any more. Whatever it protects must not be touched from here on. */
export class LeaseLostError extends RepairError {
  /** Name of the class, for messages. */
  override name = "LeaseLostError";
}

const GUARD_LIMIT_MS = 20_000;
const LOOK_EVERY_MS = 250;

/** A lease that is held. Dispose of it, or release it, on every path. */
export class Lease implements AsyncDisposable {
  /** The lock. */
  readonly path: string;
  /** Larger than that of every earlier owner. Hand it to whatever the lock protects. */
  readonly generation: number;
  /** Marks the owner's job. */
  readonly token: string;
  /** Where the lock of an owner that was gone is kept now, or `null`. */
  readonly takenOver: string | null;
  readonly #held: HeldLock;
  readonly #clock: Clock;
  #isReleased = false;

  /** Use {@linkcode acquireLease}. */
  constructor(
    path: string,
    record: Pick<LeaseRecord, "generation" | "token">,
    held: HeldLock,
    takenOver: string | null,
    clock: Clock,
  ) {
    this.path = path;
    this.generation = record.generation;
    this.token = record.token;
    this.takenOver = takenOver;
    this.#held = held;
    this.#clock = clock;
  }

  /**
   * Checks that nobody has taken the lock over: same file, same token, and no newer generation.
   * Cheap; call it right before each write that the lock protects.
   *
   * @throws {LeaseLostError} When it is not ours any more.
   */
  assertStillOurs(): void {
    const why = this.#whyLost();
    if (why === null) return;
    throw new LeaseLostError(
      `The lease on "${this.path}" is lost: ${why}. This was generation ${this.generation}; ` +
        "what it protects must not be touched any more",
    );
  }

  #whyLost(): string | null {
    if (this.#isReleased) return "it was given back";
    const lock = readLock(this.path);
    if (lock === null) return "the lock is gone";
    if (lock.inode !== this.#held.inode) return "another lock is in its place";
    if (lock.owner.kind !== "lease" || lock.owner.record.token !== this.token) {
      return "it names another owner";
    }
    const newest = readGeneration(this.path);
    return newest === this.generation ? null : `generation ${newest} was given out`;
  }

  /**
   * Shows that we live: moves the lock's time to now.
   *
   * @throws {LeaseLostError} When it is not ours any more.
   */
  renew(): void {
    this.assertStillOurs();
    const now = this.#clock.wallMs() / 1000;
    Deno.utimeSync(this.path, now, now);
  }

  /** Gives it back. A lock that is not ours any more is left alone. Safe to call twice. */
  async release(): Promise<void> {
    if (this.#isReleased) return;
    using _guard = await openGuard(this.path, GUARD_LIMIT_MS, this.#clock);
    const isOurs = this.#whyLost() === null;
    this.#isReleased = true;
    if (isOurs) await removeLock(this.path);
    this.#held.close();
  }

  /**
   * Leaves the lock where it is and ends our part in it: for when processes of our job still run.
   * It counts as held until the last of them has ended, and can be taken over from then on.
   */
  leaveToJob(): void {
    this.#isReleased = true;
    this.#held.close();
  }

  /** Gives it back. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.release();
  }
}

async function removeLock(path: string): Promise<void> {
  if (readLock(path)?.isFolder) {
    await Deno.remove(path, { recursive: true });
  } else removeIfThere(path);
}

/**
 * Takes the lease.
 *
 * @throws {LeaseHeldError} When a living owner did not give it back in time, or when it cannot be
 *     shown that the owner is gone. The lock is untouched.
 */
export async function acquireLease(options: LeaseOptions): Promise<Lease> {
  const clock = options.clock ?? systemClock;
  const endMs = clock.nowMs() + (options.waitMs ?? 0);
  const here = await readPlace();
  let hasSaid = false;
  while (true) {
    const result = await tryAcquire(options, here, clock);
    if (result instanceof Lease) return result;
    const isOver = clock.nowMs() >= endMs || options.signal?.aborted;
    // Waiting helps against an owner that lives; one that is unknown does not become known.
    if (result.state !== "live" || isOver) throw heldError(options.path, result);
    if (!hasSaid) options.say?.(`Waiting for "${options.path}": ${result.why}.`);
    hasSaid = true;
    await clock.sleep(Math.min(LOOK_EVERY_MS, endMs - clock.nowMs()), options.signal);
  }
}

function heldError(path: string, judgement: Judgement): LeaseHeldError {
  const next = judgement.state === "live"
    ? "Wait for it with --wait, or come back later"
    : "Look at it yourself; if it is left behind, move it away by hand, or see --stale-after";
  return new LeaseHeldError(
    `Standing down, "${path}" is in use or may be: ${judgement.why}. It was left as it is. ${next}`,
    judgement,
  );
}

async function tryAcquire(
  options: LeaseOptions,
  here: Place,
  clock: Clock,
): Promise<Lease | Judgement> {
  using guard = await openGuard(options.path, GUARD_LIMIT_MS, clock);
  if (guard === null) return { state: "live", why: "another run is deciding about it right now" };
  const cleared = await clearIfGone(options, here, clock);
  if ("state" in cleared) return cleared;
  const { path } = options;
  const record = await makeRecord(options, here, clock, guard, cleared.lock);
  const held = options.shape === "folder"
    ? makeLockFolder(path, record)
    : await makeLockFile(path, (holdsKernelLock) => ({ ...record, holdsKernelLock }));
  if (held === null) return { state: "live", why: "another run was faster" };
  return new Lease(path, record, held, cleared.aside, clock);
}

async function makeRecord(
  options: LeaseOptions,
  here: Place,
  clock: Clock,
  guard: Guard,
  before: FoundLock | null,
): Promise<LeaseRecord> {
  const table = await readProcessTable();
  const own = table.find((row) => row.pid === Deno.pid) ?? await identify(Deno.pid);
  const seen = before?.owner.kind === "lease" ? before.owner.record.generation : 0;
  return {
    schema: "failure-lab/lease",
    version: 1,
    generation: guard.next(seen),
    token: options.token ?? drawToken(),
    ...here,
    pid: Deno.pid,
    startedSeconds: own?.startedSeconds ?? Math.floor(clock.wallMs() / 1000),
    bootStartedSeconds: table.find((row) => row.pid === 1)?.startedSeconds ?? null,
    holdsKernelLock: false,
    acquiredAt: clock.wallIso(),
  };
}

/** With the guard held: clears the way, or says why it is not clear. */
async function clearIfGone(
  options: LeaseOptions,
  here: Place,
  clock: Clock,
): Promise<{ lock: FoundLock | null; aside: string | null } | Judgement> {
  const lock = readLock(options.path);
  if (lock === null) return { lock, aside: null };
  const judgement = await judgeLock(options, lock, here, clock);
  if (judgement.state !== "gone") return judgement;
  const aside = moveLockAside(options.path, lock);
  if (aside === null) return { state: "live", why: "it changed while it was being looked at" };
  options.say?.(
    `Taking over "${options.path}": ${judgement.why}. The old lock is kept as "${aside}".`,
  );
  return { lock, aside };
}

async function judgeLock(
  options: LeaseOptions,
  lock: FoundLock,
  here: Place,
  clock: Clock,
): Promise<Judgement> {
  const seen = await askWitnesses(options.path, lock, here);
  const judgement = judgeOwner(lock.owner, seen, options);
  const { staleAfterMs } = options;
  if (
    judgement.state !== "unknown" || lock.owner.kind !== "unknown" || staleAfterMs === undefined
  ) {
    return judgement;
  }
  if (seen.kernelLock !== "no" || seen.isOpen !== "no") {
    return { state: "unknown", why: `${judgement.why}, and nothing can tell whether it is open` };
  }
  const ageMs = clock.wallMs() - lock.mtimeSeconds * 1000;
  if (ageMs < staleAfterMs) {
    return {
      state: "unknown",
      why: `${judgement.why}, and it changed ${Math.round(ageMs / 1000)} s ago`,
    };
  }
  const busy = await whoIsBusy(options, clock, staleAfterMs);
  if (busy !== null) return { state: "live", why: busy };
  return { state: "gone", why: `${judgement.why}, it is old, nobody has it open, nothing goes on` };
}

async function whoIsBusy(
  options: LeaseOptions,
  clock: Clock,
  staleAfterMs: number,
): Promise<string | null> {
  if (options.noProcess !== undefined) {
    const pids = await pidsOfProgram(options.noProcess);
    if (pids.length > 0) return `${options.noProcess} runs (pid ${pids.join(", ")})`;
  }
  const cwd = Deno.cwd();
  const changed = newestChangeMs(options.progress ?? [], cwd);
  if (changed !== null && clock.wallMs() - changed < staleAfterMs) {
    return "its files still change";
  }
  return null;
}

function newestChangeMs(globs: readonly string[], cwd: string): number | null {
  const times = writeSignature(globs, cwd).split("|").filter(Boolean)
    .map((each) => Number(each.split(":").at(-2)));
  return times.length === 0 ? null : Math.max(...times);
}

/**
 * For a job that takes its own lock: moves that lock aside when its owner is provably gone, and
 * takes none. Gives where it is kept now, or `null` when there was no lock.
 *
 * @throws {LeaseHeldError} When the owner lives, or when it cannot be shown that it is gone.
 */
export async function clearStaleLock(options: LeaseOptions): Promise<string | null> {
  const clock = options.clock ?? systemClock;
  const here = await readPlace();
  using guard = await openGuard(options.path, GUARD_LIMIT_MS, clock);
  const cleared = guard === null
    ? { state: "live", why: "another run is deciding about it right now" } as const
    : await clearIfGone(options, here, clock);
  if ("state" in cleared) throw heldError(options.path, cleared);
  return cleared.aside;
}

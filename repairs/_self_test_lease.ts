/**
 * The self-test of `lease`.
 *
 * @module
 */
import { type ProcessRow, waitUntil } from "../lab/mod.ts";
import { makeLockFile, moveLockAside, readLock } from "./_lock_file.ts";
import { acquireLease, clearStaleLock, LeaseHeldError, LeaseLostError } from "./lease.ts";
import { judgeOwner, type LeaseRecord, type LockOwner, type Witnesses } from "./lease_owner.ts";
import { expect, runSelfTest, type SelfTestOptions, type SelfTestResult } from "./self_testing.ts";

async function deadPid(): Promise<number> {
  const child = new Deno.Command("true").spawn();
  await child.status;
  return child.pid;
}

async function refusal(path: string): Promise<LeaseHeldError | null> {
  try {
    const lease = await acquireLease({ path });
    await lease.release();
    return null;
  } catch (error) {
    if (error instanceof LeaseHeldError) return error;
    throw error;
  }
}

async function livingOwnerIsRespected(dir: string): Promise<string> {
  const path = `${dir}/run.lock`;
  await using lease = await acquireLease({ path });
  const error = await refusal(path);
  expect(error?.judgement.state === "live", `got ${error?.judgement.state ?? "the lock"}`);
  lease.assertStillOurs();
  return `stood down: ${error.judgement.why}`;
}

async function deadOwnersAreTakenOver(dir: string): Promise<string> {
  const path = `${dir}/run.lock`;
  const pid = await deadPid();
  for (const content of [`${pid}\n`, `${Deno.hostname()} ${pid} 1700000000\n`]) {
    await Deno.writeTextFile(path, content);
    await using lease = await acquireLease({ path });
    expect(lease.takenOver !== null, `not taken over: ${content}`);
    const kept = await Deno.readTextFile(lease.takenOver);
    expect(kept === content, `kept as "${kept}"`);
  }
  return "two forms of lock taken over, both kept";
}

async function recycledPidIsSeen(dir: string): Promise<string> {
  const path = `${dir}/app.pid`;
  await Deno.writeTextFile(path, `${Deno.pid}\n`);
  expect(await refusal(path) !== null, "a pid file of a living process was taken");
  await Deno.utime(path, 1000, 1000); // Long before this process began.
  expect(await clearStaleLock({ path }) !== null, "a recycled pid was taken for the owner");
  return "a pid that began after the lock was taken is a stranger";
}

async function unknownOwnersAreLeftAlone(dir: string): Promise<string> {
  const path = `${dir}/run.lock`;
  for (const content of ["", "someone\n", "another-host 1 1700000000\n"]) {
    await Deno.writeTextFile(path, content);
    await Deno.utime(path, 1000, 1000);
    const error = await refusal(path);
    expect(error?.judgement.state === "unknown", `"${content}": ${error?.judgement.state}`);
    expect(await Deno.readTextFile(path) === content, `"${content}" was changed`);
  }
  return "empty, nonsense and another host: untouched, however old";
}

async function heirsOfAKernelLockAreRespected(dir: string): Promise<string> {
  const path = `${dir}/run.lock`;
  await Deno.writeTextFile(path, `${await deadPid()}\n`);
  const heir = new Deno.Command("sh", {
    args: ["-c", `exec 9<"$1"; echo ready >"$1.ready"; read _`, "sh", path],
    stdin: "piped",
  }).spawn();
  try {
    const ready = () => Deno.stat(`${path}.ready`).then(() => true, () => false);
    await waitUntil(ready, { limitMs: 10_000 });
    const error = await refusal(path);
    expect(error !== null, "a lock that somebody has open was taken");
    return `stood down: ${error.judgement.why}`;
  } finally {
    await heir.stdin.close();
    await heir.status;
  }
}

async function oneTakerWins(dir: string): Promise<string> {
  const path = `${dir}/run.lock`;
  await Deno.writeTextFile(path, `${await deadPid()}\n`);
  const takers = await Promise.allSettled([1, 2, 3].map(() => acquireLease({ path })));
  const leases = takers.flatMap((taker) => taker.status === "fulfilled" ? [taker.value] : []);
  for (const lease of leases) await lease.release();
  expect(leases.length === 1, `${leases.length} of 3 takers won`);
  return "one of three takers won";
}

async function lateOwnerIsFenced(dir: string): Promise<string> {
  const path = `${dir}/run.lock`;
  const late = await acquireLease({ path });
  await Deno.rename(path, `${dir}/late`);
  const owner = await acquireLease({ path });
  let error: unknown = null;
  try {
    late.assertStillOurs();
  } catch (thrown) {
    error = thrown;
  }
  // Also when its lock is put back where it was, the newer number tells.
  const isFenced = () => {
    try {
      late.assertStillOurs();
      return false;
    } catch (thrown) {
      return thrown instanceof LeaseLostError;
    }
  };
  await Deno.rename(path, `${path}.owner`);
  await Deno.rename(`${dir}/late`, path);
  const isFencedByNumber = isFenced();
  await Deno.rename(path, `${dir}/late`);
  await Deno.rename(`${path}.owner`, path);
  const isFencedByFile = isFenced();
  await late.release();
  owner.assertStillOurs();
  await owner.release();
  expect(error instanceof LeaseLostError && isFencedByFile, "a late owner went on");
  expect(isFencedByNumber, "a late owner went on after its lock was put back");
  expect(owner.generation > late.generation, "the generation did not grow");
  return `generation ${late.generation} stopped before ${owner.generation}`;
}

async function nothingIsOverwritten(dir: string): Promise<string> {
  const path = `${dir}/run.lock`;
  await Deno.writeTextFile(path, `${await deadPid()}\n`);
  const judged = readLock(path);
  const made = await makeLockFile(path, () => RECORD);
  made?.close();
  expect(made === null, "a lock was made over another");
  // Somebody else takes the place between the judgement and the taking.
  await Deno.writeTextFile(`${dir}/new`, "another\n");
  await Deno.rename(`${dir}/new`, path);
  expect(judged !== null && moveLockAside(path, judged) === null, "a living lock was moved away");
  expect(await Deno.readTextFile(path) === "another\n", "a living lock is gone");
  return "no lock made over another, a lock that came in between put back";
}

const HERE = { host: "here", boot: "boot-1", pidSpace: "space-1" };

const RECORD: LeaseRecord = {
  schema: "failure-lab/lease",
  version: 1,
  generation: 1,
  token: "ab".repeat(16),
  ...HERE,
  pid: 50,
  startedSeconds: 5000,
  bootStartedSeconds: 1000,
  holdsKernelLock: true,
  acquiredAt: "",
};

function row(pid: number, startedSeconds: number, marker: string | null = null): ProcessRow {
  return { pid, startedSeconds, marker, name: "sh", ppid: 1, pgid: pid, state: "S" };
}

/** What must come out of which sight; each line was a lock stolen, or stuck for ever, once. */
function judgementsHold(): string {
  const seen: Witnesses = {
    here: HERE,
    table: [row(1, 1000), row(50, 5000)],
    lockSeconds: 6000,
    kernelLock: "no",
    isOpen: "no",
    openers: [],
  };
  const lease = (more: Partial<LeaseRecord> = {}): LockOwner => ({
    kind: "lease",
    record: { ...RECORD, ...more },
  });
  const dead: LockOwner = { kind: "pid", pid: 77 };
  const cases: [string, LockOwner, Partial<Witnesses>, string][] = [
    ["a living owner", lease(), {}, "live"],
    ["a pid used again", lease({ startedSeconds: 4000 }), {}, "gone"],
    ["a reboot", lease({ boot: "boot-0" }), {}, "gone"],
    ["a clock that was set", lease(), { table: [row(1, 4600), row(50, 8600)] }, "live"],
    ["a job that lives", lease({ pid: 77 }), { table: [row(60, 5500, RECORD.token)] }, "live"],
    ["another container", lease({ pidSpace: "x" }), { kernelLock: "unknown" }, "unknown"],
    ["a kernel lock", dead, { kernelLock: "yes" }, "live"],
    ["an opener", dead, { isOpen: "yes", openers: [88] }, "live"],
    ["no sight", dead, { kernelLock: "unknown", isOpen: "unknown" }, "unknown"],
    ["a dead pid", dead, {}, "gone"],
  ];
  for (const [name, owner, more, state] of cases) {
    const judgement = judgeOwner(owner, { ...seen, ...more });
    expect(judgement.state === state, `${name} counts as ${judgement.state}`);
  }
  return `${cases.length} sights judged`;
}

/** Tries `lease` on real locks. Takes about two seconds. Requires `ps` and `sh`. */
export function selfTestLease(options: SelfTestOptions = {}): Promise<SelfTestResult> {
  return runSelfTest(
    "lease",
    {
      "a living owner is respected": livingOwnerIsRespected,
      "the lock of a dead owner is taken over and kept": deadOwnersAreTakenOver,
      "a pid that is used again is not the owner": recycledPidIsSeen,
      "a lock of an unknown owner is never removed": unknownOwnersAreLeftAlone,
      "whoever inherited the lock is respected": heirsOfAKernelLockAreRespected,
      "of several takers one wins": oneTakerWins,
      "a late owner is fenced off": lateOwnerIsFenced,
      "nothing is written over another's lock": nothingIsOverwritten,
      "every sight leads to the right judgement": judgementsHold,
    },
    options,
    3,
  );
}

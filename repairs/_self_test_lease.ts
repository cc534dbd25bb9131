/**
 * The self-test of `lease`.
 *
 * @module
 */
import { waitUntil } from "../lab/mod.ts";
import { acquireLease, clearStaleLock, LeaseHeldError, LeaseLostError } from "./lease.ts";
import { expect, runSelfTest, type SelfTestResult } from "./self_testing.ts";

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
  await Deno.remove(path);
  const owner = await acquireLease({ path });
  let error: unknown = null;
  try {
    late.assertStillOurs();
  } catch (thrown) {
    error = thrown;
  }
  await late.release();
  owner.assertStillOurs();
  await owner.release();
  expect(error instanceof LeaseLostError, "a late owner went on");
  expect(owner.generation > late.generation, "the generation did not grow");
  return `generation ${late.generation} stopped before ${owner.generation}`;
}

/** Tries `lease` on real locks. Takes about two seconds. Requires `ps` and `sh`. */
export function selfTestLease(options: { dir?: string } = {}): Promise<SelfTestResult> {
  return runSelfTest("lease", {
    "a living owner is respected": livingOwnerIsRespected,
    "the lock of a dead owner is taken over and kept": deadOwnersAreTakenOver,
    "a pid that is used again is not the owner": recycledPidIsSeen,
    "a lock of an unknown owner is never removed": unknownOwnersAreLeftAlone,
    "whoever inherited the lock is respected": heirsOfAKernelLockAreRespected,
    "of several takers one wins": oneTakerWins,
    "a late owner is fenced off": lateOwnerIsFenced,
  }, options);
}

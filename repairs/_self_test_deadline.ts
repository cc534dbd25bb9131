/**
 * The self-test of `deadline`.
 *
 * @module
 */
import { isAlive, readProcessTable } from "../lab/mod.ts";
import { DEADLINE_EXIT, type DeadlineOptions, runWithDeadline } from "./deadline.ts";
import { expect, runSelfTest, type SelfTestOptions, type SelfTestResult } from "./self_testing.ts";

/** A job for `sh -c`, with limits that suit a self-test. */
function sh(script: string, cwd: string, more: Partial<DeadlineOptions> = {}): DeadlineOptions {
  return { argv: ["sh", "-c", script], cwd, graceMs: 300, quietMs: 200, settleMs: 100, ...more };
}

async function isPidAlive(pidFile: string): Promise<boolean> {
  const pid = Number(await Deno.readTextFile(pidFile));
  return (await readProcessTable()).some((row) => row.pid === pid && isAlive(row));
}

async function aloneIsLeft(dir: string): Promise<string> {
  const result = await runWithDeadline(
    sh("for i in 1 2 3 4 5 6; do echo $i >>out; sleep 0.1; done; exit 7", dir, {
      idleMs: 2000,
      totalMs: 30_000,
      progress: ["out"],
    }),
  );
  expect(result.outcome === "ended" && result.exitCode === 7, `got ${JSON.stringify(result)}`);
  return "a job that goes on ended by itself, exit 7";
}

async function hangIsEnded(dir: string): Promise<string> {
  const result = await runWithDeadline(
    sh("echo 1 >out; while :; do date +%s >beat; touch out; sleep 0.05; done", dir, {
      idleMs: 600,
      totalMs: 5000,
      progress: ["out"],
    }),
  );
  const [attempt] = result.attempts;
  expect(result.exitCode === DEADLINE_EXIT, `exit ${result.exitCode}`);
  expect(attempt?.limit === "idle", `limit ${attempt?.limit}`);
  expect(attempt.kill?.witnesses.markerEmpty === true, "nobody looked whether somebody is left");
  return `idle limit hit in spite of a beat and a touched file, after ${
    Math.round(attempt.elapsedMs)
  } ms`;
}

async function retryIsFresh(dir: string): Promise<string> {
  const script = "echo run >>runs; if [ -e tried ]; then cat >/dev/null; echo ok >out; " +
    "else : >tried; sleep 60; fi";
  const result = await runWithDeadline(
    sh(script, dir, { idleMs: 500, progress: ["out"], retries: 1 }),
  );
  expect(result.exitCode === 0, `exit ${result.exitCode}`);
  expect(result.attempts.length === 2, `${result.attempts.length} attempts`);
  const runs = (await Deno.readTextFile(`${dir}/runs`)).trim().split("\n").length;
  expect(runs === 2, `${runs} runs`);
  return "the second attempt read end-of-file at once and finished";
}

async function wholeTreeIsEnded(dir: string): Promise<string> {
  const script = `trap "" TERM; setsid sh -c 'trap "" TERM; echo $$ >stray; while :; do ` +
    `echo x >>out2; sleep 0.05; done' & while :; do sleep 0.1; done`;
  const result = await runWithDeadline(sh(script, dir, { totalMs: 700, progress: ["out2"] }));
  expect(result.exitCode === DEADLINE_EXIT, `exit ${result.exitCode}`);
  expect(!await isPidAlive(`${dir}/stray`), "a child in a session of its own lives on");
  expect(result.attempts[0]?.isProvenQuiet === true, "the quiet period was not proven");
  return "a TERM-ignoring child in a session of its own is gone, and the file is quiet";
}

async function orphanIsEnded(dir: string): Promise<string> {
  const result = await runWithDeadline(
    sh("sh -c 'echo $$ >stray; while :; do sleep 0.1; done' & sleep 0.3; exit 0", dir, {
      totalMs: 30_000,
    }),
  );
  expect(result.exitCode === 0, `exit ${result.exitCode}`);
  expect(!await isPidAlive(`${dir}/stray`), "the orphan lives on");
  return "a child that outlived its leader is gone";
}

async function lateOutputIsWaitedFor(dir: string): Promise<string> {
  const result = await runWithDeadline(
    sh("(sleep 0.3; echo flushed >late) & exit 0", dir, { totalMs: 30_000, settleMs: 10_000 }),
  );
  const text = await Deno.readTextFile(`${dir}/late`).catch(() => "nothing");
  expect(result.attempts[0]?.kill === null && text === "flushed\n", `it wrote ${text}`);
  return "a child that was about to end could do so";
}

async function unquietIsNotProven(dir: string): Promise<string> {
  let number = 0;
  const timer = setInterval(() => Deno.writeTextFileSync(`${dir}/out`, `${number++}\n`), 20);
  try {
    const result = await runWithDeadline(
      sh("exec sleep 60", dir, { totalMs: 200, quietMs: 100, progress: ["out"], retries: 1 }),
    );
    expect(result.outcome === "not-proven", `outcome ${result.outcome}`);
    expect(result.attempts.length === 1, "started afresh beside an unknown writer");
  } finally {
    clearInterval(timer);
  }
  return "while somebody still writes, nothing is proven and nothing started";
}

/** Tries `deadline` on small real jobs. Takes about four seconds. Requires `ps`, `kill`, `sh`. */
export function selfTestDeadline(options: SelfTestOptions = {}): Promise<SelfTestResult> {
  return runSelfTest(
    "deadline",
    {
      "a healthy job is left alone": aloneIsLeft,
      "a hang is seen by files and not by a heartbeat": hangIsEnded,
      "a retry starts afresh, without the old stdin": retryIsFresh,
      "the whole tree is ended, with proof and quiet": wholeTreeIsEnded,
      "what outlives its leader is ended, too": orphanIsEnded,
      "a child that is about to end may": lateOutputIsWaitedFor,
      "writes after the end are no quiet": unquietIsNotProven,
    },
    options,
    4,
  );
}

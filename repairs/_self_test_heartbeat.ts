/**
 * The self-test of `heartbeat`.
 *
 * @module
 */
import { waitUntil } from "../lab/mod.ts";
import { checkBeat, type HeartbeatOptions, runWithHeartbeat } from "./heartbeat.ts";
import { judgeBeat, readBeat } from "./heartbeat_beat.ts";
import { expect, runSelfTest, type SelfTestOptions, type SelfTestResult } from "./self_testing.ts";

function options(dir: string, script: string, limitMs: number): HeartbeatOptions {
  return {
    argv: ["sh", "-c", script],
    cwd: dir,
    progress: ["out/*"],
    limitMs,
    beatFile: `${dir}/beat`,
    everyMs: 100,
    graceMs: 200,
    restarts: 1,
  };
}

async function slowIsHealthy(dir: string): Promise<string> {
  const script = "mkdir out; for i in 1 2 3; do echo $i >out/$i; sleep 0.4; done";
  const result = await runWithHeartbeat(options(dir, script, 5000));
  expect(result.exitCode === 0 && result.jobStarts === 1, JSON.stringify(result.alarms));
  expect(result.alarms.length === 0, `false alarm: ${result.alarms[0]?.why}`);
  const beat = readBeat(`${dir}/beat`);
  expect((beat?.changes ?? 0) > 0, "the beat does not say what progress was seen");
  expect(checkBeat(`${dir}/beat`).state === "finished", "the end looks like a silence");
  return `no alarm; the watcher saw ${beat?.changes} changes`;
}

async function beatIsNoHealth(dir: string): Promise<string> {
  const script = "[ -e tried ] && { mkdir -p out; echo done >out/1; exit 0; }; : >tried; " +
    "while :; do date >agent.beat; sleep 0.05; done";
  const result = await runWithHeartbeat(options(dir, script, 700));
  const kinds = result.alarms.map((alarm) => alarm.kind).join();
  expect(kinds === "no-progress", `alarms: ${kinds}`);
  expect(result.exitCode === 0 && result.jobStarts === 2, `exit ${result.exitCode}`);
  return "a job that only beats was ended, and finished in the second start";
}

async function deadWatcherIsNoticed(dir: string): Promise<string> {
  const script = "mkdir -p out; while ! [ -e enough ]; do date >>out/log; sleep 0.1; done";
  const pids: number[] = [];
  const run = runWithHeartbeat({
    ...options(dir, script, 60_000),
    onWatcher: (pid) => pids.push(pid),
  });
  await waitUntil(() => readBeat(`${dir}/beat`), { limitMs: 10_000 });
  const [first = 0] = pids;
  Deno.kill(first, "SIGKILL");
  await waitUntil(() => pids.length > 1 && readBeat(`${dir}/beat`)?.pid === pids[1], {
    limitMs: 10_000,
  });
  await Deno.writeTextFile(`${dir}/enough`, "");
  const result = await run;
  const kinds = result.alarms.map((alarm) => alarm.kind).join();
  expect(kinds === "watcher-died", `alarms: ${kinds}`);
  expect(result.watcherStarts === 2 && result.exitCode === 0, JSON.stringify(result.alarms));
  return "the killed watcher was noticed and replaced, the job went on";
}

/** A first watcher that is stopped, while somebody keeps its beat alive in this way. */
async function withStoppedWatcher(
  dir: string,
  forge: (pid: number) => void,
): Promise<string> {
  const script = "mkdir -p out; while ! [ -e enough ]; do date >>out/log; sleep 0.1; done";
  const pids: number[] = [];
  const run = runWithHeartbeat({
    ...options(dir, script, 60_000),
    onWatcher: (pid) => pids.push(pid),
  });
  await waitUntil(() => readBeat(`${dir}/beat`), { limitMs: 10_000 });
  const [first = 0] = pids;
  Deno.kill(first, "SIGSTOP");
  const timer = setInterval(() => forge(first), 50);
  try {
    await waitUntil(() => pids.length > 1, { limitMs: 15_000 });
  } finally {
    clearInterval(timer);
    await Deno.writeTextFile(`${dir}/enough`, "");
  }
  const result = await run;
  return result.alarms.map((alarm) => alarm.kind).join();
}

async function falseBeatsAreNoticed(dir: string): Promise<string> {
  const touched = await withStoppedWatcher(dir, () => Deno.utimeSync(`${dir}/beat`, 4e9, 4e9));
  expect(touched === "watcher-silent", `a touched beat file passed for a sign: ${touched}`);
  await Deno.remove(`${dir}/enough`);
  await Deno.remove(`${dir}/beat`);
  let sequence = 1000;
  const forged = await withStoppedWatcher(dir, (pid) => {
    const beat = readBeat(`${dir}/beat`);
    if (beat?.pid !== pid) return;
    const text = JSON.stringify({ ...beat, sequence: ++sequence });
    Deno.writeTextFileSync(`${dir}/forged`, text);
    Deno.renameSync(`${dir}/forged`, `${dir}/beat`);
  });
  expect(forged === "watcher-false", `a beat that saw nothing passed for health: ${forged}`);
  return "a touched beat and a beat that does not look were noticed";
}

function silenceIsAnAlarm(dir: string): string {
  expect(checkBeat(`${dir}/none`).state === "silent", "no beat passes for health");
  const beat = {
    schema: "failure-lab/beat",
    version: 1,
    state: "watching",
    pid: 1,
    sequence: 9,
    changes: 3,
    files: 1,
    bytes: 1,
    atSeconds: 1000,
    progressAtSeconds: 1000,
    everySeconds: 5,
    limitSeconds: 60,
    exitCode: null,
  } as const;
  expect(judgeBeat(beat, 1010).state === "healthy", "a fresh beat is an alarm");
  expect(judgeBeat(beat, 1100).state === "silent", "an old beat passes for health");
  const stuck = { ...beat, atSeconds: 1100 };
  expect(
    judgeBeat(stuck, 1100).state === "no-progress",
    "a beat without progress passes for health",
  );
  return "no beat, an old beat, and a beat without progress are alarms";
}

/** Tries `heartbeat` on small real jobs. Takes about six seconds. Requires `ps`, `kill`, `sh`. */
export function selfTestHeartbeat(options: SelfTestOptions = {}): Promise<SelfTestResult> {
  return runSelfTest(
    "heartbeat",
    {
      "a slow job within its limit is healthy": slowIsHealthy,
      "a beat that stands for no progress is not health": beatIsNoHealth,
      "a dead watcher is noticed": deadWatcherIsNoticed,
      "a beat that is not so is noticed": falseBeatsAreNoticed,
      "silence is an alarm": silenceIsAnAlarm,
    },
    options,
    3,
  );
}

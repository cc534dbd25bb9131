import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { systemClock, waitUntil } from "../lab/mod.ts";
import { inFolder, isPidAlive, isPidGone, namesIn, read, WAIT_MS, write } from "./_test_tools.ts";
import { type Alarm, checkBeat, type HeartbeatOptions, runWithHeartbeat } from "./heartbeat.ts";
import { readBeat } from "./heartbeat_beat.ts";

function options(
  dir: string,
  script: string,
  more: Partial<HeartbeatOptions> = {},
): HeartbeatOptions {
  return {
    argv: ["sh", "-c", script],
    cwd: dir,
    progress: ["out/*"],
    limitMs: WAIT_MS,
    beatFile: `${dir}/beat`,
    everyMs: 200,
    graceMs: 200,
    ...more,
  };
}

/** A job that makes a file per step, and goes on only while nobody stopped it. */
const STEPS = "mkdir -p out; for i in 1 2 3 4 5 6; do echo $i >out/$i; sleep 0.3; done; exit 5";

/** A job that goes on until somebody makes the file `enough`. */
const ENDLESS = "mkdir -p out; while ! [ -e enough ]; do date +%s%N >>out/log; sleep 0.1; done";

Deno.test("runWithHeartbeat leaves a healthy job alone, also one that is slow within its limit", () =>
  inFolder(async (dir) => {
    const result = await runWithHeartbeat(options(dir, STEPS, { limitMs: 5000 }));
    assertEquals([result.outcome, result.exitCode, result.alarms], ["ended", 5, []]);
    assertEquals([result.jobStarts, result.watcherStarts], [1, 1]);
    assertEquals(namesIn(dir), ["beat", "out"]);
    const judgement = checkBeat(`${dir}/beat`);
    assertEquals([judgement.state, readBeat(`${dir}/beat`)?.exitCode], ["finished", 5]);
    assert((readBeat(`${dir}/beat`)?.changes ?? 0) > 0, "the first watcher saw nothing change");
  }));

Deno.test("runWithHeartbeat ends a job that beats but does not get on, and finishes the work", () =>
  inFolder(async (dir) => {
    const script = "mkdir -p out; [ -e tried ] && { echo done >out/1; exit 0; }; : >tried; " +
      "while :; do date +%s%N >agent.beat; sleep 0.05; done";
    const result = await runWithHeartbeat(
      options(dir, script, { limitMs: 1200, alarmLog: `${dir}/alarms.jsonl` }),
    );
    assertEquals([result.outcome, result.exitCode, result.jobStarts], ["ended", 0, 2]);
    assertEquals(result.alarms.map((alarm) => alarm.kind), ["no-progress"]);
    assertEquals(read(`${dir}/out/1`), "done\n");
    assertEquals(JSON.parse(read(`${dir}/alarms.jsonl`)).kind, "no-progress");
  }));

Deno.test("runWithHeartbeat gives up after its restarts", () =>
  inFolder(async (dir) => {
    const result = await runWithHeartbeat(
      options(dir, "echo x >>starts; exec sleep 60", { limitMs: 500, restarts: 1 }),
    );
    assertEquals([result.outcome, result.exitCode], ["limit", 124]);
    assertEquals(read(`${dir}/starts`), "x\nx\n");
    assertEquals(checkBeat(`${dir}/beat`).state, "finished");
  }));

async function withFault(
  dir: string,
  fault: (watcher: number) => Promise<void> | void,
): Promise<{ alarms: Alarm[]; starts: number; pids: number[] }> {
  const pids: number[] = [];
  const run = runWithHeartbeat(options(dir, ENDLESS, {
    onWatcher: (pid) => pids.push(pid),
    onAlarm: () => write(`${dir}/alarmed`, ""),
  }));
  const first = await waitUntil(() => readBeat(`${dir}/beat`), { limitMs: WAIT_MS });
  await fault(first?.pid ?? 0);
  await waitUntil(() => Deno.stat(`${dir}/alarmed`).catch(() => null), { limitMs: WAIT_MS });
  // The work goes on under a new watcher.
  await waitUntil(() => readBeat(`${dir}/beat`)?.pid === pids[1], { limitMs: WAIT_MS });
  write(`${dir}/enough`, "");
  const result = await run;
  assertEquals([result.outcome, result.exitCode, result.jobStarts], ["ended", 0, 1]);
  return { alarms: result.alarms, starts: result.watcherStarts, pids };
}

Deno.test("runWithHeartbeat alarms when the first watcher is killed, and starts another", () =>
  inFolder(async (dir) => {
    const { alarms, starts, pids } = await withFault(dir, (pid) => Deno.kill(pid, "SIGKILL"));
    assertEquals([alarms.map((alarm) => alarm.kind), starts], [["watcher-died"], 2]);
    for (const pid of pids) assert(await isPidGone(pid));
  }));

Deno.test("runWithHeartbeat alarms when the first watcher hangs, also while somebody keeps its beat alive", () =>
  inFolder(async (dir) => {
    let timer: ReturnType<typeof setInterval> | undefined;
    try {
      const { alarms, pids } = await withFault(dir, (pid) => {
        Deno.kill(pid, "SIGSTOP");
        const now = () => systemClock.wallMs() / 1000;
        timer = setInterval(() => Deno.utimeSync(`${dir}/beat`, now(), now()), 50);
      });
      assertEquals(alarms.map((alarm) => alarm.kind), ["watcher-silent"]);
      assertEquals(await isPidAlive(pids[0] ?? 0), false);
    } finally {
      clearInterval(timer);
    }
  }));

Deno.test("runWithHeartbeat alarms when the beat goes on but does not show what is there", () =>
  inFolder(async (dir) => {
    let timer: ReturnType<typeof setInterval> | undefined;
    try {
      const { alarms } = await withFault(dir, (pid) => {
        Deno.kill(pid, "SIGSTOP");
        const frozen = readBeat(`${dir}/beat`);
        let sequence = frozen?.sequence ?? 0;
        const forge = () => {
          if (readBeat(`${dir}/beat`)?.pid !== pid) return clearInterval(timer);
          write(`${dir}/forged`, JSON.stringify({ ...frozen, sequence: ++sequence }));
          Deno.renameSync(`${dir}/forged`, `${dir}/beat`);
        };
        timer = setInterval(forge, 50);
      });
      assertEquals(alarms.map((alarm) => alarm.kind), ["watcher-false"]);
    } finally {
      clearInterval(timer);
    }
  }));

Deno.test("runWithHeartbeat wants to know what progress is", () =>
  inFolder(async (dir) => {
    const error = await assertRejects(
      () => runWithHeartbeat(options(dir, "true", { progress: [] })),
      RangeError,
    );
    assertStringIncludes(error.message, "declare the files");
  }));

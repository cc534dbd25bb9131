// The driver: starting, ending, letting go.

import { assert, assertEquals, assertRejects, assertStrictEquals } from "@std/assert";
import { cleanUpAfterEach, newMarker, survivors } from "../tests/support/processes.ts";
import { TEST_PATH } from "../tests/support/lab_command.ts";
import { scriptedClock } from "../tests/support/scripted_clock.ts";
import { makeTestDir } from "../tests/support/temp_dir.ts";
import { bench, MARKER, PID, row } from "./_driver_bench.ts";
import { systemClock } from "./clock.ts";
import { Driver } from "./driver.ts";
import { Journal } from "./journal.ts";
import { ProcessTableError } from "./process_table.ts";
import { isKillProven } from "./reap.ts";

cleanUpAfterEach();

Deno.test("start() hands on what to run, and makes it known as ours", async () => {
  const { driver, system, leaders, scripts, entries, start } = bench();
  const script = await start();
  const { clock, ...given } = script.options;
  assertStrictEquals(clock, system.clock);
  assertEquals(given, {
    argv: ["/bin/job", "x"],
    cwd: "/work",
    env: { A: "1" },
    marker: MARKER,
    logDir: "/logs",
    logName: "01-job",
    runStartMs: 0,
  });
  assertEquals(leaders, [{ pid: PID, startedSeconds: 100, name: "job" }]);
  assertEquals(driver.ledger.seen, leaders);
  assertEquals([...driver.ledger.groups], [PID]);
  assertEquals(entries.map((entry) => [entry.type, entry.data]), [
    ["start", { name: "job", pid: PID, argv: ["/bin/job", "x"] }],
  ]);
  await driver.start("again", ["/bin/other"], "/work", {});
  assertEquals(scripts[1]?.options.logName, "02-again");
});

Deno.test("start() knows its command also when the process table does not show it", async () => {
  const gone = bench(() => []);
  await gone.start();
  const startedSeconds = Math.floor(gone.system.clock.wallMs() / 1000);
  assertEquals(gone.leaders, [{ pid: PID, startedSeconds, name: "job" }]);

  const blind = bench(() => {
    throw new ProcessTableError("no ps today");
  });
  const script = await blind.start();
  assertEquals(blind.leaders, [{ pid: PID, startedSeconds, name: "job" }]);
  assertEquals(blind.entries.map((entry) => entry.type), ["problem", "start"]);
  assertEquals(blind.entries[0]?.data, { error: "no ps today" });
  assertEquals(blind.scripts, [script], "it is neither lost nor started twice");
});

Deno.test("start() starts nothing without words, nor after an interruption", async () => {
  const { driver, abort, scripts } = bench();
  await assertRejects(() => driver.start("job", [], "/work", {}), TypeError, "it has no words");
  assertEquals(driver.aborted, false);
  abort.abort();
  assertEquals(driver.aborted, true);
  const error = await assertRejects(
    () => driver.start("resume", ["/bin/job"], "/work", {}),
    DOMException,
    'Cannot start "resume": the run was interrupted',
  );
  assertEquals(error.name, "AbortError");
  assertEquals(scripts, []);
});

Deno.test("start() passes on why a command cannot be started, and counts nobody", async () => {
  const { driver, leaders } = bench(undefined, undefined, {
    spawn: () => {
      throw new Deno.errors.NotFound("no such program");
    },
  });
  await assertRejects(() => driver.start("job", ["/no"], "/work", {}), Deno.errors.NotFound);
  assertEquals([leaders, driver.ledger.seen], [[], []]);
});

Deno.test("alive() gives who is ours now", async () => {
  const { driver, start } = bench(() => [
    row(PID),
    row(PID + 1, { state: "Z" }),
    row(7, { marker: null, pgid: 7 }),
  ]);
  await start();
  assertEquals((await driver.alive()).map((each) => each.pid), [PID]);
});

Deno.test("reap() ends what was started, and writes down that it did", async () => {
  let alive = true;
  const { driver, start, entries } = bench(
    () => alive ? [row(PID), row(PID + 1)] : [],
    () => {
      alive = false;
      script.end({ exitCode: null, signal: "SIGKILL" });
    },
  );
  const script = await start();
  const kill = await driver.reap(0);
  assertEquals(isKillProven(kill), true);
  assertEquals(kill.processes.map((each) => each.pid), [PID, PID + 1]);
  assertEquals(entries.at(-1)?.type, "reaped");
  assertEquals(entries.at(-1)?.data, {
    processes: 2,
    signals: ["KILL"],
    survivors: 0,
    witnesses: { groupEmpty: true, markerEmpty: true, pipesClosed: true },
  });
});

Deno.test("reap() writes down that it could not see", async () => {
  const { driver, start, entries } = bench((look) => {
    if (look === 2) throw new ProcessTableError("no ps today");
    return look === 1 ? [row(PID)] : [];
  });
  (await start()).end();
  await driver.reap(0);
  assertEquals(entries.map((entry) => entry.type), ["start", "problem", "reaped"]);
});

Deno.test("finish() gives the phase of a command that is over, and lets go of it", async () => {
  const { driver, start, system } = bench();
  const script = await start();
  script.end({ exitCode: 3, signal: null });
  const beganMs = system.clock.nowMs();
  const phase = await driver.finish(script);
  assertEquals([phase.exitCode, script.released], [3, 1]);
  assertEquals(phase.argv, ["/bin/job", "x"]);
  await driver.release();
  assertEquals(script.released, 1, "it was let go of already");
  assert(system.clock.nowMs() - beganMs <= 2000);
});

Deno.test("finish() is bounded although the status never comes", async () => {
  const { driver, start, system } = bench();
  const script = await start();
  const beganMs = system.clock.nowMs();
  const phase = await driver.finish(script, 500);
  assertEquals([phase.endedMs, phase.exitCode, script.released], [null, null, 1]);
  assertEquals(system.clock.nowMs() - beganMs, 1000, "once for the status, once for the pipes");
});

Deno.test("finish() waits for the status also after an interruption", async () => {
  const base = scriptedClock();
  const clock = {
    ...base,
    sleep: (_ms: number, signal?: AbortSignal) =>
      new Promise<void>((resolve) => signal?.addEventListener("abort", () => resolve())),
  };
  const { driver, scripts, abort } = bench(undefined, undefined, { clock });
  await driver.start("job", ["/bin/job"], "/work", {});
  const [script] = scripts;
  assert(script);
  abort.abort();
  const finished = driver.finish(script);
  await Promise.resolve();
  script.end({ exitCode: null, signal: "SIGTERM" });
  assertEquals((await finished).signal, "SIGTERM");
});

Deno.test("release() lets go of everything that was not finished", async () => {
  const { driver, start } = bench();
  const scripts = [await start(), await start()];
  await driver.release();
  assertEquals(scripts.map((script) => script.released), [1, 1]);
  await driver.release();
  assertEquals(scripts.map((script) => script.released), [1, 1]);
});

Deno.test("a real command is started, watched, ended with proof, and let go", async () => {
  await using dir = await makeTestDir("driver");
  const marker = newMarker();
  using journal = new Journal(null, systemClock);
  const driver = new Driver({
    marker,
    logDir: dir.path,
    clock: systemClock,
    journal,
    signal: new AbortController().signal,
  });
  const script = "echo made >out; sleep 60 & sleep 60";
  const spawned = await driver.start("job", ["/bin/sh", "-c", script], dir.path, {
    PATH: TEST_PATH,
  });
  const isMade = () => {
    try {
      return Deno.statSync(`${dir.path}/out`).size > 0;
    } catch {
      return false;
    }
  };
  const limits = { runMs: 20_000, idleMs: 20_000, signature: () => `${isMade()}` };
  assertEquals(await driver.supervise(spawned, { ...limits, until: isMade }), "until");
  const kill = await driver.reap(0);
  assertEquals(isKillProven(kill), true);
  const phase = await driver.finish(spawned);
  assertEquals([phase.exitCode, phase.signal], [null, "SIGKILL"]);
  await driver.release();
  assertEquals(await survivors(marker), []);
});

// The driver: watching a command within its limits.

import { assert, assertEquals, assertRejects } from "@std/assert";
import { scriptedClock } from "../tests/support/scripted_clock.ts";
import { bench, PID, row, Script } from "./_driver_bench.ts";
import { ProcessTableError } from "./process_table.ts";

Deno.test("supervise() ends with the command, and sees what it wrote right before", async () => {
  const { watch, start, system } = bench();
  const script = await start();
  let looks = 0;
  const ending = await watch(script, {
    signature: () => {
      if (++looks === 3) script.end();
      return `${looks}`;
    },
  });
  // The look after the end is made as well.
  assertEquals([ending, looks], ["ended", 4]);
  const over = await start();
  over.end();
  assertEquals(await watch(over, { until: (signature) => signature === "made" }), "ended");
  assertEquals(await watch(over, { signature: () => "made", until: () => true }), "until");
  assert(system.clock.nowMs() < 100);
});

Deno.test("supervise() ends when the condition is true, at the first look if it is", async () => {
  const { watch, start, system } = bench();
  const script = await start();
  const beganMs = system.clock.nowMs();
  let looks = 0;
  const options = { signature: () => `${++looks}`, until: (text: string) => text === "5" };
  assertEquals(await watch(script, options), "until");
  assertEquals(looks, 5);
  // Four short pauses: the moment is not missed by much.
  assertEquals(system.clock.nowMs() - beganMs, 4 * 3);
  assertEquals(await watch(script, { until: () => true }), "until");
});

Deno.test("supervise() ends at the run limit to the millisecond, whatever progress there is", async () => {
  const { watch, start, system } = bench();
  const script = await start();
  const beganMs = system.clock.nowMs();
  const signature = () => `${system.clock.nowMs()}`;
  assertEquals(await watch(script, { runMs: 1234, signature }), "run");
  assertEquals(system.clock.nowMs() - beganMs, 1234);
});

Deno.test("supervise() measures idleness by the signature", async () => {
  const { watch, start, system, entries } = bench();
  const script = await start();
  const beganMs = system.clock.nowMs();
  // A step every 900 ms, the last one at 2,700 ms.
  const signature = () => `${Math.min(3, Math.floor((system.clock.nowMs() - beganMs) / 900))}`;
  assertEquals(await watch(script, { idleMs: 1000, signature }), "idle");
  const atMs = system.clock.nowMs() - beganMs;
  assert(atMs >= 3700 && atMs < 3720, `${atMs} ms`);
  assertEquals(entries.filter((entry) => entry.type === "idle").map((entry) => entry.data), [
    { idleMs: 1000 },
  ]);
});

Deno.test("supervise() does not take output for progress", async () => {
  const { watch, start, system } = bench();
  const script = await start();
  const beganMs = system.clock.nowMs();
  let printed = 0;
  const chatty = Object.assign(script, {
    record: () => ({ ...Script.prototype.record.call(script), stdoutBytes: ++printed }),
  });
  // The last pause is cut, so that the limit is met although it is no multiple of the pauses.
  assertEquals(await watch(chatty, { idleMs: 1000, everyMsMin: 70 }), "idle");
  assertEquals(system.clock.nowMs() - beganMs, 1000);
});

Deno.test("supervise() ends when the run is interrupted", async () => {
  const { watch, start, abort } = bench();
  const script = await start();
  let looks = 0;
  const signature = () => {
    if (++looks === 2) abort.abort();
    return "";
  };
  assertEquals(await watch(script, { signature }), "aborted");
  assertEquals(looks, 2);
  assertEquals(await watch(script), "aborted");
  assertEquals(await watch(script, { until: () => true }), "until");
});

Deno.test("supervise() is woken by the end and by an interruption, not by the next look", async () => {
  for (const how of ["end", "abort"] as const) {
    const base = scriptedClock();
    const slept: (AbortSignal | undefined)[] = [];
    const clock = {
      ...base,
      // Sleeps for ever unless it is woken.
      sleep: (_ms: number, signal?: AbortSignal) => {
        slept.push(signal);
        return new Promise<void>((resolve) => signal?.addEventListener("abort", () => resolve()));
      },
    };
    const { driver, scripts, abort } = bench(undefined, undefined, { clock });
    await driver.start("job", ["/bin/job"], "/work", {});
    const [script] = scripts;
    assert(script);
    const watched = driver.supervise(script, { runMs: 1e6, idleMs: 1e6, signature: () => "" });
    await Promise.resolve();
    if (how === "end") script.end();
    else abort.abort();
    assertEquals(await watched, how === "end" ? "ended" : "aborted");
    assertEquals(slept.length, 1);
  }
});

Deno.test("supervise() pauses longer after a slow look, but never long", async () => {
  const pausesAfter = async (lookMs: number, everyMsMin?: number) => {
    const { driver, scripts, system } = bench();
    await driver.start("job", ["/bin/job"], "/work", {});
    const times: number[] = [];
    await driver.supervise(scripts[0] as Script, {
      runMs: 1e6,
      idleMs: 1e6,
      ...(everyMsMin === undefined ? {} : { everyMsMin }),
      signature: () => {
        times.push(system.clock.nowMs());
        system.clock.advance(lookMs);
        return "";
      },
      until: () => times.length === 4,
    });
    // From the end of a look to the beginning of the next. The start has looked at the table.
    return times.slice(1).map((ms, i) => ms - (times[i] ?? 0) - lookMs);
  };
  assertEquals(await pausesAfter(0), [3, 3, 3]);
  assertEquals(await pausesAfter(2), [40, 40, 40]);
  // In one of them falls a look at the table, which takes 10 ms here.
  assertEquals((await pausesAfter(50)).sort(), [200, 200, 210]);
  assertEquals((await pausesAfter(0, 25)).slice(1), [25, 25]);
});

Deno.test("supervise() looks at the processes from time to time, less often in a long run", async () => {
  const { watch, start, system } = bench();
  const script = await start();
  await watch(script, { runMs: 60_000, idleMs: 60_000 });
  const perMinute = system.looks;
  assert(perMinute > 55 && perMinute < 90, `${perMinute} looks`);
});

Deno.test("supervise() remembers who was ours, although only one look could show it", async () => {
  // A grandchild without marker, in a group of its own, whose parent is gone at the next look.
  const stray = row(77, { ppid: PID, pgid: 77, marker: null, name: "stray" });
  const { driver, watch, start } = bench((look) =>
    look === 1 ? [row(PID)] : [row(PID), look === 2 ? stray : { ...stray, ppid: 1 }]
  );
  const script = await start();
  await watch(script, { runMs: 1000 });
  assertEquals(driver.ledger.seen.map((each) => each.pid), [PID, 77]);
  assertEquals((await driver.alive()).map((each) => each.pid), [PID, 77]);
});

Deno.test("supervise() goes on when the process table cannot be read, and loses nobody", async () => {
  const { driver, watch, start, entries } = bench((look) => {
    if (look > 1) throw new ProcessTableError("no ps today");
    return [row(PID)];
  });
  const script = await start();
  assertEquals(await watch(script, { runMs: 5000 }), "run");
  assert(entries.some((entry) => entry.type === "problem"));
  assertEquals([...driver.ledger.groups], [PID]);
});

Deno.test("supervise() leaves no listener behind, also when the look throws", async () => {
  const { driver, scripts, abort } = bench();
  await driver.start("job", ["/bin/job"], "/work", {});
  let listeners = 0;
  const { signal } = abort;
  const [add, remove] = [signal.addEventListener, signal.removeEventListener];
  signal.addEventListener = (...given: Parameters<typeof add>) => {
    listeners++;
    add.apply(signal, given);
  };
  signal.removeEventListener = (...given: Parameters<typeof remove>) => {
    listeners--;
    remove.apply(signal, given);
  };
  const limits = { runMs: 1000, idleMs: 1000 };
  const [script] = scripts;
  assert(script);
  await driver.supervise(script, { ...limits, signature: () => "" });
  assertEquals(listeners, 0);
  await assertRejects(
    () =>
      driver.supervise(script, {
        ...limits,
        signature: () => {
          throw new RangeError("far too many");
        },
      }),
    RangeError,
  );
  assertEquals(listeners, 0);
});

Deno.test("supervise() waits for the same command a thousand times without holding on to it", async () => {
  const { driver, scripts } = bench();
  await driver.start("job", ["/bin/job"], "/work", {});
  const [script] = scripts;
  assert(script);
  let waits = 0;
  const { status } = script;
  Object.defineProperty(script, "status", {
    get() {
      waits++;
      return status;
    },
  });
  await driver.supervise(script, { runMs: 30_000, idleMs: 30_000, signature: () => "" });
  assertEquals(waits, 1);
});

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { systemClock } from "../lab/mod.ts";
import { runJob, type RunOptions } from "./_run.ts";
import { inFolder, isPidAlive, isPidGone, textOf } from "./_test_tools.ts";

const FOREVER = "echo $$ >pid; while :; do sleep 0.1; done";

function options(cwd: string, script: string, more: Partial<RunOptions> = {}): RunOptions {
  return {
    argv: ["sh", "-c", script],
    cwd,
    clock: systemClock,
    stdin: "null",
    graceMs: 200,
    ...more,
  };
}

Deno.test("runJob gives the job's own exit code, or 128 and the signal", () =>
  inFolder(async (dir) => {
    const said: string[] = [];
    assertEquals((await runJob(options(dir, "exit 9"))).exitCode, 9);
    const killed = await runJob(options(dir, "kill -15 $$", { say: (text) => said.push(text) }));
    assertEquals([killed.exitCode, killed.end.signal, killed.endedBy], [143, "SIGTERM", "itself"]);
    assertStringIncludes(said.join(), "killed by SIGTERM");
  }));

Deno.test("runJob ends the whole job when it is asked to stop, and when a tick says so", () =>
  inFolder(async (dir) => {
    const stop = new AbortController();
    const first = runJob(options(dir, FOREVER, { stop: { signal: stop.signal } }));
    const pid = Number(await textOf(`${dir}/pid`));
    stop.abort();
    assertEquals([(await first).endedBy, await isPidAlive(pid)], ["stop", false]);
    await Deno.remove(`${dir}/pid`);
    const second = await runJob(
      options(dir, FOREVER, { everyMs: 50, tick: () => Promise.resolve("The lock is lost.") }),
    );
    assertEquals([second.endedBy, second.why, second.kill?.survivors], [
      "tick",
      "The lock is lost.",
      [],
    ]);
  }));

Deno.test("runJob names children that outlive the job when it is asked to look", () =>
  inFolder(async (dir) => {
    const script = `sh -c '${FOREVER}' & while ! [ -s pid ]; do sleep 0.05; done`;
    const result = await runJob(options(dir, script, { looksAfter: true }));
    const pid = Number(await textOf(`${dir}/pid`));
    try {
      assert(result.left.some((each) => each.pid === pid));
    } finally {
      Deno.kill(pid, "SIGKILL");
      await isPidGone(pid);
    }
  }));

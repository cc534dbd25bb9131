import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { waitUntil } from "../lab/mod.ts";
import {
  DEADLINE_EXIT,
  type DeadlineOptions,
  NOT_PROVEN_EXIT,
  runWithDeadline,
} from "./deadline.ts";
import { JobStartError } from "./_job.ts";
import { inFolder, isPidAlive, isPidGone, textOf, WAIT_MS } from "./_test_tools.ts";

function sh(script: string, cwd: string, more: Partial<DeadlineOptions>): DeadlineOptions {
  return { argv: ["sh", "-c", script], cwd, graceMs: 300, quietMs: 200, settleMs: 100, ...more };
}

/** A job that writes its pid to `file` and never ends by itself. */
const FOREVER = (file: string) => `echo $$ >${file}; while :; do sleep 0.1; done`;

Deno.test("deadline gives the job's own exit code and leaves a job within its limits alone", () =>
  inFolder(async (dir) => {
    const said: string[] = [];
    const result = await runWithDeadline(
      sh("exit 7", dir, { totalMs: WAIT_MS, say: (text) => said.push(text) }),
    );
    assertEquals([result.outcome, result.exitCode, result.attempts.length], ["ended", 7, 1]);
    assertEquals(result.attempts[0]?.kill, null);
    assertEquals(said, []);
  }));

Deno.test("deadline refuses to run without any limit", () =>
  inFolder(async (dir) => {
    await assertRejects(() => runWithDeadline(sh("exit 0", dir, {})), RangeError, "give a total");
  }));

Deno.test("deadline says 127 for a program that is not there and 126 for one that may not run", () =>
  inFolder(async (dir) => {
    await Deno.writeTextFile(`${dir}/plain.txt`, "no program");
    for (const [argv, code] of [[["no-such-program"], 127], [[`${dir}/plain.txt`], 126]] as const) {
      const error = await assertRejects(
        () => runWithDeadline({ argv, cwd: dir, totalMs: WAIT_MS }),
        JobStartError,
        "Cannot start the job",
      );
      assertEquals(error.exitCode, code);
    }
  }));

Deno.test("deadline names the signal of a job that somebody else killed", () =>
  inFolder(async (dir) => {
    const said: string[] = [];
    const result = await runWithDeadline(
      sh("kill -9 $$", dir, { totalMs: WAIT_MS, say: (text) => said.push(text) }),
    );
    assertEquals([result.outcome, result.exitCode], ["ended", 137]);
    assertStringIncludes(said.join("\n"), "killed by SIGKILL, not by us");
  }));

Deno.test("deadline ends a job at its total limit although it makes progress", () =>
  inFolder(async (dir) => {
    const result = await runWithDeadline(
      sh("while :; do echo x >>out; sleep 0.05; done", dir, {
        totalMs: 700,
        idleMs: WAIT_MS,
        progress: ["out"],
      }),
    );
    assertEquals([result.outcome, result.exitCode], ["limit", DEADLINE_EXIT]);
    assertEquals(result.attempts[0]?.limit, "total");
  }));

Deno.test("deadline takes neither a touched file nor one written again as progress", () =>
  inFolder(async (dir) => {
    const script = "echo 1 >out; while :; do touch out; echo 1 >out.new; mv out.new out; " +
      "sleep 0.05; done";
    const result = await runWithDeadline(
      sh(script, dir, { totalMs: WAIT_MS, idleMs: 600, progress: ["out"] }),
    );
    assertEquals(result.attempts[0]?.limit, "idle");
  }));

Deno.test("deadline takes new content of the same size as progress", () =>
  inFolder(async (dir) => {
    const script = "for i in 1 2 3 4 5 6 7 8 9; do echo $i >out; sleep 0.2; done";
    const result = await runWithDeadline(
      sh(script, dir, { totalMs: WAIT_MS, idleMs: 900, progress: ["out"] }),
    );
    assertEquals([result.outcome, result.exitCode], ["ended", 0]);
  }));

Deno.test("deadline counts output as progress when no files are declared, and silence as none", () =>
  inFolder(async (dir) => {
    const result = await runWithDeadline(
      sh("for i in 1 2 3 4 5; do echo; sleep 0.2; done >&2; exec sleep 60", dir, {
        totalMs: WAIT_MS,
        idleMs: 700,
      }),
    );
    const [attempt] = result.attempts;
    assertEquals(attempt?.limit, "idle");
    assert((attempt?.elapsedMs ?? 0) > 1400, `ended after ${attempt?.elapsedMs} ms`);
  }));

Deno.test("deadline ends children that ignore TERM, left the group, or were orphaned twice", () =>
  inFolder(async (dir) => {
    const script = `trap "" TERM
      (trap "" TERM; ${FOREVER("plain")}) &
      setsid sh -c 'trap "" TERM; ${FOREVER("session")}' &
      ( ( trap "" TERM; ${FOREVER("double")} ) & ) &
      while :; do sleep 0.1; done`;
    // "plain" and "double" write the pid of the shell around them; both are the job's.
    const run = runWithDeadline(sh(script, dir, { totalMs: 1500, progress: ["none"] }));
    const session = Number(await textOf(`${dir}/session`));
    const result = await run;
    assertEquals(result.exitCode, DEADLINE_EXIT);
    assertEquals(result.attempts[0]?.kill?.survivors, []);
    assertEquals(result.attempts[0]?.kill?.witnesses.markerEmpty, true);
    assert((result.attempts[0]?.kill?.processes.length ?? 0) >= 4);
    assertEquals(await isPidAlive(session), false);
  }));

Deno.test("deadline finds a child that dropped its mark and left the group, by descent", () =>
  inFolder(async (dir) => {
    const script = `env -i PATH="$PATH" setsid sh -c '${FOREVER("stray")}' & ${FOREVER("leader")}`;
    const run = runWithDeadline(sh(script, dir, { totalMs: 1500, progress: ["none"] }));
    const stray = Number(await textOf(`${dir}/stray`));
    await run;
    assertEquals(await isPidAlive(stray), false);
  }));

Deno.test("deadline remembers a child without a mark whose parent has gone meanwhile", () =>
  inFolder(async (dir) => {
    // Its parent is seen only by a look in between: it comes late and goes before the end.
    const stray = `env -i PATH="$PATH" setsid sh -c '${FOREVER("stray")}'`;
    const script = `sleep 0.5; ( ${stray} & sleep 1.5 ); ${FOREVER("leader")}`;
    const run = runWithDeadline(sh(script, dir, { totalMs: 3500, progress: ["none"] }));
    const pid = Number(await textOf(`${dir}/stray`));
    assertEquals((await run).exitCode, DEADLINE_EXIT);
    assertEquals(await isPidAlive(pid), false);
  }));

Deno.test("deadline ends a stopped job", () =>
  inFolder(async (dir) => {
    const result = await runWithDeadline(
      sh("kill -STOP $$", dir, { totalMs: WAIT_MS, idleMs: 500, progress: ["none"] }),
    );
    assertEquals(result.exitCode, DEADLINE_EXIT);
    assertEquals(result.attempts[0]?.kill?.survivors, []);
  }));

Deno.test("deadline ends what outlives its leader and keeps the leader's exit code", () =>
  inFolder(async (dir) => {
    const said: string[] = [];
    const script = `sh -c '${
      FOREVER("orphan")
    }' & while ! [ -s orphan ]; do sleep 0.05; done; exit 5`;
    const result = await runWithDeadline(
      sh(script, dir, { totalMs: WAIT_MS, say: (text) => said.push(text) }),
    );
    assertEquals([result.outcome, result.exitCode], ["ended", 5]);
    assertEquals(await isPidAlive(Number(await textOf(`${dir}/orphan`))), false);
    assertStringIncludes(said.join("\n"), "left running: sh");
  }));

Deno.test("deadline lets a child that is about to end do so by itself", () =>
  inFolder(async (dir) => {
    const script = "(sleep 0.4; echo flushed >late) & exit 0";
    const result = await runWithDeadline(
      sh(script, dir, { totalMs: WAIT_MS, settleMs: WAIT_MS }),
    );
    assertEquals(result.attempts[0]?.kill, null);
    assertEquals(await Deno.readTextFile(`${dir}/late`), "flushed\n");
  }));

Deno.test("deadline leaves children running and names them when asked to", () =>
  inFolder(async (dir) => {
    const script = `sh -c '${FOREVER("orphan")}' & while ! [ -s orphan ]; do sleep 0.05; done`;
    const result = await runWithDeadline(
      sh(script, dir, { totalMs: WAIT_MS, leaveChildren: true, progress: ["none"] }),
    );
    const pid = Number(await textOf(`${dir}/orphan`));
    try {
      assertEquals(result.exitCode, 0);
      assert(result.attempts[0]?.left.some((each) => each.pid === pid));
      assertEquals(await isPidAlive(pid), true);
    } finally {
      Deno.kill(pid, "SIGKILL");
      await isPidGone(pid);
    }
  }));

Deno.test("deadline starts afresh as often as it may, and then gives up", () =>
  inFolder(async (dir) => {
    const result = await runWithDeadline(
      sh("echo x >>runs; exec sleep 60", dir, { idleMs: 400, progress: ["none"], retries: 2 }),
    );
    assertEquals([result.outcome, result.exitCode], ["limit", DEADLINE_EXIT]);
    assertEquals(await Deno.readTextFile(`${dir}/runs`), "x\nx\nx\n");
  }));

Deno.test("deadline does not start afresh after a job that failed by itself", () =>
  inFolder(async (dir) => {
    const result = await runWithDeadline(
      sh("echo x >>runs; exit 3", dir, { totalMs: WAIT_MS, retries: 3 }),
    );
    assertEquals([result.exitCode, await Deno.readTextFile(`${dir}/runs`)], [3, "x\n"]);
  }));

Deno.test("deadline calls nothing quiet, and starts nothing, while a declared file still changes", () =>
  inFolder(async (dir) => {
    // The test itself is the writer that nobody of the job can be blamed for.
    const writing = new AbortController();
    let number = 0;
    const timer = setInterval(() => Deno.writeTextFileSync(`${dir}/out`, `${number++}\n`), 20);
    writing.signal.addEventListener("abort", () => clearInterval(timer));
    try {
      const said: string[] = [];
      const result = await runWithDeadline(
        sh("exec sleep 60", dir, {
          totalMs: 300,
          progress: ["out"],
          retries: 1,
          say: (text) => said.push(text),
        }),
      );
      assertEquals([result.outcome, result.exitCode], ["not-proven", NOT_PROVEN_EXIT]);
      assertEquals(result.attempts.length, 1);
      assertMatch(said.join("\n"), /nothing is started again/);
    } finally {
      writing.abort();
    }
  }));

Deno.test("deadline ends the whole job when it is asked to stop", () =>
  inFolder(async (dir) => {
    const stop = new AbortController();
    const run = runWithDeadline(
      sh(`setsid sh -c '${FOREVER("stray")}' & ${FOREVER("leader")}`, dir, {
        totalMs: WAIT_MS,
        retries: 2,
        progress: ["none"],
        stop: { signal: stop.signal },
      }),
    );
    const pids = [await textOf(`${dir}/stray`), await textOf(`${dir}/leader`)].map(Number);
    stop.abort();
    const result = await run;
    assertEquals([result.outcome, result.attempts.length], ["stopped", 1]);
    for (const pid of pids) assertEquals(await isPidAlive(pid), false);
  }));

Deno.test("deadline gives a job that is asked to stop with INT that signal first", () =>
  inFolder(async (dir) => {
    const stop = new AbortController();
    const script = `trap 'echo int >seen; exit 0' INT; trap 'echo term >seen; exit 0' TERM; ` +
      FOREVER("leader");
    const run = runWithDeadline(
      sh(script, dir, {
        totalMs: WAIT_MS,
        graceMs: WAIT_MS,
        stop: { signal: stop.signal, name: () => "INT" },
      }),
    );
    await textOf(`${dir}/leader`);
    stop.abort();
    assertEquals((await run).outcome, "stopped");
    assertEquals(
      await waitUntil(() => Deno.readTextFile(`${dir}/seen`), { limitMs: WAIT_MS }),
      "int\n",
    );
  }));

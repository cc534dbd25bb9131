import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import {
  inFolder,
  isPidGone,
  read,
  runWrapper,
  startWrapper,
  textOf,
} from "../../../../repairs/_test_tools.ts";
import { readBeat } from "../../../../repairs/mod.ts";

const FLAGS = ["--beat", "job.beat", "--progress", "out/*", "--every", "100ms", "--grace", "200ms"];

Deno.test("repair heartbeat run finishes a job that hung, and check says that it is finished", () =>
  inFolder(async (dir) => {
    const job = "mkdir -p out; [ -e tried ] && { echo ok >out/1; exit 0; }; : >tried; sleep 60";
    const { code, stderr } = await runWrapper(
      dir,
      [
        "heartbeat",
        "run",
        ...FLAGS,
        "--limit",
        "700ms",
        "--alarm-log",
        "alarms",
        "--",
        "sh",
        "-c",
        job,
      ],
    );
    assertEquals(code, 0, stderr);
    assertStringIncludes(
      stderr,
      "failure-lab repair heartbeat: ALARM (no-progress): No file of out/*",
    );
    assertEquals(JSON.parse(read(`${dir}/alarms`)).kind, "no-progress");
    const check = await runWrapper(dir, ["heartbeat", "check", "--beat", "job.beat"]);
    assertEquals([check.code, check.stdout], [
      0,
      "job.beat: finished: the job ended with exit code 0\n",
    ]);
  }));

Deno.test("repair heartbeat: both watchers and the job are gone when the wrapper is killed, and check alarms", () =>
  inFolder(async (dir) => {
    await using wrapper = await startWrapper(
      dir,
      [
        "heartbeat",
        "run",
        ...FLAGS,
        "--limit",
        "60s",
        "--",
        "sh",
        "-c",
        "echo $$ >pid; exec sleep 60",
      ],
    );
    const pid = Number(await textOf(`${dir}/pid`));
    await textOf(`${dir}/job.beat`);
    const watcher = readBeat(`${dir}/job.beat`)?.pid ?? 0;
    wrapper.child.kill("SIGKILL");
    await wrapper.child.status;
    assert(await isPidGone(pid));
    assert(await isPidGone(watcher));
    const check = () =>
      runWrapper(dir, ["heartbeat", "check", "--beat", "job.beat", "--max-age", "1s"]);
    let last = await check();
    for (let tries = 0; last.code === 0 && tries < 50; tries++) last = await check();
    assertEquals(last.code, 1);
    assertStringIncludes(last.stdout, "ALARM, silent");
  }));

Deno.test("repair heartbeat check alarms when there is no beat, and run wants to know what health is", () =>
  inFolder(async (dir) => {
    const none = await runWrapper(dir, ["heartbeat", "check", "--beat", "none"]);
    assertEquals(none.code, 1);
    assertStringIncludes(none.stdout, "there is no beat");
    const { code, stderr } = await runWrapper(dir, [
      "heartbeat",
      "run",
      "--beat",
      "b",
      "--",
      "true",
    ]);
    assertEquals(code, 2);
    assertStringIncludes(stderr, "merely alive is not healthy");
  }));

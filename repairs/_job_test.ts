import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { systemClock } from "../lab/mod.ts";
import { Job, JobStartError } from "./_job.ts";
import { isGone } from "./_job_end.ts";
import { jobVariable } from "./_job_table.ts";
import { inFolder, isPidAlive, textOf } from "./_test_tools.ts";

Deno.test("a job runs in a group of its own with its mark, and without a wrapper's token in its way", () =>
  inFolder(async (dir) => {
    const argv = ["sh", "-c", "ps -o pgid= -p $$ >pgid; env | grep ^FAILURE_LAB_ >env; sleep 60"];
    await using job = await Job.start({
      argv,
      cwd: dir,
      env: { FAILURE_LAB_X: "1" },
      stdin: "null",
      clock: systemClock,
    });
    assertStringIncludes(await textOf(`${dir}/env`), `${jobVariable(job.token)}=${job.token}\n`);
    assertEquals(Number(await textOf(`${dir}/pgid`)), job.pid);
    const kill = await job.end(200);
    assertEquals([isGone(kill), await isPidAlive(job.pid), job.ended?.signal], [
      true,
      false,
      "SIGTERM",
    ]);
  }));

Deno.test("a job knows its processes by their mark alone, and nobody else by any other", () =>
  inFolder(async (dir) => {
    await using job = await Job.start({ argv: ["true"], cwd: dir, clock: systemClock });
    await job.status;
    const start = (token: string) =>
      new Deno.Command("sleep", { args: ["60"], env: { [jobVariable(token)]: token } }).spawn();
    const [marked, stranger] = [start(job.token), start("ab".repeat(16))];
    try {
      assertEquals((await job.look()).map((row) => row.pid), [marked.pid]);
      assertEquals(isGone(await job.end(0)), true);
      assertEquals((await marked.status).signal, "SIGKILL");
      assertEquals(await isPidAlive(stranger.pid), true);
    } finally {
      for (const child of [marked, stranger]) {
        try {
          child.kill("SIGKILL");
        } catch {
          // It has ended.
        }
        await child.status;
      }
    }
  }));

Deno.test("a job that cannot be started says why, in words that help in cron", () =>
  inFolder(async (dir) => {
    const start = (argv: string[], cwd: string) => Job.start({ argv, cwd, clock: systemClock });
    await assertRejects(
      () => start(["no-such-program"], dir),
      JobStartError,
      "cron has a shorter PATH",
    );
    await assertRejects(() => start(["sh"], `${dir}/none`), JobStartError, "does not exist");
    await assertRejects(() => start([dir], dir), JobStartError, "may not be run");
  }));

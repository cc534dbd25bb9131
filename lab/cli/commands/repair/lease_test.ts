import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import {
  inFolder,
  isPidGone,
  isThere,
  namesIn,
  read,
  runWrapper,
  startWrapper,
  textOf,
  write,
} from "../../../../repairs/_test_tools.ts";

const FOREVER = "echo $$ >pid; while :; do sleep 0.1; done";

Deno.test("repair lease runs the job with its generation and gives the lock back", () =>
  inFolder(async (dir) => {
    const { code, stdout } = await runWrapper(
      dir,
      [
        "lease",
        "--lock",
        "run.lock",
        "--",
        "sh",
        "-c",
        "cat >seen; echo $FAILURE_LAB_GENERATION; ls run.lock; exit 3",
      ],
    );
    assertEquals([code, stdout], [3, "1\nrun.lock\n"]);
    assertEquals(isThere(`${dir}/run.lock`), false);
  }));

Deno.test("repair lease stands down with 75 before an owner that lives or is not known", () =>
  inFolder(async (dir) => {
    for (const content of ["", `${Deno.pid}\n`]) {
      write(`${dir}/run.lock`, content);
      const { code, stderr } = await runWrapper(
        dir,
        ["lease", "--lock", "run.lock", "--", "touch", "ran"],
      );
      assertEquals(code, 75);
      assertStringIncludes(stderr, "failure-lab repair lease: Standing down");
      assertEquals([read(`${dir}/run.lock`), isThere(`${dir}/ran`)], [content, false]);
    }
  }));

Deno.test("repair lease lets many runs of a stale lock through one after the other", () =>
  inFolder(async (dir) => {
    write(`${dir}/run.lock`, "another-form 4000000 1\n".replace("another-form", Deno.hostname()));
    const job = "mkdir busy || echo OVERLAP >>log; echo x >>log; sleep 0.1; rmdir busy";
    const runs = await Promise.all(
      [1, 2, 3, 4].map(() =>
        runWrapper(dir, ["lease", "--lock", "run.lock", "--wait", "60s", "--", "sh", "-c", job])
      ),
    );
    assertEquals(runs.map((run) => run.code), [0, 0, 0, 0]);
    assertEquals(read(`${dir}/log`), "x\nx\nx\nx\n");
    assertEquals(namesIn(dir).filter((name) => name.includes("stale")), ["run.lock.stale-1"]);
  }));

Deno.test("repair lease ends its job when the lock is lost", () =>
  inFolder(async (dir) => {
    await using wrapper = await startWrapper(
      dir,
      ["lease", "--lock", "run.lock", "--grace", "200ms", "--", "sh", "-c", FOREVER],
    );
    const pid = Number(await textOf(`${dir}/pid`));
    write(`${dir}/run.lock.new`, "somebody else\n");
    await Deno.rename(`${dir}/run.lock.new`, `${dir}/run.lock`);
    assertEquals((await wrapper.child.status).code, 3);
    assert(await isPidGone(pid));
    assertStringIncludes(await wrapper.stderr, "The lease on");
    assertEquals(read(`${dir}/run.lock`), "somebody else\n");
  }));

Deno.test("repair lease: the next run takes over from a wrapper that was killed", () =>
  inFolder(async (dir) => {
    await using killed = await startWrapper(
      dir,
      ["lease", "--lock", "run.lock", "--", "sh", "-c", FOREVER],
    );
    const pid = Number(await textOf(`${dir}/pid`));
    killed.child.kill("SIGKILL");
    await killed.child.status;
    const { code, stderr } = await runWrapper(
      dir,
      [
        "lease",
        "--lock",
        "run.lock",
        "--wait",
        "20s",
        "--",
        "sh",
        "-c",
        `case $(ps -o stat= -p ${pid}) in ""|Z*) ;; *) exit 1 ;; esac`,
      ],
    );
    assertEquals(code, 0, stderr);
    assertEquals(isThere(`${dir}/run.lock.stale-1`), true);
  }));

Deno.test("repair lease keeps the lock for children that outlive the job", () =>
  inFolder(async (dir) => {
    const job = `sh -c '${FOREVER}' >/dev/null 2>&1 & while ! [ -s pid ]; do sleep 0.05; done`;
    const first = await runWrapper(dir, ["lease", "--lock", "run.lock", "--", "sh", "-c", job]);
    const pid = Number(read(`${dir}/pid`));
    try {
      assertEquals(first.code, 0);
      assertStringIncludes(first.stderr, "The lock stays until they have ended");
      const second = await runWrapper(dir, ["lease", "--lock", "run.lock", "--", "touch", "ran"]);
      assertEquals([second.code, isThere(`${dir}/ran`)], [75, false]);
      assertStringIncludes(second.stderr, "a process of its job lives");
    } finally {
      Deno.kill(pid, "SIGKILL");
      await isPidGone(pid);
    }
    const third = await runWrapper(dir, [
      "lease",
      "--lock",
      "run.lock",
      "--wait",
      "20s",
      "--",
      "true",
    ]);
    assertEquals(third.code, 0, third.stderr);
  }));

Deno.test("repair lease --clear-only leaves the lock's name to the job", () =>
  inFolder(async (dir) => {
    const job = "if [ -e app.pid ]; then echo already running; exit 1; fi; echo $$ >app.pid";
    write(`${dir}/app.pid`, "4000000\n");
    const { code } = await runWrapper(
      dir,
      ["lease", "--lock", "app.pid", "--clear-only", "--", "sh", "-c", job],
    );
    assertEquals([code, read(`${dir}/app.pid.stale-1`)], [0, "4000000\n"]);
  }));

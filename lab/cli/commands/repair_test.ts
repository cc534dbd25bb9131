import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import {
  inFolder,
  isPidGone,
  runWrapper,
  startWrapper,
  textOf,
  wrapperArgs,
} from "../../../repairs/_test_tools.ts";
import { shellQuote } from "../shell_quote.ts";

const FOREVER = "echo $$ >pid; while :; do sleep 0.1; done";

Deno.test("repair deadline passes stdout, stderr and the exit code of the job through", () =>
  inFolder(async (dir) => {
    const { code, stdout, stderr } = await runWrapper(
      dir,
      [
        "deadline",
        "--total",
        "20s",
        "--result",
        "r.json",
        "--",
        "sh",
        "-c",
        "echo a; echo b >&2; exit 9",
      ],
    );
    assertEquals([code, stdout, stderr], [9, "a\n", "b\n"]);
    const result = JSON.parse(await Deno.readTextFile(`${dir}/r.json`));
    assertEquals([result.schema, result.module, result.exitCode, result.outcome], [
      "failure-lab/repair",
      "deadline",
      9,
      "ended",
    ]);
  }));

Deno.test("repair deadline: a job that waits on a pipe which nobody closes finishes afresh", () =>
  inFolder(async (dir) => {
    await using wrapper = await startWrapper(
      dir,
      ["deadline", "--idle", "700ms", "--progress", "out", "--stdin", "inherit", "--retries", "1"]
        .concat(["--", "sh", "-c", "echo run >>runs; echo printed; cat >/dev/null; echo ok >out"]),
      { stdin: "piped" },
    );
    const { code } = await wrapper.child.status;
    await wrapper.child.stdin.close().catch(() => {});
    assertEquals(code, 0);
    assertEquals(await Deno.readTextFile(`${dir}/runs`), "run\nrun\n");
    assertEquals(await wrapper.stdout, "printed\n", "the output of exactly one run");
    assertStringIncludes(await wrapper.stderr, "failure-lab repair deadline: Attempt 2 of 2");
  }));

Deno.test("repair deadline gives a job nothing to read by default, and our stdin on request", () =>
  inFolder(async (dir) => {
    for (const [flags, expected] of [[[], ""], [["--stdin", "inherit"], "words"]] as const) {
      await using wrapper = await startWrapper(
        dir,
        ["deadline", "--total", "20s", ...flags, "--", "cat"],
        { stdin: "piped" },
      );
      const writer = wrapper.child.stdin.getWriter();
      await writer.write(new TextEncoder().encode("words")).catch(() => {});
      await writer.close().catch(() => {});
      await wrapper.child.status;
      assertEquals(await wrapper.stdout, expected);
    }
  }));

Deno.test("repair deadline exits 124 at a limit and says which, with proof", () =>
  inFolder(async (dir) => {
    const { code, stderr } = await runWrapper(
      dir,
      ["deadline", "--total", "400ms", "--", "sh", "-c", FOREVER],
    );
    assertEquals(code, 124);
    assertStringIncludes(stderr, "longer than 0.40 s (--total)");
    assertStringIncludes(stderr, "Proof: the group is empty, nobody carries the job's mark");
    assert(await isPidGone(Number(await textOf(`${dir}/pid`))));
  }));

for (const [signal, code] of [["SIGTERM", 143], ["SIGINT", 130], ["SIGHUP", 129]] as const) {
  Deno.test(`repair passes ${signal} on to the whole job and ends as a shell would`, () =>
    inFolder(async (dir) => {
      await using wrapper = await startWrapper(
        dir,
        ["deadline", "--total", "60s", "--grace", "300ms", "--", "sh", "-c", FOREVER],
      );
      const pid = Number(await textOf(`${dir}/pid`));
      wrapper.child.kill(signal);
      assertEquals((await wrapper.child.status).code, code);
      assert(await isPidGone(pid));
    }));
}

Deno.test("repair --nohup does not mind a HUP", () =>
  inFolder(async (dir) => {
    const job = "echo $$ >pid; while ! [ -e enough ]; do sleep 0.05; done; exit 6";
    await using wrapper = await startWrapper(
      dir,
      ["deadline", "--total", "60s", "--nohup", "--", "sh", "-c", job],
    );
    await textOf(`${dir}/pid`);
    wrapper.child.kill("SIGHUP");
    await Deno.writeTextFile(`${dir}/enough`, "");
    assertEquals((await wrapper.child.status).code, 6);
  }));

Deno.test("repair leaves no job behind when the wrapper itself is killed", () =>
  inFolder(async (dir) => {
    await using wrapper = await startWrapper(
      dir,
      ["deadline", "--total", "60s", "--", "sh", "-c", `setsid sh -c '${FOREVER}' & sleep 60`],
    );
    const pid = Number(await textOf(`${dir}/pid`));
    wrapper.child.kill("SIGKILL");
    assert(await isPidGone(pid));
  }));

Deno.test("repair leaves no job behind when it is killed inside a run that has a mark of its own", () =>
  inFolder(async (dir) => {
    await using wrapper = await startWrapper(
      dir,
      ["deadline", "--total", "60s", "--", "sh", "-c", `env >env; sleep 2; ${FOREVER}`],
      { env: { FAILURE_LAB_RUN: "ab".repeat(16) } },
    );
    // The job says its pid late: by then the keeper has been told of its group.
    const pid = Number(await textOf(`${dir}/pid`));
    assertStringIncludes(await textOf(`${dir}/env`), `FAILURE_LAB_RUN=${"ab".repeat(16)}\n`);
    wrapper.child.kill("SIGKILL");
    assert(await isPidGone(pid));
  }));

Deno.test("repair: a wrapper inside a wrapper finds its own job and only that", () =>
  inFolder(async (dir) => {
    const inner = [Deno.execPath(), ...await wrapperArgs(dir), "deadline", "--total", "500ms"]
      .map(shellQuote).join(" ");
    const script = `sh -c 'echo $$ >outer; sleep 60 & wait' &
      ${inner} -- sh -c '${FOREVER}'
      echo $? >inner-code; kill $(cat outer)`;
    await using wrapper = await startWrapper(
      dir,
      ["deadline", "--total", "60s", "--", "sh", "-c", script],
    );
    assertEquals(await textOf(`${dir}/inner-code`), "124\n");
    assert(await isPidGone(Number(await textOf(`${dir}/pid`))));
    assertEquals((await wrapper.child.status).code, 0);
  }));

Deno.test("repair deadline lets the job notice that nobody reads its output any more", () =>
  inFolder(async (dir) => {
    const wrapper = [Deno.execPath(), ...await wrapperArgs(dir), "deadline", "--total", "60s"]
      .map(shellQuote).join(" ");
    const { code } = await new Deno.Command("sh", {
      args: ["-c", `${wrapper} -- sh -c 'yes; echo ended >ended' | head -n 1 >first`],
      cwd: dir,
      stdin: "null",
    }).output();
    assertEquals([code, await Deno.readTextFile(`${dir}/ended`)], [0, "ended\n"]);
  }));

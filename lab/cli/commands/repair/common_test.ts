import { assertEquals, assertStringIncludes } from "@std/assert";
import { inFolder, read, runWrapper, write } from "../../../../repairs/_test_tools.ts";

Deno.test("a result file says that the job runs, and afterwards how it ended", () =>
  inFolder(async (dir) => {
    const { stdout } = await runWrapper(
      dir,
      [
        "evidence",
        "--expect",
        "a",
        "--result",
        "r.json",
        "--",
        "sh",
        "-c",
        "cat r.json; echo x >a",
      ],
    );
    assertEquals(JSON.parse(stdout).outcome, "running");
    const result = JSON.parse(read(`${dir}/r.json`));
    assertEquals([result.version, result.module, result.exitCode, result.outcome], [
      1,
      "evidence",
      0,
      "proven",
    ]);
  }));

Deno.test("a job that cannot be started ends the wrapper like a shell would, and says why", () =>
  inFolder(async (dir) => {
    write(`${dir}/plain`, "no program");
    for (const [program, code] of [["no-such-program", 127], ["./plain", 126]] as const) {
      const result = await runWrapper(dir, [
        "deadline",
        "--total",
        "9s",
        "--result",
        "r.json",
        "--",
        program,
      ]);
      assertEquals(result.code, code);
      assertStringIncludes(result.stderr, "failure-lab repair deadline: Cannot start the job");
      assertEquals(JSON.parse(read(`${dir}/r.json`)).exitCode, code);
    }
  }));

Deno.test("every repair explains itself, with its exit codes and a line to copy", () =>
  inFolder(async (dir) => {
    const list = await runWrapper(dir, ["--help"]);
    for (
      const module of [
        "allowlist",
        "checkpoint",
        "deadline",
        "evidence",
        "heartbeat",
        "lease",
        "outbox",
      ]
    ) {
      assertStringIncludes(list.stdout, module);
      const help = await runWrapper(dir, [module, "--help"]);
      assertEquals([help.code, help.stderr], [0, ""]);
      assertStringIncludes(help.stdout, `failure-lab repair ${module}`);
    }
  }));

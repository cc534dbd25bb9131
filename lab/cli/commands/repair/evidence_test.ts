import { assertEquals, assertStringIncludes } from "@std/assert";
import { inFolder, isThere, runWrapper } from "../../../../repairs/_test_tools.ts";

const JOB = "[ -e tried ] || { : >tried; echo 'How can I help?'; exit 0; }; echo report >report.md";

Deno.test("repair evidence turns a hollow success into exit 1 and names what is missing", () =>
  inFolder(async (dir) => {
    const { code, stdout, stderr } = await runWrapper(
      dir,
      ["evidence", "--expect", "report.md=1", "--", "sh", "-c", JOB],
    );
    assertEquals([code, stdout], [1, "How can I help?\n"]);
    assertStringIncludes(stderr, "failure-lab repair evidence: The job reports success");
    assertStringIncludes(stderr, "report.md: it is absent");
  }));

Deno.test("repair evidence finishes the work with one fresh attempt for what is missing", () =>
  inFolder(async (dir) => {
    const { code } = await runWrapper(
      dir,
      ["evidence", "--expect", "report.md", "--fresh", "--retry", "1", "--result", "r.json", "--"]
        .concat(["sh", "-c", `printf %s "$FAILURE_LAB_MISSING" >missing; ${JOB}`]),
    );
    assertEquals([code, await Deno.readTextFile(`${dir}/missing`)], [0, "report.md"]);
    const result = JSON.parse(await Deno.readTextFile(`${dir}/r.json`));
    assertEquals([result.outcome, result.attempts, Object.keys(result.good)], [
      "proven",
      2,
      ["report.md"],
    ]);
  }));

Deno.test("repair evidence passes a job's own failure through and does not run it again", () =>
  inFolder(async (dir) => {
    const { code } = await runWrapper(
      dir,
      ["evidence", "--expect", "a", "--retry", "3", "--", "sh", "-c", "echo x >>runs; exit 6"],
    );
    assertEquals([code, await Deno.readTextFile(`${dir}/runs`)], [6, "x\n"]);
  }));

Deno.test("repair evidence wants to know what to expect, before it runs anything", () =>
  inFolder(async (dir) => {
    for (
      const [flags, words] of [
        [[], "--expect 'out/*.md=6'"],
        [["--sha256-file", "nothing"], "it cannot be used"],
        [["--expect", "a", "--result", "no/such/folder/r.json"], "it cannot be written"],
      ] as const
    ) {
      const { code, stderr } = await runWrapper(dir, ["evidence", ...flags, "--", "touch", "ran"]);
      assertEquals(code, 2, stderr);
      assertStringIncludes(stderr, words);
    }
    assertEquals(isThere(`${dir}/ran`), false);
  }));

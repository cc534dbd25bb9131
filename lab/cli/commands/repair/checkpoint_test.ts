import { assertEquals, assertStringIncludes } from "@std/assert";
import { inFolder, isThere, read, runWrapper, write } from "../../../../repairs/_test_tools.ts";

const READ = ["--artifacts", "out/*.txt", "--key-from-name", "--ends-with", "END"];

function prepare(dir: string, log: string): void {
  for (const unit of ["a", "b"]) write(`${dir}/out/${unit}.txt`, `${unit} END\n`);
  write(`${dir}/state.jsonl`, log);
}

Deno.test("repair checkpoint check exits 0 when all is in step, 1 when torn, 3 when not known", () =>
  inFolder(async (dir) => {
    prepare(dir, '{"unit":"a"}\n{"unit":"b"}\n');
    const check = (...flags: string[]) =>
      runWrapper(dir, ["checkpoint", "check", "state.jsonl", ...flags]);
    const fine = await check(...READ);
    assertEquals([fine.code, fine.stdout], [
      0,
      "state.jsonl: whole and in step with the files, 2 done\n",
    ]);
    write(`${dir}/state.jsonl`, '{"unit":"a"}\n{"un');
    const torn = await check(...READ);
    assertEquals(torn.code, 1);
    assertStringIncludes(torn.stdout, "whole but not claimed: b");
    assertStringIncludes(torn.stdout, "damaged: 4 bytes at byte 13");
    write(`${dir}/state.jsonl`, '{"unit":"a"}\n');
    const unknown = await check("--artifacts", "out/*.txt", "--key-from-name");
    assertEquals(unknown.code, 3);
    assertStringIncludes(unknown.stdout, "not known to be whole: b");
    assertEquals(read(`${dir}/state.jsonl`), '{"unit":"a"}\n');
  }));

Deno.test("repair checkpoint mend mends, says what it set aside, and then runs the job", () =>
  inFolder(async (dir) => {
    prepare(dir, '{"unit":"a"}\n{"un');
    const { code, stdout, stderr } = await runWrapper(
      dir,
      [
        "checkpoint",
        "mend",
        "state.jsonl",
        ...READ,
        "--",
        "sh",
        "-c",
        "wc -l <state.jsonl; exit 4",
      ],
    );
    assertEquals([code, stdout.trim()], [4, "2"]);
    assertStringIncludes(stderr, "Set aside, not deleted: state.jsonl.torn-1");
  }));

Deno.test("repair checkpoint mend does not start the job when it cannot mend", () =>
  inFolder(async (dir) => {
    write(`${dir}/state.json`, '{"done":');
    const { code, stderr } = await runWrapper(
      dir,
      ["checkpoint", "mend", "state.json", "--result", "r.json", "--", "touch", "ran"],
    );
    assertEquals(code, 1);
    assertStringIncludes(stderr, "Nothing was changed");
    assertEquals(JSON.parse(read(`${dir}/r.json`)).outcome, "error");
    assertEquals(isThere(`${dir}/ran`), false);
  }));

Deno.test("repair checkpoint mend refuses a skeleton that would be an empty beginning", () =>
  inFolder(async (dir) => {
    write(`${dir}/s.json`, "");
    const mend = (...flags: string[]) =>
      runWrapper(dir, ["checkpoint", "mend", "s.json", ...flags]);
    assertEquals((await mend("--skeleton", '{"done":[]}')).code, 2);
    assertEquals((await mend("--skeleton", "nonsense", "--artifacts", "*.md")).code, 2);
    assertEquals((await mend("--json", "--jsonl")).code, 2);
  }));

import { assertEquals } from "@std/assert";
import { damaged, output, outputs } from "../lab/_grader_fixtures.ts";
import type { RunRecord } from "../lab/mod.ts";
import { makeTestDir } from "../tests/support/temp_dir.ts";
import { receiptOf } from "./_receipt_fixtures.ts";
import { receiptText } from "./receipt.ts";
import { checkReceipt } from "./receipt_check.ts";
import { checkOutputs, outputsIn, projectFiles } from "./receipt_outputs.ts";

/** A finished project with the outputs of the good record. */
async function finishedProject(dir: string): Promise<void> {
  await Deno.mkdir(`${dir}/out`);
  for (const { path } of outputs()) {
    await Deno.writeTextFile(`${dir}/${path}`, `text of ${path}\nEND\n`);
  }
}

function compare(dir: string, records?: readonly RunRecord[]) {
  const { runs } = checkReceipt(receiptText(receiptOf(records)));
  return checkOutputs(runs, projectFiles(dir), outputsIn(dir, runs))
    .filter((each) => each.problem !== null).map(({ path, problem }) => `${path}: ${problem}`);
}

Deno.test("checkOutputs() finds a finished project as the receipt says", async () => {
  await using dir = await makeTestDir("outputs");
  await finishedProject(dir.path);
  assertEquals(compare(dir.path), []);
});

Deno.test("checkOutputs() names each output that is missing, changed or too many", async () => {
  await using dir = await makeTestDir("outputs-bad");
  await finishedProject(dir.path);
  await Deno.remove(`${dir.path}/out/1.md`);
  await Deno.writeTextFile(`${dir.path}/out/2.md`, "text of out/2.md\nENd\n");
  await Deno.writeTextFile(`${dir.path}/out/3.md`, "");
  await Deno.remove(`${dir.path}/out/4.md`);
  await Deno.mkdir(`${dir.path}/out/4.md`);
  await Deno.writeTextFile(`${dir.path}/out/7.md`, "one more\n");
  assertEquals(compare(dir.path), [
    "out/1.md: it is missing",
    "out/2.md: it has other content",
    "out/3.md: it has 0 bytes instead of 21",
    "out/4.md: it is not a plain file",
    "out/7.md: it is not in the receipt",
  ]);
});

Deno.test("checkOutputs() opens nothing outside the project, whatever a receipt says", async () => {
  await using dir = await makeTestDir("outputs-out");
  const project = `${dir.path}/project`;
  await Deno.mkdir(project);
  await finishedProject(project);
  await Deno.writeTextFile(`${dir.path}/secret`, "secret\n");
  await Deno.remove(`${project}/out/2.md`);
  await Deno.symlink(`${dir.path}/secret`, `${project}/out/2.md`);
  const paths = ["../secret", `${dir.path}/secret`, "out/../../secret", "out/2.md", "a\0b"];
  const read = projectFiles(project);
  for (const path of paths) assertEquals(Object.keys(read(path)), ["problem"], path);
  assertEquals(Object.keys(read("out/1.md")), ["sha256", "bytes"]);
  // A way out and in again is a way out: what is there now says nothing about later.
  assertEquals(Object.keys(read("out/../../project/out/1.md")), ["problem"]);
  const outside = damaged((record) => {
    record.contract.declared = { artifacts: { paths: ["../*", "/etc/*", "out/*.md"] } };
  });
  const { runs } = checkReceipt(receiptText(receiptOf([outside])));
  assertEquals(outputsIn(project, runs).every((path) => path.startsWith("out/")), true);
});

Deno.test("checkOutputs() takes a link that stays inside for the file that it leads to", async () => {
  await using dir = await makeTestDir("outputs-link");
  await finishedProject(dir.path);
  await Deno.rename(`${dir.path}/out/1.md`, `${dir.path}/one`);
  await Deno.symlink("../one", `${dir.path}/out/1.md`);
  assertEquals(compare(dir.path), []);
});

Deno.test("checkOutputs() takes the passed run that fits best, and no failed one beside it", async () => {
  await using dir = await makeTestDir("outputs-runs");
  await finishedProject(dir.path);
  const other = damaged((record) => {
    const change = (list: RunRecord["artifacts"]) => {
      list[0] = { ...output("out/1.md", "another text, longer\nEND\n"), mtimeMs: list[0]!.mtimeMs };
    };
    change(record.artifacts);
    change(record.artifactsAtFault);
    for (const attempt of record.attempts) {
      change(attempt.artifactsBefore);
      change(attempt.artifactsAfter);
    }
  });
  assertEquals(compare(dir.path, [other]), ["out/1.md: it has 21 bytes instead of 25"]);
  assertEquals(compare(dir.path, [other, damaged(() => {})]), []);
  const failed = damaged((record) => record.recoveryMs = null);
  assertEquals(compare(dir.path, [other, failed]).length, 1);
  assertEquals(compare(dir.path, [failed]), []);
});

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { makeTestDir } from "../../../tests/support/temp_dir.ts";
import { damaged, outputs } from "../../_grader_fixtures.ts";
import { callCommand, lost, writeReport } from "./_saved_run_fixtures.ts";

const call = (...args: string[]) =>
  callCommand({ name: "compare", load: () => import("./compare.ts") }, args);

Deno.test("compare ends with 0, 1, 2 or 3, says the result first and then the table", async () => {
  await using dir = await makeTestDir("compare");
  const good = await writeReport(`${dir.path}/good.json`, [damaged(() => {})]);
  const bad = await writeReport(`${dir.path}/bad.json`, [lost()]);
  const other = await writeReport(`${dir.path}/other.json`, [
    damaged((record) => record.fault.variant = "live-owner"),
  ]);
  const none = await writeReport(`${dir.path}/unproven.json`, [
    damaged((record) => record.fault.evidence = []),
  ]);
  const same = await call(good, good);
  assertEquals([same.code, same.stderr], [0, ""]);
  assertStringIncludes(same.stdout, "BEFORE and AFTER are the same report");
  const better = await call(bad, good);
  assertEquals(better.code, 0);
  assertEquals(
    better.stdout.split("\n")[0],
    "Nothing got worse. The run got better (stale-lock, " +
      "dead-owner, killed after 3).",
  );
  const worse = await call(good, bad);
  assertEquals([worse.code, worse.stderr], [1, ""]);
  assertStringIncludes(worse.stdout, "The run got worse");
  assertStringIncludes(worse.stdout, "PASS -> FAIL");
  assertStringIncludes(worse.stdout, "6/6 -> 5/6");
  assertStringIncludes(worse.stdout, "outputs that are gone: out/6.md");
  const refused = await call(good, other);
  assertEquals([refused.code, refused.stdout], [2, ""]);
  assertStringIncludes(refused.stderr, "Nothing was compared");
  assertStringIncludes(refused.stderr, "variant: dead-owner before, live-owner now");
  assertEquals((await call(none, none)).code, 3);
});

Deno.test("compare --json prints one document in every case", async () => {
  await using dir = await makeTestDir("compare-json");
  const good = await writeReport(`${dir.path}/good.json`, [damaged(() => {})]);
  const other = await writeReport(`${dir.path}/other.json`, [
    damaged((record) => record.fault.variant = "live-owner"),
  ]);
  for (const [after, result, exitCode] of [[good, "same", 0], [other, "refused", 2]] as const) {
    const { code, stdout, stderr } = await call(good, after, "--json");
    const document = JSON.parse(stdout);
    assertEquals([code, document.exitCode, document.result, stderr], [
      exitCode,
      exitCode,
      result,
      "",
    ]);
    assertEquals(document.paths, { before: good, after });
    assertEquals(document.schema, "failure-lab/comparison");
  }
});

Deno.test("compare shows what a report holds, and never lets it steer the terminal", async () => {
  await using dir = await makeTestDir("compare-nasty");
  const nasty = "\x1b[31m\u202e";
  const good = await writeReport(`${dir.path}/good.json`, [damaged(() => {})]);
  const bad = await writeReport(`${dir.path}/bad.json`, [damaged((record) => {
    record.artifacts = [...outputs(5), { ...outputs(6)[5]!, path: `out/${nasty}.md` }];
    record.findings = [{ id: "x", ok: false, text: nasty }];
  })]);
  const { stdout } = await call(good, bad);
  assert(!stdout.includes("\x1b") && !stdout.includes("\u202e"), stdout);
  assertStringIncludes(stdout, "\\x1b[31m");
});

Deno.test("compare takes declared changes, and refuses paths that leave the project", async () => {
  await using dir = await makeTestDir("compare-changed");
  const files = (sha: string) =>
    damaged((record) =>
      record.project = {
        path: "/p",
        sha256: sha.repeat(64),
        files: 1,
        skipped: [],
        manifest: { "lib/run.sh": sha.repeat(64) },
      }
    );
  const before = await writeReport(`${dir.path}/before.json`, [files("a")]);
  const after = await writeReport(`${dir.path}/after.json`, [files("b")]);
  assertEquals((await call(before, after)).code, 2);
  for (const path of ["lib/run.sh", "./lib/", "lib"]) {
    assertEquals((await call(before, after, "--changed", path)).code, 0, path);
  }
  for (const path of ["/lib", "../lib", "."]) {
    const { code, stderr } = await call(before, after, "--changed", path);
    assertEquals(code, 2);
    assertStringIncludes(stderr, "inside the project");
  }
});

import { assertEquals, assertStringIncludes } from "@std/assert";
import { makeTestDir } from "../../../tests/support/temp_dir.ts";
import { damaged } from "../../_grader_fixtures.ts";
import { callCommand, lost, writeReport } from "./_saved_run_fixtures.ts";

const call = (...args: string[]) =>
  callCommand({ name: "regrade", load: () => import("./regrade.ts") }, args);

Deno.test("regrade never takes over a saved verdict, and shows both", async () => {
  await using dir = await makeTestDir("regrade");
  const path = await writeReport(`${dir.path}/report.json`, [lost(), damaged(() => {})]);
  const same = await call(path);
  assertEquals(same.code, 1);
  assertStringIncludes(same.stdout, "sees 2 runs as saved");
  const forged = (await Deno.readTextFile(path)).replaceAll(
    '"verdict": "fail"',
    '"verdict": "pass"',
  )
    .replaceAll('"exitCode": 1', '"exitCode": 0');
  await Deno.writeTextFile(path, forged);
  const { code, stdout } = await call(path);
  assertEquals(code, 1);
  assertStringIncludes(stdout, "sees 1 of 2 runs differently");
  assertStringIncludes(stdout, "PASS (artifacts-complete)");
  assertStringIncludes(stdout, "FAIL (artifacts-complete)");
  const json = JSON.parse((await call(path, "--json")).stdout);
  assertEquals([json.savedVerdict, json.verdict, json.differing], ["pass", "fail", 1]);
});

// deno-lint-ignore no-explicit-any -- reaches into a document in order to damage it
type Deep = any;

Deno.test("regrade calls a damaged record unproven, with the place and the rule", async () => {
  await using dir = await makeTestDir("regrade-damaged");
  const path = await writeReport(`${dir.path}/report.json`, [damaged(() => {})]);
  const text = await Deno.readTextFile(path);
  const cases: [code: number, text: string, (run: Deep) => void][] = [
    [3, "attempts.2.phase.exitCode", (run) => delete run.record.attempts[2].phase.exitCode],
    [3, "has version undefined", (run) => delete run.record],
    [3, "has version 2", (run) => run.record.version = 2],
    [0, "not readable", (run) => delete run.grade],
  ];
  for (const [expected, part, damage] of cases) {
    const set = JSON.parse(text);
    damage(set.runs[0]);
    await Deno.writeTextFile(path, JSON.stringify(set));
    const { code, stdout } = await call(path);
    assertEquals(code, expected, part);
    assertStringIncludes(stdout, part);
  }
});

Deno.test("regrade gives no pass to an empty report, nor to one that was broken off", async () => {
  await using dir = await makeTestDir("regrade-empty");
  const empty = await call(await writeReport(`${dir.path}/empty.json`, []));
  assertEquals(empty.code, 3);
  assertStringIncludes(empty.stdout, "There is no run in this report");
  const path = await writeReport(`${dir.path}/broken.json`, [damaged(() => {})]);
  assertEquals((await call(path)).code, 0);
  const set = JSON.parse(await Deno.readTextFile(path));
  await Deno.writeTextFile(path, JSON.stringify({ ...set, interrupted: "Ctrl-C" }));
  assertEquals((await call(path)).code, 3);
});

Deno.test("regrade ends with 5 when something outside the lab was changed", async () => {
  await using dir = await makeTestDir("regrade-escape");
  const path = await writeReport(`${dir.path}/report.json`, [damaged((record) => {
    record.containment?.changes.push({ path: "/x", change: "added", before: null, after: null });
  })]);
  assertEquals((await call(path)).code, 5);
});

Deno.test("regrade holds a drill to today's answer key, not to the one beside it", async () => {
  const { loadAnswerKey } = await import("../../../drills/mod.ts");
  await using dir = await makeTestDir("regrade-drill");
  const [id = ""] = Object.keys(loadAnswerKey().drills);
  const path = await writeReport(`${dir.path}/report.json`, [damaged((record) => {
    Object.assign(record, { kind: "drill", subject: id, half: "broken", project: null });
    record.options = { mode: "broken", variant: record.fault.variant };
  })]);
  // A broken half that passes is not what the key says, whatever was saved.
  const set = JSON.parse(await Deno.readTextFile(path));
  set.runs[0].expected = { verdict: "pass", reasonId: null, met: true };
  await Deno.writeTextFile(path, JSON.stringify(set));
  const { code, stdout } = await call(path);
  assertEquals(code, 1);
  assertStringIncludes(stdout, "The answer key expects FAIL");
});

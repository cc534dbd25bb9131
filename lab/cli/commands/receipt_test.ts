import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { makeTestDir } from "../../../tests/support/temp_dir.ts";
import { damaged, outputs } from "../../_grader_fixtures.ts";
import { callCommand, lost, writeReport } from "./_saved_run_fixtures.ts";

const receipt = (...args: string[]) =>
  callCommand({ name: "receipt", load: () => import("./receipt.ts") }, args);
const verify = (...args: string[]) =>
  callCommand({ name: "verify", load: () => import("./verify.ts") }, args);

Deno.test("receipt writes beside the report, and verify holds it", async () => {
  await using dir = await makeTestDir("receipt");
  await writeReport(`${dir.path}/report.json`, [damaged(() => {})]);
  const made = await receipt(dir.path);
  assertEquals([made.code, made.stderr], [0, ""]);
  assertEquals(made.stdout.split("\n")[0], `${dir.path}/receipt.json`);
  assertStringIncludes(made.stdout, "not who made it");
  const text = await Deno.readTextFile(`${dir.path}/receipt.json`);
  assert(!text.includes("/home/me"), "a path is left");
  const held = await verify(`${dir.path}/receipt.json`);
  assertEquals([held.code, held.stderr], [0, ""]);
  assertEquals(held.stdout.split("\n")[0], "The receipt holds: 9 sections, none changed.");
  assertStringIncludes(held.stdout, "PASS stale-lock, dead-owner");
  assertStringIncludes(held.stdout, "This is not a signature");
  assertEquals((await receipt(dir.path)).code, 0, "an older receipt is replaced");
});

Deno.test("receipt writes nowhere over something else, and to standard output alone", async () => {
  await using dir = await makeTestDir("receipt-out");
  const report = await writeReport(`${dir.path}/report.json`, [damaged(() => {})]);
  const other = `${dir.path}/other.json`;
  await Deno.writeTextFile(other, "{}");
  const refused = await receipt(report, "--out", other);
  assertEquals(refused.code, 2);
  assertStringIncludes(refused.stderr, "something else lies already");
  assertEquals(await Deno.readTextFile(other), "{}");
  const nowhere = await receipt(report, "--out", `${dir.path}/no/receipt.json`);
  assertEquals(nowhere.code, 4);
  assertStringIncludes(nowhere.stderr, "Name another place with --out");
  const printed = await receipt(report, "--out", "-");
  assertEquals(JSON.parse(printed.stdout).schema, "failure-lab/receipt");
  assertStringIncludes(printed.stderr, "sealed");
  await Deno.writeTextFile(other, printed.stdout);
  assertEquals((await verify(other)).code, 0);
});

Deno.test("receipt refuses a report with a damaged record, and names it", async () => {
  await using dir = await makeTestDir("receipt-damaged");
  const report = await writeReport(`${dir.path}/report.json`, [damaged(() => {})]);
  const set = JSON.parse(await Deno.readTextFile(report));
  delete set.runs[0].record.kill;
  await Deno.writeTextFile(report, JSON.stringify(set));
  const { code, stderr } = await receipt(report);
  assertEquals(code, 2);
  assertStringIncludes(stderr, 'run 1 cannot be used. The record is damaged at "kill"');
});

Deno.test("verify names section and path of a change, and ends with 1", async () => {
  await using dir = await makeTestDir("verify");
  await writeReport(`${dir.path}/report.json`, [damaged(() => {})]);
  await receipt(dir.path);
  const path = `${dir.path}/receipt.json`;
  const text = await Deno.readTextFile(path);
  await Deno.writeTextFile(path, text.replace('"exitCode": 75', '"exitCode": 0'));
  const { code, stdout } = await verify(path);
  assertEquals(code, 1);
  assertStringIncludes(stdout, "The receipt does not hold: 1 problem.");
  assertStringIncludes(stdout, "run-1/recovery /attempts/0/phase/exitCode");
  const json = JSON.parse((await verify(path, "--json")).stdout);
  assertEquals([json.exitCode, json.holds, json.isSignature], [1, false, false]);
  assertEquals(json.problems[0].section, "run-1/recovery");
  await Deno.writeTextFile(path, "{");
  assertEquals((await verify(path)).code, 1);
  const missing = await verify(`${dir.path}/nothing`);
  assertEquals(missing.code, 2);
  assertStringIncludes(missing.stderr, "it is not there");
});

Deno.test("verify tells an intact receipt of a fail from a pass only when asked", async () => {
  await using dir = await makeTestDir("verify-fail");
  await writeReport(`${dir.path}/report.json`, [lost()]);
  await receipt(dir.path);
  const path = `${dir.path}/receipt.json`;
  const held = await verify(path);
  assertEquals(held.code, 0);
  assertStringIncludes(held.stdout, "FAIL stale-lock");
  assertEquals((await verify(path, "--require-pass")).code, 1);
  await writeReport(`${dir.path}/report.json`, [damaged((record) => record.recoveryMs = null)]);
  await receipt(dir.path);
  assertEquals((await verify(path, "--require-pass")).code, 3);
  await writeReport(`${dir.path}/report.json`, [damaged(() => {})]);
  await receipt(dir.path);
  assertEquals((await verify(path, "--require-pass")).code, 0);
});

Deno.test("verify --project compares the outputs with the files", async () => {
  await using dir = await makeTestDir("verify-project");
  await writeReport(`${dir.path}/report.json`, [damaged(() => {})]);
  await receipt(dir.path);
  const args = [`${dir.path}/receipt.json`, "--project", dir.path];
  await Deno.mkdir(`${dir.path}/out`);
  for (const { path } of outputs()) {
    await Deno.writeTextFile(`${dir.path}/${path}`, `text of ${path}\nEND\n`);
  }
  const same = await verify(...args);
  assertEquals(same.code, 0);
  assertStringIncludes(same.stdout, "all 6 outputs are there");
  await Deno.remove(`${dir.path}/out/2.md`);
  const other = await verify(...args);
  assertEquals(other.code, 1);
  assertStringIncludes(other.stdout, "1 of 6 outputs are not as the receipt says");
  assertStringIncludes(other.stdout, "out/2.md: it is missing");
  const nowhere = await verify(`${dir.path}/receipt.json`, "--project", `${dir.path}/no`);
  assertEquals(nowhere.code, 2);
  assertStringIncludes(nowhere.stderr, "--project is ");
});

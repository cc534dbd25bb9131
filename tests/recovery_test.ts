// The answer key against results: every drill in every shape, on the built program.

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { waitUntil } from "../lab/clock.ts";
import { sendSignal } from "../lab/signals.ts";
import { loadDrills } from "../drills/mod.ts";
import { Bench, finished } from "./support/binary.ts";
import { assertNoStrays, drills, unmet } from "./support/drills.ts";
import { cleanUpAfterEach } from "./support/processes.ts";

cleanUpAfterEach();

const DRILLS = loadDrills();
const SHAPES = DRILLS.reduce((sum, drill) => sum + drill.fault.variants.length, 0);

Deno.test("every drill in every shape: the broken half fails for its own reason, the repaired half finishes", async () => {
  await using bench = await Bench.make("drills-all");
  const { code, set } = await drills(bench, ["--all-variants"]);
  assertEquals(unmet(set), []);
  assertEquals([code, set.exitCode, set.verdict], [0, 0, "pass"]);
  assertEquals(set.runs.length, SHAPES * 2);
  for (const { record, grade } of set.runs) {
    if (record.notApplicable !== null) continue;
    assert(record.fault.delivered, `${record.id}: the failure was not proven`);
    assertEquals(grade.containmentBroken, false, record.id);
    if (record.half === "broken") {
      assertEquals(grade.verdict, "fail", record.id);
      continue;
    }
    assertEquals(grade.verdict, "pass", record.id);
    assertEquals(record.artifacts.length, record.contract.count, record.id);
    assert(record.recoveryMs !== null && record.recoveryMs >= 0, `${record.id}: no recovery time`);
    assertEquals(record.kill?.survivors, [], record.id);
  }
});

Deno.test("with the failure switched off every drill is unproven, and for that reason alone", async () => {
  await using bench = await Bench.make("drills-disarmed");
  const { code, set } = await drills(bench, ["--half=disarmed", "--seed=1"]);
  assertEquals(unmet(set), []);
  assertEquals([code, set.runs.length], [0, DRILLS.length]);
  for (const { record, grade } of set.runs) {
    assertEquals([grade.verdict, grade.reasonId], ["unproven", "fault-delivered"], record.id);
    // Everything else is well: the job is whole, and nothing is left.
    const others = grade.checks.filter((check) => check.state === "bad");
    assertEquals(others, [], record.id);
    assertEquals(record.artifacts.length, record.contract.count, record.id);
  }
});

Deno.test("where nothing is wrong, every repair leaves it alone", async () => {
  await using bench = await Bench.make("drills-control");
  const { code, set } = await drills(bench, ["--half=control", "--seed=1"]);
  assertEquals(unmet(set), []);
  assertEquals([code, set.runs.length], [0, DRILLS.length]);
  for (const { record } of set.runs) {
    assertEquals(record.findings.map(({ id, ok }) => [id, ok]), [["left-alone", true]], record.id);
    assertEquals(record.interrupted, null, record.id);
  }
});

Deno.test("the demo shows three failures and their recovery, and where the report is", async () => {
  await using bench = await Bench.make("demo");
  const done = await bench.run(["demo"], { cwd: bench.path });
  assertEquals(done.code, 0, done.stdout + done.stderr);
  for (const word of ["01-hung-process", "03-torn-checkpoint", "06-hollow-success", "12/12"]) {
    assertStringIncludes(done.stdout, word);
  }
  assertStringIncludes(done.stdout, "not a sandbox");
  const html = /html\s+(\S+)/.exec(done.stdout)?.[1] ?? "";
  assert((await Deno.stat(html)).isFile);
  assertMatch(done.stdout.trim().split("\n").at(-1) ?? "", /^PASS\s+6 runs: 3 fail, 3 pass/);
  await assertNoStrays(bench);
});

for (const [signal, code] of [["INT", 130], ["TERM", 143]] as const) {
  Deno.test(`SIG${signal} ends drills, reports what was done, leaves nothing, and gives ${code}`, async () => {
    await using bench = await Bench.make(`drills-${signal.toLowerCase()}`);
    const report = `${bench.path}/report`;
    const child = bench.start(["drills", "--repeat=50", "--seed=1", "--report", report], {
      cwd: bench.path,
    });
    // Two halves are done when the third has a folder; its job is at work then.
    const isAtWork = await waitUntil(() => {
      const [lab] = bench.labs();
      return lab !== undefined &&
        namesIn(`${bench.temp}/${lab}`).some((name) => /^00[3-9]/.test(name));
    }, { limitMs: 60_000, everyMs: 5 });
    assert(isAtWork, "the drills did not start");
    await sendSignal(signal, [child.pid]);
    const done = await finished(child, 30_000);
    assertEquals([done.code, done.signal], [code, null], done.stderr);
    const set = JSON.parse(await Deno.readTextFile(`${report}/report.json`));
    assertMatch(set.interrupted, /of 1100 runs were done when it was interrupted/);
    assert(set.runs.length >= 2, `${set.runs.length} runs`);
    await assertNoStrays(bench);
  });
}

Deno.test("after SIGKILL of the program nothing of a drill lives for long", async () => {
  await using bench = await Bench.make("drills-kill");
  const child = bench.start(["drills", "02", "--half=broken", "--repeat=100"], { cwd: bench.path });
  const isAtWork = await waitUntil(() => {
    const [lab] = bench.labs();
    return lab !== undefined &&
      namesIn(`${bench.temp}/${lab}`).some((name) => /^00[2-9]/.test(name));
  }, { limitMs: 60_000, everyMs: 5 });
  assert(isAtWork, "the drills did not start");
  await sendSignal("KILL", [child.pid]);
  await finished(child, 10_000);
  // The keeper ends what was running; the next start removes the folder.
  assertEquals((await bench.run(["drills", "08", "--half=broken"], { cwd: bench.path })).code, 0);
  await assertNoStrays(bench);
});

Deno.test("a drill that does not exist is a usage error with a suggestion", async () => {
  await using bench = await Bench.make("drills-unknown");
  const done = await bench.run(["drills", "hung-proces"], { cwd: bench.path });
  assertEquals(done.code, 2);
  assertStringIncludes(done.stderr, "Did you mean hung-process?");
  assertEquals((await bench.run(["show", "99"], { cwd: bench.path })).code, 2);
  assertEquals((await bench.run(["self-test", "leese"], { cwd: bench.path })).code, 2);
});

Deno.test("list and show print every drill, and show runs nothing", async () => {
  await using bench = await Bench.make("drills-pages");
  const list = await bench.run(["list"], { cwd: bench.path });
  for (const { id } of DRILLS) assertStringIncludes(list.stdout, id);
  for (const { id, title, naive } of DRILLS) {
    const page = await bench.run(["show", id.slice(0, 2)], { cwd: bench.path });
    assertEquals(page.code, 0, page.stderr);
    assertStringIncludes(page.stdout, title);
    for (const line of naive[0]?.script ?? []) assertStringIncludes(page.stdout, line);
  }
  assertEquals(bench.labs(), []);
});

function namesIn(dir: string): string[] {
  try {
    return [...Deno.readDirSync(dir)].map((entry) => entry.name);
  } catch {
    return []; // Gone, or not there yet.
  }
}

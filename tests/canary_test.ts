// The lab tests itself: what must fail fails, what must be refused is refused. If one of these
// passes, no verdict of this program is worth anything.

import { assert, assertEquals } from "@std/assert";
import { type Grade, grade, gradeSet, type RunRecord, systemClock } from "../lab/mod.ts";
import { loadAnswerKey, loadDrills } from "../drills/mod.ts";
import type { Scene } from "../drills/scene.ts";
import { sceneOf } from "../drills/scenes/mod.ts";
import { playDrills } from "../drills/session.ts";
import { cleanUpAfterEach } from "./support/processes.ts";
import { makeTestDir } from "./support/temp_dir.ts";

cleanUpAfterEach();

/** Plays the repaired half of one drill with something else in place of its repair. */
async function playWith(drillId: string, repair: Scene["repair"]): Promise<RunRecord> {
  await using kit = await makeTestDir("canary-kit");
  await Deno.writeTextFile(`${kit.path}/program`, "watched");
  const drill = loadDrills().find((each) => each.id === drillId);
  assert(drill !== undefined);
  const { runSet } = await playDrills({
    command: "drills",
    runs: [{ drill, mode: "repaired", variant: drill.fault.variants[0]?.id ?? "", repeat: 1 }],
    key: loadAnswerKey(),
    rerun: "",
    seed: 0,
    label: null,
    git: null,
    kitPath: kit.path,
    home: null,
    keep: false,
    clock: systemClock,
    signal: new AbortController().signal,
  }, (id) => ({ ...sceneOf(id), repair }));
  const [run] = runSet.runs;
  assert(run !== undefined);
  assertEquals(run.expected?.met, false, `${drillId} accepts a repair that does nothing`);
  assert(runSet.exitCode !== 0);
  return run.record;
}

for (const { id } of loadDrills()) {
  Deno.test(`canary: ${id} refuses a repair that notices and stops`, async () => {
    const record = await playWith(id, async (stage) => {
      await stage.repairAttempt(
        ["notice"],
        () => Promise.resolve({ exitCode: 0, said: "noticed" }),
      );
    });
    assert(grade(record).verdict !== "pass");
    assertEquals(record.interrupted, null);
  });
}

/** A true record of a pass, to forge from. */
async function truePass(): Promise<RunRecord> {
  await using kit = await makeTestDir("canary-kit");
  await Deno.writeTextFile(`${kit.path}/program`, "watched");
  const drill = loadDrills().find((each) => each.id === "09-duplicate-work");
  assert(drill !== undefined);
  const { runSet } = await playDrills({
    command: "drills",
    runs: [{ drill, mode: "repaired", variant: "resume-after-send", repeat: 1 }],
    key: loadAnswerKey(),
    rerun: "",
    seed: 0,
    label: null,
    git: null,
    kitPath: kit.path,
    home: null,
    keep: false,
    clock: systemClock,
    signal: new AbortController().signal,
  }, sceneOf);
  const record = runSet.runs[0]?.record;
  assert(record !== undefined);
  assertEquals(grade(record).verdict, "pass", grade(record).reason);
  return record;
}

type Forgery = [name: string, forge: (record: RunRecord) => void];

const FORGERIES: readonly Forgery[] = [
  ["no look at the watch list", (record) => record.containment = null],
  ["a look before only", (record) => {
    if (record.containment) record.containment.observedAfter = false;
  }],
  ["a change outside", (record) => {
    const change = { path: "/x", change: "modified", before: null, after: null } as const;
    record.containment?.changes.push(change);
  }],
  ["a sentinel that was changed", (record) => {
    if (record.containment) record.containment.sentinelIntact = false;
  }],
  ["a failure that was switched off", (record) => record.fault.armed = false],
  ["a failure that was not proven", (record) => record.fault.delivered = false],
  ["a failure without evidence", (record) => record.fault.evidence = []],
  ["nobody who looked for survivors", (record) => record.kill = null],
  ["a survivor", (record) => {
    record.kill?.survivors.push({ pid: 4242, startedSeconds: 1, name: "sh" });
  }],
  ["a witness that was not heard", (record) => {
    if (record.kill) record.kill.witnesses.pipesClosed = null;
  }],
  ["no recovery", (record) => record.attempts = []],
  ["a recovery that failed", (record) => {
    for (const attempt of record.attempts) attempt.phase.exitCode = 1;
  }],
  ["an output less", (record) => void record.artifacts.pop()],
  ["an output twice", (record) => {
    const [first] = record.artifacts;
    if (first) record.artifacts.push(first);
  }],
  ["an output that is half", (record) => record.artifacts[0]?.problems.push("it is half")],
  ["finished work of other content", (record) => {
    const [first] = record.artifacts;
    if (first) first.sha256 = "0".repeat(64);
  }],
  ["finished work that was made again", (record) => {
    const [first] = record.artifacts;
    if (first) first.mtimeMs += 1000;
  }],
  ["a write after success", (record) => {
    record.quiet?.changed.push({ path: "out/unit-01.txt", by: null });
  }],
  ["a checkpoint that is behind", (record) => {
    if (record.checkpoint) record.checkpoint.claims = 11;
  }],
  ["an effect twice", (record) => {
    const { effects } = record;
    if (effects === null) return;
    effects.doubled.push({ key: "unit-01", count: 2 });
    effects.total++;
  }],
  ["an effect that nobody knows of", (record) => record.effects?.unknown.push("unit-01")],
  ["an effect that never happened", (record) => record.effects?.missing.push("unit-01")],
  ["a finding that is not well", (record) => {
    record.findings.push({ id: "forged", ok: false, text: "forged" });
  }],
  ["no number of outputs", (record) => record.contract.count = null],
  ["an interruption", (record) => record.interrupted = "it broke off"],
  ["another version", (record) => void Object.assign(record, { version: 2 })],
];

Deno.test("canary: a grader that is fed forged records refuses every one", async () => {
  const record = await truePass();
  for (const [name, forge] of FORGERIES) {
    const forged = structuredClone(record);
    forge(forged);
    assert(grade(forged).verdict !== "pass", `a record with ${name} passed`);
  }
});

Deno.test("canary: no records at all are no pass, and one bad record spoils the set", async () => {
  assertEquals(gradeSet([]).verdict, "unproven");
  const good: Grade = grade(await truePass());
  const bad: Grade = { ...good, verdict: "fail" };
  assertEquals(gradeSet([good]).verdict, "pass");
  assertEquals(gradeSet([good, bad, good]).verdict, "fail");
  assertEquals(gradeSet([good, { ...good, verdict: "unproven" }]).verdict, "unproven");
});

// The grader as a whole: what is no record at all, premises, containment, precedence.

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { assertGrades, at, damaged, goodRecord, inShort, outputs } from "./_grader_fixtures.ts";
import { grade, gradeSet } from "./grader.ts";
import type { Grade, RunRecord } from "./record.ts";
import { newRecord } from "./run_record.ts";

Deno.test("grade() passes a complete good record, and says what it saw", () => {
  const given = grade(goodRecord());
  assertEquals(inShort(given), "pass");
  assertEquals(
    given.reason,
    "Recovered in 1.44 s: 6 of 6 outputs whole, finished work untouched, nothing left over",
  );
  assertEquals(given.containmentBroken, false);
  assertEquals(given.checks.filter((check) => check.state !== "ok"), []);
});

Deno.test("grade() does not change the record, and grades a saved one alike", () => {
  const record = goodRecord();
  const text = JSON.stringify(record);
  const given = grade(record);
  assertEquals(JSON.stringify(record), text);
  assertEquals(grade(JSON.parse(text)), given);
});

Deno.test("grade() refuses what is no record of this version", () => {
  for (
    const value of [
      undefined,
      null,
      true,
      7,
      "pass",
      [],
      {},
      { verdict: "pass" },
      { ...goodRecord(), version: 0 },
      { ...goodRecord(), version: 2 },
      { ...goodRecord(), version: "1" },
      { ...goodRecord(), version: null },
      { ...goodRecord(), version: [1] },
    ]
  ) assertEquals(inShort(grade(value)), "unproven record-version", JSON.stringify(value));
  const text = "The record has version 99; this grader reads only version 1. " +
    "Grade it with the program that wrote it";
  assertEquals(grade({ ...goodRecord(), version: 99 }), {
    verdict: "unproven",
    reasonId: "record-version",
    reason: text,
    containmentBroken: false,
    checks: [{ id: "record-version", state: "unknown", text }],
  });
});

Deno.test("grade() refuses a record of another shape and names the place", () => {
  const { cost: _cost, ...incomplete } = goodRecord();
  const good = goodRecord();
  const places: [unknown, string][] = [
    [incomplete, '"cost"'],
    [{ ...good, schema: "failure-lab/run-set" }, '"schema"'],
    [{ ...good, verdict: "pass" }, 'Unrecognized key: "verdict"'],
    [{ ...good, fault: { ...good.fault, proven: true } }, '"fault"'],
    [{ ...good, recoveryMs: NaN }, '"recoveryMs"'],
    [{ ...good, recoveryMs: -1 }, '"recoveryMs"'],
    [{ ...good, recoveryMs: Infinity }, '"recoveryMs"'],
    [{ ...good, cost: { ...good.cost, wallMs: -5 } }, '"cost.wallMs"'],
    [{ ...good, artifacts: [{ ...at(outputs(), 0), bytes: 1.5 }] }, '"artifacts.0.bytes"'],
    [{ ...good, artifacts: [{ ...at(outputs(), 0), bytes: -1 }] }, '"artifacts.0.bytes"'],
    [{ ...good, artifacts: [{ ...at(outputs(), 0), sha256: "abc" }] }, '"artifacts.0.sha256"'],
    [{ ...good, contract: { ...good.contract, count: "6" } }, '"contract.count"'],
    [{ ...good, attempts: {} }, '"attempts"'],
    [{ ...good, attempts: [{ ...at(good.attempts, 2), purpose: "nothing" }] }, "purpose"],
    [JSON.parse(JSON.stringify(good).replace('{"', '{"__proto__": {"a": 1}, "')), "__proto__"],
  ];
  for (const [value, place] of places) {
    const given = grade(value);
    assertEquals(inShort(given), "unproven record-shape", place);
    assertStringIncludes(given.reason, place);
  }
});

Deno.test("grade() answers unproven when it fails itself, whatever is thrown", () => {
  const throwing = (what: unknown) =>
    Object.defineProperty({ ...goodRecord() }, "artifacts", {
      enumerable: true,
      get() {
        throw what;
      },
    });
  const nasty = {
    toString() {
      throw new Error("not even this");
    },
  };
  for (const what of [new Error("the disk is on fire"), "text", null, nasty, Object.create(null)]) {
    assertEquals(inShort(grade(throwing(what))), "unproven grader-error");
  }
  assertStringIncludes(grade(throwing(new Error("the disk is on fire"))).reason, "is on fire");
  const proxy = new Proxy(goodRecord(), {
    has: () => {
      throw new Error("no looking");
    },
  });
  assertEquals(inShort(grade(proxy)), "unproven grader-error");
  assertEquals(inShort(grade({ ...goodRecord(), version: 1n })), "unproven grader-error");
  let deep: unknown = [];
  for (let depth = 0; depth < 100_000; depth++) deep = [deep];
  assertEquals(inShort(grade({ ...goodRecord(), options: { deep } })), "unproven grader-error");
});

Deno.test("a record of which nothing was observed yet is never a pass", () => {
  const { id, kind, subject, half, label, rerun, seed, options, git, scope } = goodRecord();
  const { contract, startedAt } = goodRecord();
  const base = { id, kind, subject, half, label, rerun, seed, options, git, scope };
  const fault = { name: "kill", variant: null, armed: true };
  const record = newRecord({ ...base, contract, startedAt, fault });
  assertEquals(inShort(grade(record)), "fail containment-observed");
  record.containment = goodRecord().containment;
  assertEquals(inShort(grade(record)), "unproven interrupted");
});

Deno.test("a run that was not contained, or not seen to be, is a fail", () => {
  const contained = (part: Partial<NonNullable<RunRecord["containment"]>>) => (r: RunRecord) => {
    Object.assign(r.containment ?? {}, part);
  };
  const change = { path: "/home/me/.bashrc", before: "a", after: "b" };
  assertGrades({
    "no observation": ["fail containment-observed", (r) => r.containment = null],
    "not before": ["fail containment-observed", contained({ observedBefore: false })],
    "not after": ["fail containment-observed", contained({ observedAfter: false })],
    "empty list": ["fail containment-observed", contained({ watched: [] })],
    ...Object.fromEntries(
      (["added", "removed", "modified", "kind", "mode"] as const).map((kind) => [
        kind,
        ["fail containment-clean", contained({ changes: [{ ...change, change: kind }] })],
      ]),
    ),
    "sentinel": ["fail sentinel", contained({ sentinelIntact: false })],
    "sentinel unseen": ["unproven sentinel", contained({ sentinelIntact: null })],
    "unreadable": [
      "unproven containment-complete",
      contained({ changes: [{ ...change, change: "unknown" }] }),
    ],
    "incomplete": [
      "unproven containment-complete",
      contained({ watched: [{ path: "/a", files: 3, bytes: 1, incomplete: "no permission" }] }),
    ],
    "not one file": [
      "unproven containment-complete",
      contained({ watched: [{ path: "/a", files: 0, bytes: 0, incomplete: null }] }),
    ],
    "one place without a file": [
      "pass",
      (r) => r.containment?.watched.push({ path: "/b", files: 0, bytes: 0, incomplete: null }),
    ],
    "an unreadable path does not hide a changed one": [
      "fail containment-clean",
      contained({ changes: [{ ...change, change: "unknown" }, { ...change, change: "mode" }] }),
    ],
  });
});

Deno.test("containmentBroken is said for changes only, also when the run is unproven", () => {
  const broken = (damage: (record: RunRecord) => void) => grade(damaged(damage)).containmentBroken;
  const change = { path: "/x", change: "modified", before: null, after: null } as const;
  assertEquals(broken((r) => r.containment = null), false);
  assertEquals(broken((r) => r.containment?.changes.push({ ...change, change: "unknown" })), false);
  assertEquals(broken((r) => r.containment?.changes.push(change)), true);
  assertEquals(
    broken((r) => {
      r.interrupted = "Ctrl-C";
      if (r.containment) r.containment.sentinelIntact = false;
    }),
    true,
  );
});

Deno.test("findings decide: bad is a fail, one that could not be told is unproven", () => {
  assertGrades({
    "bad": ["fail stale-lock-cleared", (r) => at(r.findings, 0).ok = false],
    "not told": ["unproven stale-lock-cleared", (r) => at(r.findings, 0).ok = null],
  });
});

Deno.test("one precedence inside a record: fail, then unproven, then pass", () => {
  assertGrades({
    "unproven comes first in the list": ["fail artifacts-complete", (r) => {
      if (r.containment) r.containment.sentinelIntact = null;
      r.kill = null;
      r.artifacts.pop();
    }],
    "the first of two fails": ["fail containment-clean", (r) => {
      r.containment?.changes.push({ path: "/x", change: "mode", before: null, after: null });
      r.artifacts.pop();
    }],
    "the first of two doubts": ["unproven kill-proven", (r) => {
      r.kill = null;
      r.quiet = null;
    }],
  });
});

Deno.test("gradeSet() never passes an empty set, nor one without a pass", () => {
  const given = (verdict: Grade["verdict"], containmentBroken = false): Grade => ({
    verdict,
    reasonId: null,
    reason: "",
    containmentBroken,
    checks: [],
  });
  const merged = (...verdicts: Grade["verdict"][]) =>
    gradeSet(verdicts.map((verdict) => given(verdict))).verdict;
  assertEquals(merged(), "unproven");
  assertEquals(merged("not-applicable"), "unproven");
  assertEquals(merged("pass"), "pass");
  assertEquals(merged("pass", "not-applicable"), "pass");
  assertEquals(merged("pass", "unproven"), "unproven");
  assertEquals(merged("unproven", "pass", "fail"), "fail");
  assertEquals(gradeSet([]).containmentBroken, false);
  assertEquals(gradeSet([given("pass"), given("pass", true)]).containmentBroken, true);
});

Deno.test("the grader imports nothing that touches the system", async () => {
  const seen = new Set<string>();
  const look = async (name: string) => {
    if (seen.has(name)) return;
    seen.add(name);
    const text = await Deno.readTextFile(new URL(name, import.meta.url));
    assert(
      !/\b(Deno|performance|Date\.now|fetch)\b/.test(text.replace(/^\s*(\/?\*|\/\/).*$/gm, "")),
    );
    for (const [, from = ""] of text.matchAll(/from "([^"]+)"/g)) {
      if (from.startsWith("./")) await look(from);
      else assertEquals(from, "zod", name);
    }
  };
  await look("./grader.ts");
  assert(seen.size >= 8, [...seen].join());
});

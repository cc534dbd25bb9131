// When a run is tried again, and when never.

import { assertEquals } from "@std/assert";
import { attempt as graded, damaged, phase } from "../lab/_grader_fixtures.ts";
import { newRecord } from "../lab/run_record.ts";
import type { AttemptRecord, RunRecord } from "../lab/record.ts";
import { forgetRun, isWorthRepeating, isWorthWaiting } from "./tries.ts";

function missed(id = "job-struck"): RunRecord {
  const record = newRecord({
    id: "x",
    kind: "replay",
    subject: "hung-process",
    half: null,
    label: null,
    rerun: "x",
    seed: 1,
    options: {},
    git: null,
    scope: [],
    contract: {
      sha256: "0".repeat(64),
      count: 4,
      contentChecks: [],
      emptyAllowed: false,
      declared: {},
    },
    startedAt: "2026-01-01T00:00:00.000Z",
    fault: { name: "hung-process", variant: null, armed: true },
  });
  record.findings.push({ id, ok: null, text: "missed" });
  return record;
}

function attempt(purpose: AttemptRecord["purpose"], exitCode: number): AttemptRecord {
  return { purpose, phase: { exitCode, endedByLab: false } } as unknown as AttemptRecord;
}

Deno.test("a missed moment is tried again, and what would miss again is not", () => {
  assertEquals(isWorthRepeating(missed()), true);
  assertEquals(isWorthRepeating(missed("checkpoint-there")), false);
  assertEquals(isWorthRepeating({ ...missed(), findings: [] }), true);
  assertEquals(isWorthRepeating({ ...missed(), notApplicable: "not here" }), false);
  assertEquals(isWorthRepeating({ ...missed(), interrupted: "Ctrl-C" }), false);
  const disarmed = missed();
  disarmed.fault.armed = false;
  assertEquals(isWorthRepeating(disarmed), false);
});

Deno.test("a failure that was not delivered is tried again when its recovery went well", () => {
  const record = { ...missed(), findings: [] };
  record.attempts = [attempt("beside", 75), attempt("resume", 0)];
  assertEquals(isWorthRepeating(record), true);
  record.attempts = [attempt("resume", 1)];
  assertEquals(isWorthRepeating(record), false);
});

Deno.test("a delivered failure is never tried again for its verdict", () => {
  const delivered = missed();
  delivered.fault.delivered = true;
  delivered.attempts = [attempt("resume", 1)];
  assertEquals(isWorthRepeating(delivered), false);
  delivered.attempts = [attempt("resume-killed", 0), attempt("resume", 0)];
  assertEquals(isWorthRepeating(delivered), true);
  delivered.attempts = [attempt("resume-killed", 0), attempt("resume", 1)];
  assertEquals(isWorthRepeating(delivered), false);
});

Deno.test("forgetRun() leaves nothing that looks like a run", () => {
  const record = { ...missed(), attempts: [attempt("resume", 0)] };
  record.fault = { ...record.fault, delivered: true, evidence: [{ what: "x", value: 1 }] };
  forgetRun(record);
  assertEquals([record.start, record.kill, record.attempts.length, record.findings.length], [
    null,
    null,
    0,
    0,
  ]);
  assertEquals([record.fault.delivered, record.fault.evidence.length], [false, 0]);
});

Deno.test("a recovery that may have taken a dead process for alive is tried again, and no other", () => {
  const besideTheDead = (exitCode: number, [before, after]: [number, number]) =>
    damaged((record) => {
      record.uncollected = [{ pid: 71, startedSeconds: 1_780_000_000, name: "sh" }];
      record.attempts = [
        graded("resume", { ...phase(1200, 2400), exitCode }, [before, after]),
      ];
      record.artifacts = record.attempts[0]?.artifactsAfter ?? [];
    });
  const stoodDown = besideTheDead(75, [3, 3]);
  assertEquals(isWorthWaiting(stoodDown), true);
  assertEquals(isWorthWaiting(besideTheDead(0, [3, 3])), true);
  // It worked, whether well or not.
  assertEquals(isWorthWaiting(besideTheDead(0, [3, 6])), false);
  assertEquals(isWorthWaiting(besideTheDead(75, [3, 4])), false);
  const { uncollected: _, ...collected } = stoodDown;
  assertEquals(isWorthWaiting(collected), false);
  assertEquals(isWorthWaiting({ ...stoodDown, interrupted: "Ctrl-C" }), false);
  // What was changed outside is never forgotten.
  const { containment } = stoodDown;
  if (containment === null) throw new Error("the fixture has a containment");
  const change = { path: "/home/x", change: "modified", before: null, after: null } as const;
  for (
    const seen of [
      null,
      { ...containment, changes: [change] },
      { ...containment, sentinelIntact: false },
    ]
  ) assertEquals(isWorthWaiting({ ...stoodDown, containment: seen }), false);
});

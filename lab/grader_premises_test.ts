// What must hold before a recovery can be judged, and what is judged whatever holds.

import { assertEquals } from "@std/assert";
import {
  assertGrades,
  at,
  attempt,
  damaged,
  goodRecord,
  inShort,
  kill,
  outputs,
  phase,
  sha,
} from "./_grader_fixtures.ts";
import { grade } from "./grader.ts";
import type { RunRecord } from "./record.ts";

Deno.test("without a proven failure, recovery was not tested", () => {
  assertGrades({
    "not delivered": ["unproven fault-delivered", (r) => r.fault.delivered = false],
    "no evidence": ["unproven fault-delivered", (r) => r.fault.evidence = []],
    "at no time": ["unproven fault-delivered", (r) => r.fault.provenAtMs = null],
    "switched off": ["unproven fault-delivered", (r) => r.fault.armed = false],
  });
  const off = grade(damaged((r) => r.fault.armed = false));
  assertEquals(off.reason, 'The failure "stale-lock" was switched off in this run');
});

Deno.test("without a whole control run, the job and not the recovery is at fault", () => {
  const ended = (part: Partial<RunRecord["attempts"][number]["phase"]>) => (r: RunRecord) => {
    Object.assign(r.control?.phase ?? {}, part);
  };
  const unproven = "unproven control-whole";
  assertGrades({
    "none, and no reason": [unproven, (r) => r.control = null],
    "exit code": [unproven, ended({ exitCode: 1 })],
    "limit": [unproven, ended({ limitHit: "idle" })],
    "signal": [unproven, ended({ exitCode: null, signal: "SIGKILL" })],
    "broken off": [unproven, ended({ endedByLab: true })],
    "not started": [unproven, ended({ exitCode: null, startError: "no such file" })],
    "not seen to end": [unproven, ended({ exitCode: null, endedMs: null })],
    "too few": [unproven, (r) => r.control?.artifacts.pop()],
    "too many": [unproven, (r) => r.control?.artifacts.push(at(outputs(7), 6))],
    "empty": [unproven, (r) => {
      Object.assign(at(r.control?.artifacts ?? [], 1), { bytes: 0, sha256: sha("") });
    }],
    "not whole": [unproven, (r) => at(r.control?.artifacts ?? [], 1).problems.push("is torn")],
    "leftovers": [
      unproven,
      (r) => r.control?.kill.survivors.push({ pid: 7, startedSeconds: 1, name: "sleep" }),
    ],
    "leftovers unknown": [unproven, (r) => {
      if (r.control) r.control.kill.witnesses.markerEmpty = null;
    }],
    "switched off with a reason": ["pass", (r) => {
      r.control = null;
      r.controlSkipped = "it costs money";
    }],
  });
  const said = (part: Parameters<typeof ended>[0]) => grade(damaged(ended(part))).reason;
  for (
    const [part, words] of [
      [{ exitCode: 1 }, "it ended with exit code 1"],
      [{ limitHit: "run" }, "it hit the run limit"],
      [{ exitCode: null, signal: "SIGKILL" }, "it was ended by SIGKILL"],
      [{ exitCode: null, startError: "no such file" }, "it could not be started: no such file"],
      [{ exitCode: null, endedMs: null }, "it was not seen to end"],
      [{ endedByLab: true }, "the lab broke it off before its end"],
    ] as const
  ) {
    const head = "Already without a failure the job is not whole: ";
    assertEquals(said(part).slice(0, said(part).indexOf(". Mend")), head + words);
  }
  const skipped = grade(damaged((r) => {
    r.control = null;
    r.controlSkipped = "it costs money";
  }));
  assertEquals(skipped.checks.find((check) => check.id === "control-whole"), {
    id: "control-whole",
    state: "skipped",
    text: "it costs money",
  });
  const given = grade(damaged(ended({ exitCode: 3 })));
  assertEquals(
    given.reason,
    "Already without a failure the job is not whole: it ended with exit code 3. Mend the job (or " +
      'the contract) first, or say "startFails": true when this is the failure to recover from; ' +
      "recovery was not judged",
  );
});

Deno.test("what a recovery left is not held against it when it was not really tested", () => {
  const nothingLeft = (r: RunRecord) => {
    r.artifacts = [];
    r.attempts = [];
    r.quiet = null;
    r.recoveryMs = null;
    r.findings = [{ id: "stale-lock-cleared", ok: false, text: "The lock is still there" }];
    Object.assign(r.effects ?? {}, { doubled: [{ key: "1", count: 2 }], total: 7 });
    if (r.checkpoint) r.checkpoint.parses = false;
  };
  assertGrades({
    "all premises hold": ["fail stale-lock-cleared", nothingLeft],
    "interrupted": ["unproven interrupted", (r) => {
      nothingLeft(r);
      r.interrupted = "Ctrl-C";
    }],
    "the lab failed": ["unproven interrupted", (r) => {
      nothingLeft(r);
      r.interrupted = "the lab failed: no space left on device";
    }],
    "no end": ["unproven interrupted", (r) => {
      nothingLeft(r);
      r.endedAt = null;
    }],
    "the job is broken": ["unproven control-whole", (r) => {
      nothingLeft(r);
      r.control?.artifacts.pop();
    }],
    "the failure did not come": ["unproven fault-delivered", (r) => {
      nothingLeft(r);
      r.fault.delivered = false;
    }],
    "a control run that nobody made is no excuse": ["fail stale-lock-cleared", (r) => {
      nothingLeft(r);
      r.control = null;
    }],
    "survivors are bad all the same": ["fail kill-proven", (r) => {
      r.interrupted = "Ctrl-C";
      if (r.kill) r.kill.witnesses.groupEmpty = false;
    }],
    "also those of a recovery": ["fail resume-clean", (r) => {
      r.interrupted = "Ctrl-C";
      at(r.attempts, 2).kill.witnesses.pipesClosed = false;
    }],
    "and so is a broken containment": ["fail sentinel", (r) => {
      r.interrupted = "Ctrl-C";
      if (r.containment) r.containment.sentinelIntact = false;
    }],
  });
});

Deno.test("what is not held against a recovery is still shown, as a doubt", () => {
  const { checks } = grade(damaged((r) => {
    r.interrupted = "Ctrl-C";
    r.artifacts.pop();
  }));
  const [check] = checks.filter((each) => each.id === "artifacts-complete");
  assertEquals(check, {
    id: "artifacts-complete",
    state: "unknown",
    text: "1 of 6 outputs are missing: out/6.md (recovery was not really tested)",
  });
  assertEquals(checks.some((each) => each.state === "bad"), false);
  assertEquals(checks.find((each) => each.id === "effects-once")?.state, "ok");
});

Deno.test("a kill without proof is unproven, and one with a survivor is a fail", () => {
  const killed = (part: Partial<NonNullable<RunRecord["kill"]>>) => (r: RunRecord) => {
    Object.assign(r.kill ?? {}, part);
  };
  const said = { groupEmpty: true, markerEmpty: true, pipesClosed: true };
  assertGrades({
    "never reaped": ["unproven kill-proven", (r) => r.kill = null],
    "nobody seen": ["unproven kill-proven", killed({ processes: [] })],
    "survivor": [
      "fail kill-proven",
      killed({ survivors: [{ pid: 7, startedSeconds: 1, name: "sleep" }] }),
    ],
    "survivor, and yet all three say that nobody is left": [
      "fail kill-proven",
      (r) => r.kill?.survivors.push({ pid: 7, startedSeconds: 1, name: "sleep" }),
    ],
    ...Object.fromEntries(
      (["groupEmpty", "markerEmpty", "pipesClosed"] as const).flatMap((name) => [
        [`${name} unheard`, [
          "unproven kill-proven",
          killed({ witnesses: { ...said, [name]: null } }),
        ]],
        [`${name} denied`, ["fail kill-proven", killed({ witnesses: { ...said, [name]: false } })]],
      ]),
    ),
  });
});

Deno.test("the reason of a kill without proof names who is left", () => {
  const reason = (change: (kill: NonNullable<RunRecord["kill"]>) => void) =>
    grade(damaged((r) => r.kill !== null && change(r.kill))).reason;
  const two = [
    { pid: 7, startedSeconds: 1, name: "sleep" },
    { pid: 8, startedSeconds: 1, name: "sh" },
  ];
  assertEquals(
    reason((kill) => kill.survivors = two),
    "Something of the failed run is still alive: sleep (pid 7), sh (pid 8)",
  );
  assertEquals(
    reason((kill) => kill.witnesses.pipesClosed = false),
    "Something of the failed run is still alive: somebody holds its output open",
  );
  assertEquals(
    reason((kill) => kill.witnesses.pipesClosed = null),
    "Not all three signs of the failed run being gone were seen",
  );
});

Deno.test("not-applicable excuses a record only when nothing was run", () => {
  const excused = (): RunRecord => ({
    ...goodRecord(),
    notApplicable: 'The contract declares no lock. Add "lock": {"path": "run.lock"}',
    start: null,
    kill: null,
    fault: { ...goodRecord().fault, delivered: false, evidence: [], provenAtMs: null },
    artifactsAtFault: [],
    finishedAtFault: [],
    checkpointAtFault: null,
    effectsAtFault: null,
    attempts: [],
    artifacts: [],
    checkpoint: null,
    effects: null,
    quiet: null,
    recoveryMs: null,
    findings: [],
  });
  const text = excused().notApplicable ?? "";
  assertEquals(grade(excused()), {
    verdict: "not-applicable",
    reasonId: "not-applicable",
    reason: text,
    containmentBroken: false,
    checks: [{ id: "not-applicable", state: "skipped", text }],
  });
  const good = goodRecord();
  const resume = attempt("resume", { ...phase(1600, 2400), exitCode: 1 }, [3, 4]);
  const hidden: [string, Partial<RunRecord>][] = [
    ["unproven not-applicable", { start: good.start }],
    ["unproven not-applicable", { kill: kill() }],
    ["unproven not-applicable", { artifacts: outputs(2) }],
    ["unproven not-applicable", { artifactsAtFault: outputs(2) }],
    ["unproven not-applicable", { findings: [{ id: "bad", ok: false, text: "bad" }] }],
    ["unproven not-applicable", { attempts: [resume] }],
    ["fail resume-exit", { attempts: [resume], fault: good.fault, start: good.start }],
    ["fail containment-observed", { containment: null }],
  ];
  for (const [expected, part] of hidden) {
    assertEquals(inShort(grade({ ...excused(), ...part })), expected, Object.keys(part).join());
  }
  const changed = excused();
  if (changed.containment) changed.containment.sentinelIntact = false;
  assertEquals(inShort(grade(changed)), "fail sentinel");
  assertEquals(inShort(grade({ ...good, notApplicable: "no" })), "unproven not-applicable");
  assertEquals(
    inShort(grade(damaged((r) => {
      r.notApplicable = "no";
      r.artifacts.pop();
    }))),
    "fail artifacts-complete",
  );
});

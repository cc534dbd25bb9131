// The grader on each try to recover.

import { assertEquals, assertStringIncludes } from "@std/assert";
import {
  assertGrades,
  at,
  attempt,
  both,
  damaged,
  goodRecord,
  inShort,
  killedPhase,
  outputs,
  phase,
  sha,
} from "./_grader_fixtures.ts";
import { grade } from "./grader.ts";
import { endingOf } from "./grader_attempts.ts";
import type { AttemptRecord, PhaseRecord, RunRecord } from "./record.ts";

type Purpose = AttemptRecord["purpose"];

function of(record: RunRecord, purpose: Purpose): AttemptRecord {
  const found = record.attempts.find((each) => each.purpose === purpose);
  if (found === undefined) throw new RangeError(purpose);
  return found;
}

function ended(purpose: Purpose, part: Partial<PhaseRecord>) {
  return (record: RunRecord) => void Object.assign(of(record, purpose).phase, part);
}

/** A good record with one plain recovery in it. */
function plain(record: RunRecord): void {
  record.attempts = [attempt("resume", phase(1600, 2400), [3, 6])];
}

Deno.test("a record without a recovery has not recovered", () => {
  assertGrades({
    "no attempt": ["unproven resume-ran", (r) => {
      r.attempts = [];
      r.quiet = null;
    }],
    "only other attempts": [
      "unproven resume-ran",
      (r) => r.attempts = r.attempts.filter((each) => each.purpose !== "resume"),
    ],
    "killed half-way and never run again": ["unproven resume-ran", (r) => {
      r.attempts = [
        attempt("resume", phase(1200, 1500), [3, 6]),
        attempt("resume-killed", killedPhase(1600, 2400), [6, 6]),
      ];
    }],
    "a second one before the first": ["unproven resume-ran", (r) => {
      r.attempts = [
        attempt("resume-again", phase(2400, 2500), [6, 6]),
        attempt("resume", phase(1600, 2400), [6, 6]),
      ];
    }],
    "the plain case": ["pass", plain],
    "killed twice, then whole": ["pass", (r) => {
      r.attempts = [
        attempt("resume-killed", killedPhase(1000, 1100), [3, 4]),
        attempt("resume-killed", killedPhase(1200, 1300), [4, 5]),
        attempt("resume", phase(1600, 2400), [5, 6]),
      ];
    }],
  });
});

Deno.test("a recovery must end by itself with exit code 0", () => {
  for (const purpose of ["resume", "resume-again"] as const) {
    const id = `${purpose}-exit`;
    const signal = { exitCode: null, signal: "SIGSEGV" };
    assertGrades({
      "exit code 1": [`fail ${id}`, ended(purpose, { exitCode: 1 })],
      "exit code 137": [`fail ${id}`, ended(purpose, { exitCode: 137 })],
      "signal": [`fail ${id}`, ended(purpose, signal)],
      "run limit": [
        `fail ${id}`,
        ended(purpose, { ...signal, limitHit: "run", endedByLab: true }),
      ],
      "idle limit": [
        `fail ${id}`,
        ended(purpose, { ...signal, limitHit: "idle", endedByLab: true }),
      ],
      "limit, although it then ended well": [`fail ${id}`, ended(purpose, { limitHit: "run" })],
      "limit, and its end was not seen": [
        `fail ${id}`,
        ended(purpose, { limitHit: "run", exitCode: null, endedMs: null }),
      ],
      "start error": [`fail ${id}`, ended(purpose, { exitCode: null, startError: "not found" })],
      "end not seen": [`unproven ${id}`, ended(purpose, { exitCode: null, endedMs: null })],
      "ended, nobody knows how": [`unproven ${id}`, ended(purpose, { exitCode: null })],
      "broken off by the lab": [`unproven ${id}`, ended(purpose, { ...signal, endedByLab: true })],
      "broken off by the lab with exit 0": [`unproven ${id}`, ended(purpose, { endedByLab: true })],
    });
  }
  assertGrades({
    "one of two recoveries": ["fail resume-exit", (r) => {
      plain(r);
      r.attempts.unshift(attempt("resume", { ...phase(1000, 1200), exitCode: 2 }, [3, 3]));
    }],
    "a recovery that takes long": ["pass", (r) => {
      plain(r);
      at(r.attempts, 0).phase.endedMs = 6_000_000;
      r.cost.wallMs = 6_001_000;
      r.recoveryMs = 5_999_000;
    }],
  });
});

Deno.test("the reason tells how a recovery ended and what it said last", () => {
  const text = (part: Partial<PhaseRecord>) => grade(damaged(ended("resume", part))).reason;
  assertEquals(
    text({ exitCode: 3, stderrTail: "working\ncannot read state.json\n" }),
    "The recovery ended with exit code 3; it said: cannot read state.json",
  );
  assertEquals(text({ exitCode: 3, stderrTail: "" }), "The recovery ended with exit code 3");
  assertStringIncludes(text({ exitCode: 3, stderrTail: "x".repeat(5000) }), "x".repeat(200));
  assertEquals(text({ exitCode: 3, stderrTail: "x".repeat(5000) }).length < 300, true);
  const base = phase(0, 1);
  const table: [Partial<PhaseRecord>, string][] = [
    [{}, "ended with exit code 0"],
    [{ exitCode: null, signal: "SIGTERM" }, "was ended by SIGTERM"],
    [{ exitCode: null }, "was not seen to end"],
    [{ limitHit: "run" }, "did not end within the run limit and was ended"],
    [{ limitHit: "idle" }, "made no progress within the idle limit and was ended"],
    [{ exitCode: null, startError: "no such file" }, "could not be started: no such file"],
  ];
  for (const [part, words] of table) assertEquals(endingOf({ ...base, ...part }), words);
});

Deno.test("nobody of any recovery may be left", () => {
  const ids = {
    "stand-down": "stand-down-clean",
    "resume-killed": "resume-killed",
    "resume": "resume-clean",
    "resume-again": "resume-again-clean",
  } as const;
  for (const [purpose, id] of Object.entries(ids) as [Purpose, string][]) {
    assertGrades({
      "survivor": [
        `fail ${id}`,
        (r) => of(r, purpose).kill.survivors.push({ pid: 5, startedSeconds: 1, name: "sleep" }),
      ],
      "pipe held": [`fail ${id}`, (r) => of(r, purpose).kill.witnesses.pipesClosed = false],
      "unheard": [`unproven ${id}`, (r) => of(r, purpose).kill.witnesses.groupEmpty = null],
      "nobody seen": [`unproven ${id}`, (r) => of(r, purpose).kill.processes = []],
    });
  }
});

Deno.test("a recovery that was to be killed half-way must have been killed by the lab", () => {
  assertGrades({
    "ended by itself": ["unproven resume-killed", ended("resume-killed", { endedByLab: false })],
  });
});

Deno.test("a second recovery must touch nothing", () => {
  const id = "fail resume-again-idle";
  // The final look sees the same, so that only this check can tell.
  const now = (change: (artifacts: RunRecord["artifacts"]) => void) => (r: RunRecord) => {
    r.finishedAtFault = [];
    r.artifactsAtFault = [];
    change(of(r, "resume-again").artifactsAfter);
    change(r.artifacts);
  };
  assertGrades({
    "other content": [id, now((list) => Object.assign(at(list, 1), { sha256: "b".repeat(64) }))],
    "written again": [id, now((list) => at(list, 1).mtimeMs++)],
    "replaced by the same": [id, now((list) => at(list, 1).inode = 99)],
    "lost one": ["fail resume-again-idle", now((list) => list.pop())],
    "made one": ["fail resume-again-idle", now((list) => list.push(at(outputs(7), 6)))],
    "in another order": ["pass", now((list) => list.reverse())],
  });
  const given = grade(damaged(now((list) => {
    at(list, 1).mtimeMs++;
    list.pop();
  })));
  assertEquals(
    given.reason,
    'A second recovery touched 2 finished output(s), the first is "out/2.md"',
  );
});

Deno.test("a recovery beside a live owner must leave the lock and the outputs alone", () => {
  const lock = (lockBefore: string | null, lockAfter: string | null) => (r: RunRecord) => {
    Object.assign(of(r, "stand-down"), { lockBefore, lockAfter });
  };
  const after = (change: (artifacts: RunRecord["artifacts"]) => void) => (r: RunRecord) => {
    change(of(r, "stand-down").artifactsAfter);
  };
  assertGrades({
    "lock removed": ["fail live-lock-respected", lock("lock", null)],
    "lock taken over": ["fail live-lock-respected", lock("lock", "mine")],
    "lock emptied, as the shell does before flock": [
      "unproven live-lock-respected",
      lock("lock", sha("")),
    ],
    "lock emptied, and then it worked": ["fail live-lock-respected", (r) => {
      lock("lock", sha(""))(r);
      after((list) => list.push(at(outputs(4), 3)))(r);
    }],
    "lock emptied, and called that success": [
      "fail live-lock-respected",
      both(lock("lock", sha("")), ended("stand-down", { exitCode: 0 })),
    ],
    "no lock at all": ["unproven live-lock-respected", lock(null, null)],
    "the lock was made meanwhile": ["unproven live-lock-respected", lock(null, "mine")],
    "made an output": ["fail live-owner-respected", after((list) => list.push(at(outputs(4), 3)))],
    "wrote an output again": ["fail live-owner-respected", after((list) => at(list, 0).mtimeMs++)],
    "removed an output": ["fail live-owner-respected", after((list) => list.pop())],
    "did not even start": [
      "unproven live-owner-respected",
      ended("stand-down", { exitCode: null, startError: "not found" }),
    ],
    // How it stands down is its own affair.
    "exit code 0": ["pass", ended("stand-down", { exitCode: 0 })],
    "waits until it is ended": [
      "pass",
      ended("stand-down", {
        exitCode: null,
        signal: "SIGTERM",
        endedByLab: true,
        limitHit: "idle",
      }),
    ],
    "a check that says other words": ["pass", (r) => {
      at(of(r, "stand-down").artifactsBefore, 0).problems = ["took 12 ms"];
      at(of(r, "stand-down").artifactsAfter, 0).problems = ["took 13 ms"];
    }],
  });
});

Deno.test("the reasons say what became of the lock and the outputs", () => {
  const reason = (damage: (r: RunRecord) => void) => grade(damaged(damage)).reason;
  const lock = (lockBefore: string | null, lockAfter: string | null) => (r: RunRecord) => {
    Object.assign(of(r, "stand-down"), { lockBefore, lockAfter });
  };
  assertEquals(reason(lock("a", "b")), "The lock of a live owner was removed or changed");
  assertEquals(reason(lock(null, null)), "There was no lock of a live owner to respect");
  assertEquals(
    reason((r) => of(r, "stand-down").artifactsAfter.pop()),
    'The recovery worked on "out/3.md" although the lock\'s owner is alive',
  );
  assertEquals(
    reason(ended("stand-down", { exitCode: null, startError: "not found" })),
    "The recovery could not be started: not found, so it could not stand down",
  );
});

Deno.test("attempts of a record without a failure do not make it a pass", () => {
  const record = damaged((r) => {
    r.fault.delivered = false;
    r.attempts = [];
    r.recoveryMs = null;
  });
  assertEquals(inShort(grade(record)), "unproven fault-delivered");
  const stateOf = (r: RunRecord) =>
    grade(r).checks.find((check) => check.id === "resume-ran")?.state;
  assertEquals(stateOf(record), "skipped");
  record.attempts = goodRecord().attempts.slice(0, 2);
  assertEquals(stateOf(record), "unknown");
  record.attempts = [];
  record.fault.delivered = true;
  assertEquals(stateOf(record), "unknown");
  assertEquals(goodRecord().attempts.length, 4);
});

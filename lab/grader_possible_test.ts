// Impossible evidence is refused.

import { assertEquals, assertStringIncludes } from "@std/assert";
import {
  assertGrades,
  at,
  attempt,
  damaged,
  goodRecord,
  inShort,
  output,
  phase,
  sha,
} from "./_grader_fixtures.ts";
import { grade } from "./grader.ts";
import { possibleCheck } from "./grader_possible.ts";
import type { PhaseRecord, RunRecord } from "./record.ts";

/** Each damage alone makes a record impossible, and the text says why. */
function assertImpossible(table: Record<string, (record: RunRecord) => void>): void {
  for (const [words, damage] of Object.entries(table)) {
    const record = damaged(damage);
    const check = possibleCheck(record);
    assertEquals(check.state, "unknown", words);
    assertEquals(check.text, `The record contradicts itself, so it proves nothing: ${words}`);
    assertEquals(["unproven", "fail"].includes(grade(record).verdict), true, words);
  }
}

function resume(part: Partial<PhaseRecord>) {
  return (record: RunRecord) => void Object.assign(at(record.attempts, 2).phase, part);
}

Deno.test("a record that contradicts itself is unproven, and says so", () => {
  const given = grade(damaged((r) => at(r.attempts, 2).phase.startedMs = 2500));
  assertEquals(inShort(given), "unproven record-possible");
  assertStringIncludes(given.reason, "resume ended before it started");
  assertEquals(possibleCheck(goodRecord()).state, "ok");
});

Deno.test("a command cannot end before it starts, nor in two ways", () => {
  assertImpossible({
    "resume ended before it started": resume({ startedMs: 2401 }),
    "the start ended before it started": (r) => void Object.assign(r.start ?? {}, { endedMs: 99 }),
    "the control run ended before it started": (r) => {
      Object.assign(r.control?.phase ?? {}, { startedMs: 800 });
    },
    "resume ended with an exit code and by a signal": resume({ signal: "SIGKILL" }),
    "resume ended, but at no time": resume({ endedMs: null }),
    "resume ended, but could not be started": resume({ startError: "no such file" }),
    "the start ended, but could not be started": (r) => {
      Object.assign(r.start ?? {}, { startError: "no such file" });
    },
  });
  assertGrades({ "at once": ["pass", resume({ startedMs: 2400, endedMs: 2400 })] });
});

Deno.test("nothing can happen after the end of the whole run", () => {
  assertImpossible({
    "resume ran when the whole run was over (5000 ms)": (r) => {
      r.attempts.pop();
      resume({ startedMs: 5021, endedMs: 5022 })(r);
      r.recoveryMs = null;
    },
    "resume-again ran when the whole run was over (5000 ms)": (r) => {
      at(r.attempts, 3).phase.endedMs = 5021;
    },
    "the start ran when the whole run was over (0 ms)": (r) => r.cost.wallMs = 0,
    "the quiet period is longer than the whole run": (r) =>
      r.quiet = { observedMs: 5021, changed: [] },
    "recovery took until 5021 ms, but the whole run took 5000 ms": (r) => r.recoveryMs = 4071,
    "recovery is timed from a failure that was never proven": (r) => r.fault.provenAtMs = null,
    "processes were ended when the whole run was over": (r) => {
      Object.assign(r.kill ?? {}, { elapsedMs: 5021 });
    },
    "the work was whole before the recovery began": (r) => r.recoveryMs = 29,
    "the failure was proven when the whole run was over": (r) => {
      r.fault.provenAtMs = 5021;
      r.recoveryMs = null;
      at(r.attempts, 2).phase.endedMs = null;
      at(r.attempts, 2).phase.exitCode = null;
    },
    "it ended at 2026-06-01T09:59:59.999Z, before it started at 2026-06-01T10:00:00.000Z": (r) => {
      r.endedAt = "2026-06-01T09:59:59.999Z";
    },
  });
  assertGrades({
    "rounded times": ["pass", (r) => {
      at(r.attempts, 3).phase.endedMs = 5020;
      r.recoveryMs = 4070;
    }],
    "a run that began and ended in one moment": ["pass", (r) => r.endedAt = r.startedAt],
  });
});

Deno.test("a recovery follows the job, and a second one follows the first", () => {
  assertImpossible({
    "stand-down started before the job itself": (r) => at(r.attempts, 0).phase.startedMs = 79,
    "resume-again started before the recovery had ended": (r) => {
      at(r.attempts, 3).phase.startedMs = 2379;
    },
    "processes were ended when the whole run was over": (r) => {
      at(at(r.attempts, 1).kill.signals, 0).atMs = 5021;
    },
  });
  assertGrades({
    "a recovery beside the job that it recovers": ["pass", (r) => {
      r.attempts.splice(0, 2);
      at(r.attempts, 0).phase.startedMs = 500;
    }],
  });
});

Deno.test("a failure cannot be proven before the job ran or after it recovered", () => {
  assertImpossible({
    "the failure was proven only after the recovery had ended": (r) => {
      r.fault.provenAtMs = 2421;
      r.recoveryMs = 100;
    },
    "a job that never ran was made to fail": (r) => r.start = null,
    "the failure was proven before the job had started": (r) => {
      r.fault.provenAtMs = 79;
      r.recoveryMs = 2300;
    },
  });
  const unstarted = damaged((r) => {
    r.start = { ...phase(100, 100), exitCode: null, startError: "no such file" };
  });
  assertStringIncludes(possibleCheck(unstarted).text, "a job that never ran was made to fail");
  assertGrades({
    "proven while the recovery runs beside the first run": ["pass", (r) => {
      r.fault.provenAtMs = 2000;
      r.recoveryMs = 400;
    }],
    "a drill whose failure is there before its job": ["pass", (r) => {
      r.kind = "drill";
      r.half = "repaired";
      r.start = null;
      r.fault.provenAtMs = 1;
      r.recoveryMs = 2300;
    }],
    "a stand-down before the proof": ["pass", (r) => {
      r.fault.provenAtMs = 1150;
      r.recoveryMs = 1200;
    }],
    "two recoveries, the failure between them": ["pass", (r) => {
      r.attempts = [
        attempt("resume", phase(300, 500), [3, 3]),
        attempt("resume", phase(1600, 2400), [3, 6]),
      ];
    }],
  });
});

Deno.test("times that differ by no more than their rounding are no contradiction", () => {
  assertGrades({
    "a recovery that starts with its job": ["pass", (r) => at(r.attempts, 0).phase.startedMs = 85],
    "a proof at the start": ["pass", (r) => {
      r.fault.provenAtMs = 85;
      r.recoveryMs = 2300;
    }],
    "a proof at the end of the recovery": ["pass", (r) => {
      r.fault.provenAtMs = 2415;
      r.recoveryMs = 10;
    }],
    "a proof at the end of everything": ["pass", (r) => {
      r.attempts = [attempt("resume", phase(1600, 4990), [3, 6])];
      r.fault.provenAtMs = 4995;
      r.recoveryMs = 5;
    }],
  });
});

Deno.test("a failure that did not come contradicts nothing", () => {
  const stateOf = (damage: (record: RunRecord) => void) => possibleCheck(damaged(damage)).state;
  const never = (r: RunRecord) => {
    r.recoveryMs = null;
    r.start = null;
  };
  assertEquals(
    stateOf((r) => {
      never(r);
      r.fault.delivered = false;
    }),
    "ok",
  );
  assertEquals(
    stateOf((r) => {
      never(r);
      r.fault.provenAtMs = null;
    }),
    "ok",
  );
});

Deno.test("one file is listed once, with one content of one length", () => {
  const lists: Record<string, (r: RunRecord) => RunRecord["artifacts"]> = {
    "at the failure": (r) => r.artifactsAtFault,
    "at the end": (r) => r.artifacts,
    "of the control run": (r) => r.control?.artifacts ?? [],
    "before resume": (r) => at(r.attempts, 2).artifactsBefore,
    "after stand-down": (r) => at(r.attempts, 0).artifactsAfter,
  };
  for (const [when, list] of Object.entries(lists)) {
    assertImpossible({
      [`one output is listed twice among those ${when}`]: (r) => list(r).push(at(list(r), 1)),
      [`"out/2.md" ${when} has 7 bytes and the hash of another length`]: (r) => {
        at(list(r), 1).bytes = 7;
        // What comes first sets the length, so the others must not come before it.
        if (when !== "at the failure") r.artifactsAtFault[1] = output("out/2.md", "other");
        if (when !== "at the failure" && when !== "at the end") r.artifacts[1] = output("x", "y");
        at(list(r), 1).sha256 = at(list(r), 0).sha256;
      },
      [`"out/2.md" ${when} has 0 bytes and the hash of another length`]: (r) => {
        Object.assign(at(list(r), 1), { bytes: 0, sha256: sha("not nothing") });
      },
      [`"out/2.md" ${when} has 9 bytes and the hash of another length`]: (r) => {
        Object.assign(at(list(r), 1), { bytes: 9, sha256: sha("") });
      },
    });
  }
  assertImpossible({
    "one output is called finished twice": (r) => r.finishedAtFault.push("out/1.md"),
    '"out/2.md" is called finished, but it is cut': (r) => {
      at(r.artifactsAtFault, 1).problems.push("it is cut");
    },
  });
  const unreadable = damaged((r) => {
    Object.assign(at(r.artifacts, 5), { sha256: sha(""), problems: ["it cannot be read"] });
  });
  assertEquals(possibleCheck(unreadable).state, "ok");
});

Deno.test("effects must add up to what is said about them", () => {
  const effects = (part: Partial<NonNullable<RunRecord["effects"]>>) => (r: RunRecord) =>
    void Object.assign(r.effects ?? {}, part);
  assertImpossible({ "5 effects are not what is said about them": effects({ total: 5 }) });
  assertImpossible({ "7 effects are not what is said about them": effects({ total: 7 }) });
  assertImpossible({ "6 effects are not what is said about them": effects({ unreadable: 1 }) });
  assertImpossible({
    "6 effects are not what is said about them": effects({ doubled: [{ key: "1", count: 2 }] }),
  });
  assertImpossible({
    "9 effects are not what is said about them": effects({
      keys: 1,
      total: 9,
      doubled: [{ key: "1", count: 2 }, { key: "2", count: 2 }],
    }),
  });
  const doubled = [{ key: "1", count: 3 }, { key: "2", count: 2 }];
  const record = damaged(effects({ doubled, unreadable: 1, total: 10 }));
  assertEquals(possibleCheck(record).state, "ok");
});

Deno.test("what is graded by must be what was declared", () => {
  const declared = (artifacts: Record<string, unknown>) => (r: RunRecord) => {
    r.contract.declared = JSON.parse(JSON.stringify({ artifacts }));
  };
  assertImpossible({
    "it is graded by another count than declared": declared({ count: 7 }),
    "it is graded by another emptyAllowed than declared": declared({
      count: 6,
      emptyAllowed: true,
    }),
    'the declared content check "sameAsControl" was not done': declared({
      count: 6,
      sameAsControl: true,
    }),
    'the declared content check "minBytes" was not done': declared({ count: 6, minBytes: 1 }),
    'the declared content check "check" was not done': declared({ count: 6, check: ["true"] }),
  });
  assertImpossible({ "it is graded by another count than declared": declared({}) });
  assertImpossible({
    "a drill has halves, and nothing else has": (r) => r.half = "repaired",
  });
  assertImpossible({ "a drill has halves, and nothing else has": (r) => r.kind = "drill" });
  assertImpossible({
    "a control run was made and left out": (r) => r.controlSkipped = "it costs money",
    "the control run was left out, although it was declared": (r) => {
      r.control = null;
      r.controlSkipped = "it costs money";
      r.contract.declared = { artifacts: { count: 6 }, control: true };
    },
  });
  assertGrades({
    "a check that is declared as off": ["pass", declared({ count: 6, sameAsControl: false })],
    "no list of outputs in it": ["pass", (r) => r.contract.declared = { units: 6 }],
  });
});

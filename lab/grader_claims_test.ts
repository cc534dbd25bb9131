// The grader on checkpoint and effects.

import { assertEquals } from "@std/assert";
import { assertGrades, both, checkpoint, damaged, type GradeTable } from "./_grader_fixtures.ts";
import { grade } from "./grader.ts";
import type { CheckpointRecord, EffectsRecord, RunRecord } from "./record.ts";

/** The final checkpoint, changed. */
function final(part: Partial<CheckpointRecord>) {
  return (r: RunRecord) => void Object.assign(r.checkpoint ?? {}, part);
}

/** The control run's checkpoint, changed. */
function whole(part: Partial<CheckpointRecord>) {
  return (r: RunRecord) => void Object.assign(r.control?.checkpoint ?? {}, part);
}

/** Nothing is known of the control run's checkpoint. */
function uncompared(r: RunRecord) {
  delete r.control?.checkpoint;
}

function effects(part: Partial<EffectsRecord>) {
  return (r: RunRecord) => void Object.assign(r.effects ?? {}, part);
}

const BAD = "fail checkpoint-in-step";
const UNKNOWN = "unproven checkpoint-in-step";
const ABSENT: Partial<CheckpointRecord> = {
  present: false,
  bytes: null,
  sha256: null,
  parses: null,
  claims: null,
  comparedBy: null,
  problem: "it is not there",
};
const TORN = { parses: false, claims: null, comparedBy: null, problem: "it is cut" };
const UNTOLD = { claims: null, comparedBy: null };

Deno.test("a checkpoint must agree with the disk", () => {
  const table: GradeTable = {
    "torn": [BAD, final(TORN)],
    "claims what is not there": [BAD, final({ claimedAbsent: ["out/6.md"] })],
    "does not know of one": [BAD, final({ unclaimedPresent: ["out/6.md"] })],
    "claims fewer": [BAD, final({ claims: 5 })],
    "claims more": [BAD, final({ claims: 7 })],
    "claims none": [BAD, final({ claims: 0 })],
    "nothing to compare in it": [UNKNOWN, final(UNTOLD)],
    "absent": [UNKNOWN, final(ABSENT)],
    "could not be read": [
      UNKNOWN,
      final({ ...ABSENT, present: true, problem: "it is not a file that can be read as a whole" }),
    ],
    "declared, and nobody looked": [UNKNOWN, (r) => r.checkpoint = null],
    "not declared": ["pass", (r) => {
      r.checkpoint = null;
      r.contract.declared = {};
    }],
    "no count to compare with": ["unproven artifacts-declared", (r) => {
      r.contract.count = null;
      r.contract.declared = {};
    }],
  };
  assertGrades(table);
  // The same without a control run that tells how a whole one looks.
  for (const [name, [expected, damage]] of Object.entries(table)) {
    assertGrades({ [`${name}, uncompared`]: [expected, both(uncompared, damage)] });
  }
});

Deno.test("the reason names what is wrong with the checkpoint, and what to do", () => {
  const reason = (part: Partial<CheckpointRecord>) => grade(damaged(final(part))).reason;
  const head = "The checkpoint does not agree with the disk: ";
  assertEquals(reason(TORN), `${head}it is cut`);
  assertEquals(
    reason({ claimedAbsent: ["out/5.md", "out/6.md"] }),
    `${head}it claims out/5.md, out/6.md, which the disk does not hold`,
  );
  assertEquals(reason({ unclaimedPresent: ["out/6.md"] }), `${head}it does not know of out/6.md`);
  assertEquals(reason({ claims: 5 }), `${head}it claims 5 of 6`);
  assertEquals(
    reason(ABSENT),
    'There is no checkpoint at "state.json" at the end. Where the job removes it when all is done, ' +
      'say so: "checkpoint": {"goneWhenDone": true}',
  );
  assertEquals(
    reason({ claimedAbsent: ["1 more than the disk holds"] }),
    `${head}it claims 1 more than the disk holds`,
  );
  assertEquals(
    reason(UNTOLD),
    "The checkpoint could not be compared with the disk: nothing in it says which units are " +
      'done. Say where the finished units stand in it: "checkpoint": {"doneAt": "/…"}',
  );
});

Deno.test("a checkpoint that is declared to be gone when all is done may be gone, or be right", () => {
  const declared = (r: RunRecord) => {
    r.contract.declared = { checkpoint: { path: "state.json", goneWhenDone: true } };
  };
  assertGrades({
    "gone": ["pass", both(final(ABSENT), declared)],
    "there, and torn": ["fail checkpoint-in-step", both(final(TORN), declared)],
    "gone, and not declared so": [UNKNOWN, final(ABSENT)],
  });
});

Deno.test("a checkpoint that only our reading finds wrong is not held against the job", () => {
  const lastIndex: Partial<CheckpointRecord> = {
    claims: 5,
    comparedBy: "number",
    unclaimedPresent: ["1 more"],
  };
  const rows: Partial<CheckpointRecord> = {
    claims: 900,
    comparedBy: "entries",
    claimedAbsent: ["894 more"],
  };
  assertGrades({
    "it names the last unit from 0 on, as after the control run": [
      "pass",
      both(final(lastIndex), whole(lastIndex)),
    ],
    "it counts rows, as after the control run": ["pass", both(final(rows), whole(rows))],
    "it counts rows, but fewer": [UNKNOWN, both(final({ ...rows, claims: 890 }), whole(rows))],
    "the same number, but by another reading": [
      UNKNOWN,
      both(final(lastIndex), whole({ ...lastIndex, comparedBy: "entries" })),
    ],
    "it only names the last one, as after the control run": [
      UNKNOWN,
      both(
        final({ claims: 1, unclaimedPresent: ["out/1.md"] }),
        whole({ claims: 1, unclaimedPresent: ["out/1.md"] }),
      ),
    ],
    "a line that says how far it is, as after the control run": [
      UNKNOWN,
      both(final({ ...rows, claims: 1 }), whole({ ...rows, claims: 1 })),
    ],
    "it counts, and the control run's fits": [BAD, final(lastIndex)],
    "it counts, and nothing tells whether that is right": [
      UNKNOWN,
      both(uncompared, final(lastIndex)),
    ],
    "entries, and nothing tells whether that is right": [UNKNOWN, both(uncompared, final(rows))],
    "it names, and nothing is needed to tell": [
      BAD,
      both(uncompared, final({ ...lastIndex, comparedBy: "names" })),
    ],
    "nobody says how it was compared": [
      BAD,
      both(uncompared, final(lastIndex), (r) => delete r.checkpoint?.comparedBy),
    ],
    "no claims in either": [
      UNKNOWN,
      both(
        final({ claims: 0, unclaimedPresent: ["6"] }),
        whole({ claims: 0, unclaimedPresent: ["6"] }),
      ),
    ],
    "a format that we cannot read, other bytes": [UNKNOWN, both(final(TORN), whole(TORN))],
    "a format that we cannot read, the same bytes": [
      "pass",
      both(
        final({ ...TORN, parses: null, sha256: checkpoint(6).sha256 }),
        whole({ ...TORN, parses: null, sha256: checkpoint(6).sha256 }),
      ),
    ],
    "read well after the control run, cut now": [
      BAD,
      both(final({ ...TORN, parses: null }), whole(UNTOLD)),
    ],
    "cannot even be opened now": [UNKNOWN, final({ ...TORN, parses: null, sha256: null })],
    "a job that removes it at the end": ["pass", both(final(ABSENT), whole(ABSENT))],
    "removed after the control run only": ["pass", whole(ABSENT)],
    "removed after the control run only, and wrong": [
      UNKNOWN,
      both(whole(ABSENT), final({ claimedAbsent: ["out/6.md"] })),
    ],
    "torn without a control run": [
      BAD,
      both(uncompared, final({ ...TORN, comparedBy: "entries" })),
    ],
    "not looked at after the control run": [
      BAD,
      both((r) => {
        if (r.control) r.control.checkpoint = null;
      }, final({ claims: 5 })),
    ],
  });
});

Deno.test("each effect must have happened, and once", () => {
  const id = "effects-complete";
  assertGrades({
    "doubled": ["fail effects-once", effects({ doubled: [{ key: "2", count: 3 }], total: 8 })],
    "missing": [`fail ${id}`, effects({ missing: ["6"], keys: 5, total: 5 })],
    "all missing": [`fail ${id}`, effects({ missing: ["1", "2"], keys: 0, total: 0 })],
    "unreadable": [`unproven ${id}`, effects({ unreadable: 1, total: 7 })],
    "unknown": [`unproven ${id}`, effects({ unknown: ["4"] })],
    "not one": [`unproven ${id}`, effects({ keys: 0, total: 0 })],
    "sent again under another key": [
      `unproven ${id}`,
      effects({ keys: 7, total: 7, unexpected: ["3-again"] }),
    ],
    "keys that are new in each run": [
      `unproven ${id}`,
      effects({ missing: ["a", "b"], unexpected: ["c", "d"], keys: 2, total: 2 }),
    ],
    "some keys new, some missing": [
      `fail ${id}`,
      effects({ missing: ["a"], unexpected: ["c"], keys: 2, total: 2 }),
    ],
    "missing and unreadable": [
      `fail ${id}`,
      effects({ missing: ["6"], unreadable: 1, keys: 5, total: 6 }),
    ],
    "doubled and unreadable": [
      "fail effects-once",
      effects({ doubled: [{ key: "2", count: 2 }], unreadable: 1, total: 8 }),
    ],
    "declared, and nobody looked": [`unproven ${id}`, (r) => r.effects = null],
    "not declared": ["pass", (r) => {
      r.effects = null;
      r.contract.declared = {};
    }],
    "more effects than outputs, as in the control run": ["pass", effects({ keys: 9, total: 9 })],
    "fewer effects than outputs, as in the control run": ["pass", effects({ keys: 1, total: 1 })],
    "the log was moved away": [`unproven ${id}`, (r) => r.effectsLogReplaced = true],
    "moved away, and effects missing in the new one": [
      `unproven ${id}`,
      both(effects({ missing: ["6"], keys: 5, total: 5 }), (r) => r.effectsLogReplaced = true),
    ],
    "moved away, and one doubled in the new one": [
      "fail effects-once",
      both(effects({ doubled: [{ key: "2", count: 2 }], total: 7 }), (r) => {
        r.effectsLogReplaced = true;
      }),
    ],
    "more than outputs, and no control run that tells": [
      `unproven ${id}`,
      both(effects({ keys: 7, total: 7 }), (r) => {
        r.control = null;
        r.controlSkipped = "it costs money";
      }),
    ],
    "the same, and the number is declared": [
      "pass",
      both(effects({ keys: 7, total: 7 }), (r) => {
        r.control = null;
        r.controlSkipped = "it costs money";
        r.contract.declared = { effects: { path: "sent.log", count: 7 } };
        r.checkpoint = null;
      }),
    ],
    "fewer, and no control run that tells": [
      `unproven ${id}`,
      both(effects({ keys: 5, total: 5 }), (r) => {
        r.control = null;
        r.controlSkipped = "it costs money";
      }),
    ],
    "as many, and no control run": ["pass", (r) => {
      r.control = null;
      r.controlSkipped = "it costs money";
    }],
    "a record from before unexpected keys were noted": [
      "pass",
      (r) => delete r.effects?.unexpected,
    ],
  });
});

Deno.test("the reason names the effect", () => {
  const reason = (part: Partial<EffectsRecord>) => grade(damaged(effects(part))).reason;
  assertEquals(
    reason({ doubled: [{ key: "2", count: 3 }], total: 8 }),
    'The effect "2" happened 3 times',
  );
  assertEquals(reason({ missing: ["6"], keys: 5 }), 'The effect "6" never happened');
  assertEquals(
    reason({ unreadable: 2, total: 8 }),
    "Of 2 effect(s) nobody can say whether they happened: unreadable lines",
  );
  assertEquals(
    reason({ unknown: ["4", "5"] }),
    "Of 2 effect(s) nobody can say whether they happened: 4, 5",
  );
  assertEquals(reason({ keys: 0, total: 0 }), 'Not one effect is noted in "sent.log"');
});

Deno.test("a drill's own words for what it keeps are not taken for a user's contract", () => {
  assertGrades({
    "drill": ["pass", (r) => {
      r.kind = "drill";
      r.half = "repaired";
      r.contract.declared = { checkpoint: true, effects: true, artifacts: { count: 99 } };
      r.checkpoint = r.effects = null;
    }],
    "no object": ["pass", (r) => {
      r.contract.declared = ["checkpoint"];
      r.checkpoint = r.effects = null;
    }],
  });
});

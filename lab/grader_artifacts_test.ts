// The grader on outputs: how many, whole, and untouched.

import { assertEquals } from "@std/assert";
import {
  assertGrades,
  at,
  both,
  checks,
  damaged,
  output,
  outputs,
  sha,
} from "./_grader_fixtures.ts";
import { grade } from "./grader.ts";
import { isRewritten } from "./grader_artifacts.ts";
import type { Artifact, RunRecord } from "./record.ts";

/** Changes the outputs as the recovery left them and as they are at the end. */
function left(change: (artifacts: Artifact[]) => void) {
  return (record: RunRecord) => {
    const { artifactsBefore, artifactsAfter } = at(record.attempts, 3);
    const { artifactsAfter: recovered } = at(record.attempts, 2);
    for (const list of [recovered, artifactsBefore, artifactsAfter, record.artifacts]) change(list);
  };
}

Deno.test("outputs must be as many as declared, each once", () => {
  const count = (value: number | null) => (r: RunRecord) => {
    r.contract.count = value;
    r.contract.declared = {};
    if (value !== null) r.control?.artifacts.splice(value);
  };
  const nothing = (r: RunRecord) => {
    left((list) => list.splice(0))(r);
    r.artifactsAtFault = [];
    r.finishedAtFault = [];
    r.checkpoint = r.effects = null;
  };
  assertGrades({
    "missing": ["fail artifacts-complete", left((list) => list.pop())],
    "all missing": ["fail artifacts-complete", left((list) => list.splice(0))],
    "listed twice": ["fail artifacts-once", left((list) => list.push(at(outputs(), 5)))],
    "listed twice, and one missing": [
      "fail artifacts-once",
      left((list) => list.splice(5, 1, at(outputs(), 4))),
    ],
    "one more": ["fail artifacts-once", left((list) => list.push(at(outputs(7), 6)))],
    "not declared": ["unproven artifacts-declared", count(null)],
    "zero declared": ["unproven artifacts-declared", both(count(0), nothing)],
    "not declared, and nothing there": [
      "unproven artifacts-declared",
      both(count(null), nothing),
    ],
    "the same content in several files": ["pass", (r) => {
      const same = (artifact: Artifact) =>
        Object.assign(artifact, output("x", "same\nEND\n"), {
          path: artifact.path,
          mtimeMs: artifact.mtimeMs,
          inode: artifact.inode,
        });
      r.artifacts.forEach(same);
      r.artifactsAtFault.forEach(same);
      r.control?.artifacts.forEach(same);
      for (const each of r.attempts) {
        [...each.artifactsBefore, ...each.artifactsAfter].forEach(same);
      }
    }],
  });
  assertEquals(
    grade(damaged(left((list) => list.pop()))).reason,
    "1 of 6 outputs are missing: out/6.md",
  );
  assertEquals(
    grade(damaged(left((list) => list.push(output("out/1 (copy).md"))))).reason,
    "7 outputs instead of 6: something was done twice or under another name: out/1 (copy).md",
  );
});

Deno.test("the right number does not hide one made twice under another name", () => {
  const renamed = left((list) => list.splice(5, 1, output("out/7.md")));
  assertGrades({
    "names that were stable": ["unproven artifacts-named", renamed],
    "names that differ in each run": [
      "pass",
      both(renamed, (r) => {
        r.control?.artifacts.forEach((each, i) => each.path = `out/run-1-${i}.md`);
      }),
    ],
    "names that differ in each run, and one content twice": [
      "unproven artifacts-named",
      (r) => {
        left((list) => list.splice(5, 1, { ...at(list, 4), path: "out/7.md", inode: 4007 }))(r);
        r.control?.artifacts.forEach((each, i) => each.path = `out/run-1-${i}.md`);
      },
    ],
    "the same, where the control run has that content twice as well": ["pass", (r) => {
      left((list) => list.splice(5, 1, { ...at(list, 4), path: "out/7.md", inode: 4007 }))(r);
      r.control?.artifacts.forEach((each, i) => each.path = `out/run-1-${i}.md`);
      const [first, second] = [4, 0].map((i) => at(r.control?.artifacts ?? [], i)) as [
        Artifact,
        Artifact,
      ];
      Object.assign(second, { sha256: first.sha256, bytes: first.bytes });
    }],
    "names of which some differ in each run": [
      "pass",
      both(renamed, (r) => {
        at(r.control?.artifacts ?? [], 0).path = "out/run-1-0.md";
      }),
    ],
    "nothing was there to tell": [
      "pass",
      both(renamed, (r) => {
        r.artifactsAtFault = [];
        r.finishedAtFault = [];
      }),
    ],
  });
  assertEquals(
    grade(damaged(renamed)).reason,
    '"out/7.md" is there, which the control run did not make, and "out/6.md" is not: perhaps one ' +
      "output was made twice and the other one not at all",
  );
});

Deno.test("each output must be whole", () => {
  const empty = left((list) =>
    list.splice(5, 1, { ...at(outputs(), 5), bytes: 0, sha256: sha("") })
  );
  const emptyControl = (r: RunRecord) =>
    void Object.assign(at(r.control?.artifacts ?? [], 5), { bytes: 0, sha256: sha("") });
  assertGrades({
    "a problem": ["fail artifacts-whole", left((list) => at(list, 4).problems.push("it is torn"))],
    "empty": ["fail artifacts-whole", empty],
    "empty and allowed": ["pass", both(checks(["endsWith"], true), empty, emptyControl)],
    "empty and allowed, but a problem": [
      "fail artifacts-whole",
      both(checks(["check"], true), empty, left((list) => at(list, 5).problems.push("no"))),
    ],
    "same as control": ["pass", checks(["sameAsControl"])],
    "not the same as control": [
      "fail artifacts-whole",
      both(checks(["sameAsControl"]), left((list) => list[5] = output("out/6.md", "other\nEND"))),
    ],
    "not made by control": [
      "fail artifacts-whole",
      both(checks(["sameAsControl"]), left((list) => list[5] = output("out/7.md"))),
    ],
    "no control to compare with": [
      "unproven artifacts-comparable",
      both(checks(["sameAsControl"]), (r) => {
        r.control = null;
        r.controlSkipped = "it costs money";
      }),
    ],
    "other content than control, which nobody asked about": [
      "pass",
      left((list) => list[5] = output("out/6.md", "written at noon\nEND\n")),
    ],
  });
  const textOf = (damage: (record: RunRecord) => void) =>
    grade(damaged(damage)).checks.find((check) => check.id === "artifacts-whole")?.text;
  const on = (names: string) => `Every output passes the content checks that are on (${names})`;
  assertEquals(textOf(checks([])), on("not empty"));
  assertEquals(textOf(checks(["minBytes", "check"])), on("not empty, minBytes, check"));
  assertEquals(textOf(checks([], true)), on("none"));
  assertEquals(
    grade(damaged(both(checks(["sameAsControl"]), left((list) => list[5] = output("out/7.md")))))
      .reason,
    '"out/7.md" is not whole: the control run did not make it',
  );
});

Deno.test("finished work must stay as it was", () => {
  const everywhere = (change: (artifact: Artifact) => void) => (r: RunRecord) => {
    for (const each of r.attempts) {
      for (const list of [each.artifactsBefore, each.artifactsAfter]) change(at(list, 1));
    }
    change(at(r.artifacts, 1));
  };
  const other = output("out/2.md", "longer text than before\nEND\n");
  const { bytes, sha256 } = other;
  const allAgain = (r: RunRecord) => {
    r.finishedAtFault = [];
    r.attempts = r.attempts.filter((each) => each.purpose === "resume");
    const [resume] = r.attempts as [RunRecord["attempts"][number]];
    resume.artifactsBefore = r.artifactsAtFault;
    for (const list of [resume.artifactsAfter, r.artifacts]) {
      for (const each of list) each.mtimeMs += 5;
    }
  };
  assertGrades({
    "other content": [
      "fail finished-untouched",
      everywhere((artifact) => Object.assign(artifact, { bytes, sha256 })),
    ],
    "gone": ["fail finished-untouched", (r) => {
      left((list) => list.splice(1, 1))(r);
      r.contract.count = 5;
      r.contract.declared = {};
      r.control?.artifacts.splice(1, 1);
    }],
    "written again": ["fail finished-rewritten", everywhere((artifact) => artifact.mtimeMs += 5)],
    "another file": ["fail finished-rewritten", everywhere((artifact) => artifact.inode = 1)],
    "not in the record": ["fail finished-untouched", (r) => r.finishedAtFault.push("out/9.md")],
    "what was not finished may change": ["pass", (r) => {
      r.finishedAtFault = ["out/1.md", "out/3.md"];
      everywhere((artifact) => Object.assign(artifact, { bytes, sha256 }))(r);
      at(r.control?.artifacts ?? [], 5).sha256 = sha("other, of the same length");
    }],
    "the same, where all others are the control run's": ["unproven artifacts-not-appended", (r) => {
      r.finishedAtFault = ["out/1.md", "out/3.md"];
      everywhere((artifact) => Object.assign(artifact, { bytes, sha256 }))(r);
    }],
    "the same, and the user says that outputs must be alike": ["fail artifacts-whole", (r) => {
      r.finishedAtFault = ["out/1.md", "out/3.md"];
      r.contract.contentChecks = ["sameAsControl"];
      everywhere((artifact) => Object.assign(artifact, { bytes, sha256 }))(r);
    }],
    "what was only likely finished": ["unproven finished-untouched", (r) => {
      r.finishedAtFault = ["out/1.md", "out/3.md"];
      r.likelyAtFault = ["out/2.md"];
      everywhere((artifact) => artifact.mtimeMs += 5)(r);
    }],
    "what was only likely finished, and left alone": ["pass", (r) => {
      r.finishedAtFault = ["out/1.md", "out/3.md"];
      r.likelyAtFault = ["out/2.md"];
    }],
    "everything made again, and nobody knows what was finished": [
      "unproven finished-untouched",
      allAgain,
    ],
    "everything made again, and all of it half before": ["pass", (r) => {
      allAgain(r);
      for (const old of r.artifactsAtFault) old.bytes = 3;
      for (const old of r.artifactsAtFault) old.sha256 = sha(`half of ${old.path}`);
    }],
    "one of those left alone": ["pass", (r) => {
      allAgain(r);
      const [first] = r.artifactsAtFault as [Artifact];
      for (const list of [r.artifacts, ...r.attempts.map((each) => each.artifactsAfter)]) {
        list[0] = first;
      }
    }],
    "nothing was finished": ["pass", (r) => {
      r.finishedAtFault = [];
      r.artifactsAtFault = [];
    }],
    "one output that grows until it is whole": ["pass", (r) => {
      const half = output("out/all.txt", "1\n2\n3\n");
      const whole = { ...output("out/all.txt", "1\n2\n3\n4\n5\n6\nEND\n"), mtimeMs: 1 };
      r.contract.count = 1;
      r.contract.declared = {};
      r.checkpoint = r.effects = null;
      r.artifactsAtFault = [half];
      r.finishedAtFault = [];
      r.attempts = r.attempts.filter((each) => each.purpose === "resume");
      Object.assign(at(r.attempts, 0), { artifactsBefore: [half], artifactsAfter: [whole] });
      r.artifacts = [whole];
      r.control?.artifacts.splice(0, 6, { ...whole, inode: 3 });
    }],
  });
  assertEquals(
    grade(damaged(everywhere((artifact) => artifact.inode = 1))).reason,
    "1 output(s) that were finished before the failure were made again, the first is " +
      '"out/2.md"',
  );
});

Deno.test("outputs of the recovery that are all unlike the control run's leave a doubt, unless they may be", () => {
  /** The outputs that the recovery made have other content. */
  const unlike = (paths: string[]) => (r: RunRecord) => {
    r.attempts = r.attempts.filter((each) => each.purpose === "resume");
    const [resume] = r.attempts as [RunRecord["attempts"][number]];
    resume.artifactsBefore = r.artifactsAtFault;
    for (const list of [resume.artifactsAfter, r.artifacts]) {
      for (const each of list) if (paths.includes(each.path)) each.sha256 = sha(`ne ${each.path}`);
    }
  };
  const made = ["out/4.md", "out/5.md", "out/6.md"];
  const declared = (sameAsControl: boolean) => (r: RunRecord) => {
    r.contract.declared = { artifacts: { paths: ["out/*.md"], count: 6, sameAsControl } };
  };
  const id = "unproven artifacts-repeatable";
  assertGrades({
    "all that it made": [id, unlike(made)],
    "all but one": ["pass", unlike(made.slice(1))],
    "only one was left to make": ["pass", (r) => {
      r.artifactsAtFault = outputs(5);
      r.finishedAtFault = r.artifactsAtFault.map((each) => each.path);
      unlike(["out/6.md"])(r);
    }],
    "those from before differ as well": ["pass", (r) => {
      unlike(made)(r);
      at(r.control?.artifacts ?? [], 0).sha256 = sha("other, of the same length");
    }],
    "nothing was finished": ["pass", (r) => {
      r.artifactsAtFault = [];
      r.finishedAtFault = [];
      unlike(made)(r);
    }],
    "the user says that they may differ": ["pass", both(unlike(made), declared(false))],
    "the user has not said it, but declared more": [
      id,
      both(unlike(made), (r) => {
        r.contract.declared = { artifacts: { paths: ["out/*.md"], count: 6 } };
      }),
    ],
    "no control run": [
      "pass",
      both(unlike(made), (r) => {
        r.control = null;
        r.controlSkipped = "it costs money";
      }),
    ],
  });
});

Deno.test("an output with a whole one behind the half one leaves a doubt", () => {
  const id = "unproven artifacts-not-appended";
  /** The third output had so many bytes at the failure, and has so many now. */
  const grew = (oldBytes: number, nowBytes: number) => (r: RunRecord) => {
    r.attempts = r.attempts.filter((each) => each.purpose === "resume");
    const [resume] = r.attempts as [RunRecord["attempts"][number]];
    r.finishedAtFault = ["out/1.md", "out/2.md"];
    Object.assign(at(r.artifactsAtFault, 2), { bytes: oldBytes, sha256: sha(`x${oldBytes}`) });
    resume.artifactsBefore = r.artifactsAtFault;
    for (const list of [resume.artifactsAfter, r.artifacts]) {
      Object.assign(at(list, 2), { bytes: nowBytes, sha256: sha(`x${nowBytes}`), mtimeMs: 5 });
    }
  };
  const varying = (r: RunRecord) => {
    at(r.control?.artifacts ?? [], 5).sha256 = sha("other, of the same length");
  };
  const { bytes } = output("out/3.md");
  assertGrades({
    "exactly": [id, both(grew(7, 7 + bytes), varying)],
    "one byte less, where outputs differ from run to run": [
      "pass",
      both(grew(7, 6 + bytes), varying),
    ],
    "much longer, where all others are alike": [id, grew(7, 6 + bytes)],
    "a little longer": ["pass", grew(7, bytes + 1)],
    "it was not there at the failure": [
      "pass",
      both(grew(7, 7 + bytes), varying, (r) => {
        r.artifactsAtFault.splice(2, 1);
        at(r.attempts, 0).artifactsBefore = r.artifactsAtFault;
      }),
    ],
  });
});

Deno.test("isRewritten() sees another file and another time, and nothing in a lost one", () => {
  const [one] = outputs(1) as [Artifact];
  assertEquals(isRewritten(one, { ...one }), false);
  assertEquals(isRewritten(one, { ...one, mtimeMs: 1 }), true);
  assertEquals(isRewritten(one, { ...one, inode: null }), true);
  assertEquals(isRewritten(one, undefined), false);
});

// The grader on what the failure left half done, and on what happens after "success".

import { assertEquals } from "@std/assert";
import { assertGrades, at, both, checks, damaged, output, sha } from "./_grader_fixtures.ts";
import { grade } from "./grader.ts";
import type { Artifact, RunRecord } from "./record.ts";

Deno.test("half a file that the failure left and nobody touched is not taken for a whole one", () => {
  const half = output("out/3.md", "text of o\nEND\n");
  const torn = (r: RunRecord) => {
    r.finishedAtFault = ["out/1.md", "out/2.md"];
    r.artifactsAtFault[2] = half;
    for (const each of r.attempts) each.artifactsBefore[2] = each.artifactsAfter[2] = half;
    r.artifacts[2] = half;
  };
  const varying = (r: RunRecord) => {
    at(r.control?.artifacts ?? [], 5).sha256 = sha("other, of the same length");
  };
  const full = (r: RunRecord) => {
    Object.assign(at(r.control?.artifacts ?? [], 2), output("out/3.md", "TEXT of o\nEND\n"));
  };
  const grown = (r: RunRecord) => {
    if (r.control !== null) r.control.grown = ["out/3.md"];
  };
  /** One output, empty at the failure, and left so. */
  const onlyEmpty = (r: RunRecord) => {
    const empty = { ...output("out/3.md"), bytes: 0, sha256: sha("") };
    r.contract.count = 1;
    r.contract.declared = {};
    r.checkpoint = r.effects = null;
    r.finishedAtFault = [];
    r.attempts = r.attempts.slice(2, 3);
    r.artifactsAtFault = r.artifacts = [empty];
    Object.assign(at(r.attempts, 0), { artifactsBefore: [empty], artifactsAfter: [empty] });
    r.control?.artifacts.splice(0, 6, { ...output("out/3.md"), inode: 3 });
  };
  const noControl = (r: RunRecord) => {
    r.control = null;
    r.controlSkipped = "it costs money";
  };
  const unproven = "unproven artifacts-not-torn";
  assertGrades({
    "nothing declared": [unproven, both(torn, checks([]))],
    "a least size tells nothing": [unproven, both(torn, checks(["minBytes"]))],
    "a finished one that is shorter": [
      unproven,
      both(torn, checks([]), (r) => r.finishedAtFault.push("out/3.md")),
    ],
    "a check of the user's": ["pass", both(torn, checks(["check"]), varying)],
    "a check of the user's, but all others are the control run's": [
      unproven,
      both(torn, checks(["check"])),
    ],
    "the same, of the control run's length": ["pass", both(torn, checks(["check"]), full)],
    "an end mark and the control run's length, but all others are the control run's": [
      unproven,
      both(torn, checks(["endsWith"]), full),
    ],
    "no check and the control run's length, but all others are the control run's": [
      unproven,
      both(torn, checks([]), full),
    ],
    "an end mark, in an output that was seen to change in the control run": [
      unproven,
      both(torn, checks(["endsWith"]), varying, grown),
    ],
    "a check of the user's, in such an output": [
      unproven,
      both(torn, checks(["check"]), varying, grown),
    ],
    "the same, nearly of the control run's length": [
      "pass",
      both(torn, checks(["check"]), varying, grown, (r) => {
        const whole = at(r.control?.artifacts ?? [], 2);
        Object.assign(whole, output("out/3.md", "text of o2\nEND\n"));
      }),
    ],
    "made again with the same bytes": [
      "pass",
      both(torn, checks([]), (r) => {
        r.attempts = r.attempts.slice(2, 3);
        for (const list of [r.artifacts, at(r.attempts, 0).artifactsAfter]) {
          list[2] = { ...half, mtimeMs: half.mtimeMs + 5000 };
        }
      }),
    ],
    "an end mark, and outputs that differ from run to run": [
      "pass",
      both(torn, checks(["endsWith"]), varying),
    ],
    "an end mark, but all others are the control run's": [
      unproven,
      both(torn, checks(["endsWith"])),
    ],
    "the only output, and an end mark": [
      "pass",
      both(torn, checks(["endsWith"]), (r) => {
        r.contract.count = 1;
        r.contract.declared = {};
        r.checkpoint = r.effects = null;
        r.finishedAtFault = [];
        r.attempts = r.attempts.slice(2, 3);
        const only = (list: Artifact[]) => list.splice(0, list.length, ...list.slice(2, 3));
        const [resume] = r.attempts;
        for (
          const list of [
            r.artifactsAtFault,
            r.artifacts,
            r.control?.artifacts,
            resume?.artifactsBefore,
            resume?.artifactsAfter,
          ]
        ) only(list ?? []);
      }),
    ],
    "an end mark that stands in the middle of outputs as well": [
      unproven,
      both(torn, checks(["endsWith"]), varying, (r) => r.endMarkRepeats = true),
    ],
    "the same, beside a check of the user's": [
      "pass",
      both(torn, checks(["endsWith", "check"]), varying, (r) => r.endMarkRepeats = true),
    ],
    "the same, of nearly the control run's length": [
      "pass",
      both(torn, checks(["endsWith"]), varying, (r) => {
        r.endMarkRepeats = true;
        const whole = at(r.control?.artifacts ?? [], 2);
        Object.assign(whole, output("out/3.md", "text of o2\nEND\n"));
      }),
    ],
    "the same, and no control run to compare with": [
      unproven,
      both(torn, checks(["endsWith"]), noControl, (r) => r.endMarkRepeats = true),
    ],
    "an empty one, where empty ones can be whole and the control run's is not": [
      unproven,
      both(checks([], true), onlyEmpty),
    ],
    "an empty one, and the control run's is empty as well": [
      "pass",
      both(checks([], true), onlyEmpty, (r) => {
        Object.assign(at(r.control?.artifacts ?? [], 0), { bytes: 0, sha256: sha("") });
      }),
    ],
    "no control run, no declaration": [unproven, both(torn, checks([]), noControl)],
    "no control run, an end mark": ["pass", both(torn, checks(["endsWith"]), noControl)],
    "no control run, but finished long before": [
      "pass",
      both(checks([]), noControl),
    ],
    "as long as the control run's": [
      "pass",
      both(checks([]), (r) => {
        r.finishedAtFault = ["out/1.md", "out/2.md"];
      }),
    ],
    "the recovery made it again": [
      "pass",
      both(checks([]), (r) => {
        r.finishedAtFault = ["out/1.md", "out/2.md"];
        r.artifactsAtFault[2] = half;
      }),
    ],
  });
  const marked = grade(damaged(both(torn, checks(["endsWith"]), varying, (r) => {
    r.endMarkRepeats = true;
  })));
  assertEquals(
    marked.reason,
    '"out/3.md" is as the failure left it and shorter than in the control run: it may be half a ' +
      'file. The text of "endsWith" stands in the middle of outputs as well, so it does not show ' +
      'their end. Declare "check" or "sameAsControl"',
  );
  assertEquals(
    grade(damaged(both(torn, checks([])))).reason,
    '"out/3.md" is as the failure left it and shorter than in the control run: it may be half a ' +
      'file. Declare how a whole one looks: "endsWith", "check" or "sameAsControl"',
  );
});

Deno.test("after success nothing may change any more", () => {
  const id = "quiet-after-success";
  const final = (change: (artifact: Artifact) => void) => (r: RunRecord) =>
    change(at(r.artifacts, 5));
  assertGrades({
    "nobody looked": [`unproven ${id}`, (r) => r.quiet = null],
    "looked for no time": [`unproven ${id}`, (r) => {
      if (r.quiet) r.quiet.observedMs = 0;
    }],
    "seen to change": [`fail ${id}`, (r) => r.quiet?.changed.push({ path: "a", by: null })],
    "other content at the final look": [
      `fail ${id}`,
      final((each) => {
        Object.assign(each, output("out/6.md", "text of out/6.md\nEND\nand more\nEND\n"));
      }),
    ],
    "written again before the final look": [`fail ${id}`, final((each) => each.mtimeMs++)],
    "replaced before the final look": [`fail ${id}`, final((each) => each.inode = 7)],
    "other outputs when the second recovery began": [`fail ${id}`, (r) => {
      at(r.attempts, 2).artifactsAfter.pop();
    }],
    "seen to change in no time at all": [`fail ${id}`, (r) => {
      r.quiet = { observedMs: 0, changed: [{ path: "a", by: null }] };
    }],
  });
  const given = grade(damaged((r) => {
    r.quiet?.changed.push({ path: "out/2.md", by: "sleep (pid 77)" });
  }));
  assertEquals(
    given.reason,
    '"out/2.md" changed after the recovery had reported success; the writer is sleep (pid 77)',
  );
});

Deno.test("recovery must be timed", () => {
  assertGrades({
    "not timed": ["unproven recovery-measured", (r) => r.recoveryMs = null],
    "at once": ["pass", (r) => {
      r.recoveryMs = 51;
    }],
  });
  const check = (damage: (record: RunRecord) => void) =>
    grade(damaged(damage)).checks.find((each) => each.id === "recovery-measured");
  assertEquals(check(() => {})?.text, "Recovery took 1.44 s from the proven failure");
  assertEquals(check((r) => r.recoveryMs = null)?.text, "No recovery time was measured");
  const untested = check((r) => {
    r.recoveryMs = null;
    r.fault.delivered = false;
  });
  assertEquals(untested?.state, "skipped");
});

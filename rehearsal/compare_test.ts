import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { damaged, goodRecord, outputs, sha } from "../lab/_grader_fixtures.ts";
import { grade, type RunRecord } from "../lab/mod.ts";
import { type ChangesDeclared, compareRuns, type Comparison } from "./compare.ts";

const MANIFEST = { "run.sh": sha("run"), "lib/a.sh": sha("a"), "failure-lab.json": sha("c") };

/** A good record whose project is known file by file. */
function known(damage: (record: RunRecord) => void = () => {}): RunRecord {
  return damaged((record) => {
    if (record.project !== null) record.project.manifest = { ...MANIFEST };
    damage(record);
  });
}

/** Another project: these files have other content. */
function withFiles(record: RunRecord, files: Record<string, string>): void {
  record.project = {
    path: "/home/me/job",
    sha256: sha(JSON.stringify(files)),
    files: 3,
    skipped: [],
    manifest: { ...MANIFEST, ...files },
  };
}

function compare(
  before: RunRecord | readonly RunRecord[],
  after: RunRecord | readonly RunRecord[],
  declared?: Partial<ChangesDeclared>,
): Comparison {
  const saved = (records: RunRecord | readonly RunRecord[]) =>
    [records].flat().map((record) => ({ record, savedVerdict: grade(record).verdict }));
  const changes = { paths: [], commands: [], ...declared };
  return compareRuns(saved(before), saved(after), changes);
}

/** A run whose recovery leaves one output out. */
function lacking(record: RunRecord): void {
  record.artifacts = outputs(5);
  for (const attempt of record.attempts.slice(-2)) attempt.artifactsAfter = outputs(5);
  const again = record.attempts.at(-1);
  if (again !== undefined) again.artifactsBefore = outputs(5);
}

Deno.test("compareRuns() finds nothing between a run and itself", () => {
  const result = compare(known(), known());
  assertEquals([result.result, result.refusals], ["same", []]);
  assertEquals(result.sentence, "Nothing got worse. The run stayed as before.");
  const [pair] = result.pairs;
  assertEquals([pair?.change, pair?.better, pair?.worse], ["same", [], []]);
  assertEquals([pair?.before.outputsWhole, pair?.before.outputsWanted], [6, 6]);
});

Deno.test("compareRuns() says which way each figure went", () => {
  const cases: [name: string, (record: RunRecord) => void, result: string, text: string][] = [
    ["a lost output", lacking, "worse", "whole outputs: 6 -> 5"],
    ["the verdict", lacking, "worse", "verdict: pass -> fail"],
    [
      "a doubled effect",
      (record) => {
        record.effects = { ...record.effects!, total: 7, doubled: [{ key: "k", count: 2 }] };
      },
      "worse",
      "effects that happened twice: 0 -> 1",
    ],
    [
      "an effect that never came",
      (record) => {
        record.effects = { ...record.effects!, missing: ["k"] };
      },
      "worse",
      "effects that never happened: 0 -> 1",
    ],
    [
      "a finished output made again",
      (record) => {
        record.artifacts = outputs().map((each, i) => i === 0 ? { ...each, inode: 1 } : each);
      },
      "worse",
      "finished outputs made again or lost: 0 -> 1",
    ],
    [
      "an output too many",
      (record) => {
        record.artifacts = outputs(7);
      },
      "worse",
      "outputs too many: 0 -> 1",
    ],
    [
      "a change outside",
      (record) => {
        record.containment!.changes = [
          { path: "/x", change: "modified", before: null, after: null },
        ];
      },
      "worse",
      "something outside the lab was changed",
    ],
    [
      "a much slower recovery",
      (record) => {
        record.recoveryMs = 3000;
      },
      "worse",
      "recovery time: 1.44 s -> 3.00 s",
    ],
    [
      "an unproven failure",
      (record) => {
        record.fault.evidence = [];
      },
      "worse",
      "verdict: pass -> unproven",
    ],
  ];
  for (const [name, damage, result, text] of cases) {
    const worse = compare(known(), known(damage));
    assertEquals(worse.result, result, name);
    assertStringIncludes(worse.pairs[0]?.worse.join("\n") ?? "", text, name);
    const back = compare(known(damage), known());
    assertEquals([back.result, back.pairs[0]?.worse], ["better", []], `${name}, the other way`);
  }
});

Deno.test("compareRuns() takes chance for chance, and no time for a fair one where it is not", () => {
  const slower = (ms: number) => known((record) => record.recoveryMs = ms);
  assertEquals(compare(slower(1000), slower(1400)).result, "same");
  assertEquals(compare(slower(100), slower(590)).result, "same");
  assertEquals(compare(slower(2000), slower(2700)).result, "same");
  assertEquals(compare(slower(1000), slower(1600)).result, "worse");
  assertEquals(compare(slower(1600), slower(1000)).result, "better");
  const earlier = known((record) => {
    record.artifactsAtFault = outputs(2);
    record.finishedAtFault = ["out/1.md", "out/2.md"];
    record.recoveryMs = 3000;
  });
  const result = compare(known(), earlier);
  assertEquals(result.result, "same");
  assertStringIncludes(result.pairs[0]?.notes.join() ?? "", "cannot be compared");
});

Deno.test("compareRuns() calls what is only unproven now neither better nor the same", () => {
  const doubtful = known((record) => record.fault.evidence = []);
  for (const before of [known(lacking), doubtful]) {
    const result = compare(before, doubtful);
    assertEquals([result.result, result.pairs[0]?.change], ["unclear", "unclear"]);
    assert(!result.pairs[0]?.better.some((text) => text.startsWith("verdict")));
    assertStringIncludes(result.sentence, "The run cannot be told");
  }
});

Deno.test("compareRuns() looks at what else is wrong in two fails, and names another reason", () => {
  const twice = (record: RunRecord) => {
    lacking(record);
    record.quiet = { observedMs: 300, changed: [{ path: "out/1.md", by: null }] };
  };
  const worse = compare(known(lacking), known(twice));
  assertEquals(worse.result, "worse");
  assertStringIncludes(worse.pairs[0]?.worse.join() ?? "", "new: ");
  assertEquals(compare(known(twice), known(lacking)).result, "better");
  const other = known((record) => record.findings = [{ id: "x", ok: false, text: "Torn" }]);
  assertStringIncludes(compare(known(lacking), other).pairs[0]?.notes.join() ?? "", "other reason");
});

Deno.test("compareRuns() counts a run that is better and worse as worse", () => {
  const before = known(lacking);
  const after = known((record) => {
    record.effects = { ...record.effects!, total: 7, doubled: [{ key: "k", count: 2 }] };
  });
  const result = compare(before, after);
  assertEquals([result.result, result.pairs[0]?.change], ["worse", "mixed"]);
});

Deno.test("compareRuns() refuses each kind of unfair pair by its name, and compares nothing", () => {
  const cases: [string, (record: RunRecord) => void, string][] = [
    ["other-project", (record) => withFiles(record, { "run.sh": sha("new") }), "--changed run.sh"],
    ["project-unknown", (record) => record.project!.sha256 = null, "Run it again"],
    ["project-unknown", (record) => record.project = null, "AFTER does not say"],
    ["other-project", (record) => {
      record.project!.sha256 = sha("other");
      record.project!.manifest = null;
    }, "do not hold"],
    ["other-project", (record) => record.project!.sha256 = sha("other"), "no file does"],
    ["damaged", (record) => record.project!.manifest = { "run.sh": sha("x") }, "one hash"],
    ["other-contract", (record) => {
      record.contract.declared = { artifacts: { paths: ["out/*.md"], count: 5 } };
      record.contract.sha256 = sha("x");
    }, "artifacts.count, artifacts.endsWith"],
    ["other-contract", (record) => record.contract.count = 5, "artifacts.count"],
    ["other-contract", (record) => record.contract.contentChecks = [], "content checks"],
    ["damaged", (record) => record.contract.sha256 = sha("x"), "other hashes"],
    [
      "other-fault-point",
      (record) => record.fault.variant = "no-pid",
      "variant: dead-owner before",
    ],
    ["other-fault-point", (record) => record.options.killAfterArtifacts = 2, "3 before, 2 now"],
    ["other-fault-point", (record) => record.options.killResume = true, "kill the resume"],
    ["other-fault-point", (record) => record.fault.armed = false, "switched on: true before"],
    ["other-fault-point", (record) => record.fault.evidence[0]!.what = "lock gone", "other signs"],
    ["other-options", (record) => record.options.cutAt = 12, "cutAt was null and is 12"],
    ["not-applicable-once", (record) => record.notApplicable = 'Add "lock"', 'Add "lock"'],
    ["nothing-in-common", (record) => record.subject = "torn-checkpoint", "torn-checkpoint"],
    ["damaged", (record) => {
      (record as { version: number }).version = 9;
    }, "Run 1 of AFTER"],
  ];
  for (const [id, damage, text] of cases) {
    const result = compare(known(), known(damage));
    assertEquals([result.result, result.pairs], ["refused", []], id);
    assertEquals(result.refusals.map((each) => each.id), [id as never], text);
    assertStringIncludes(result.refusals[0]?.text ?? "", text);
  }
});

Deno.test("compareRuns() refuses a failure that struck somewhere else, but allows for a race", () => {
  const there = (count: number) =>
    known((record) =>
      record.fault.evidence = [{ what: "outputs there at that moment", value: count }]
    );
  assertEquals(compare(there(3), there(4)).result, "same");
  const result = compare(there(3), there(5));
  assertEquals(result.refusals.map((each) => each.id), ["other-fault-point"]);
  assertStringIncludes(result.refusals[0]?.text ?? "", "3 before, 5 now");
});

Deno.test("compareRuns() allows the declared change of files, and no other", () => {
  const one = known((record) => withFiles(record, { "run.sh": sha("new") }));
  const two = known((record) => withFiles(record, { "run.sh": sha("new"), "lib/a.sh": sha("n") }));
  assertEquals(compare(known(), one, { paths: ["run.sh"] }).result, "same");
  assertEquals(compare(known(), two, { paths: ["run.sh", "lib"] }).result, "same");
  const refused = compare(known(), two, { paths: ["run.sh"] });
  assertEquals(refused.refusals.map((each) => each.id), ["other-project"]);
  assertStringIncludes(
    refused.refusals[0]?.text ?? "",
    "1 file(s) differ that were not declared: lib/a.sh",
  );
  assertEquals(compare(known(), two, { paths: ["run.sh", "li"] }).result, "refused");
  const slip = compare(known(), known(), { paths: ["run.sh"] });
  assertEquals(slip.notes, ['"run.sh" was declared as changed, but is the same in both runs']);
});

Deno.test("compareRuns() does not hold a commit against the project", () => {
  const before = known((record) => withFiles(record, { ".git/": sha("one") }));
  const after = known((record) => withFiles(record, { ".git/": sha("two"), "run.sh": sha("n") }));
  assertEquals(compare(before, after, { paths: ["run.sh"] }).result, "same");
});

Deno.test("compareRuns() does not hold an own report in the project against it, but all else", () => {
  const names = ["report.json", "report.html", "junit.xml", "report.md", "journal-rehearsal.jsonl"];
  const report = Object.fromEntries(names.map((name) => [`before/${name}`, sha(name)]));
  const after = (more: Record<string, string>) =>
    known((record) => withFiles(record, { ...report, ...more }));
  assertEquals(compare(known(), after({})).result, "same");
  assertEquals(compare(known(), after({ "before/run.sh": sha("x") })).result, "refused");
  const half = known((record) => withFiles(record, { "before/report.json": sha("x") }));
  assertEquals(compare(known(), half).result, "refused");
});

Deno.test("compareRuns() allows another command only when it was declared", () => {
  const wrapped = known((record) => {
    withFiles(record, { "failure-lab.json": sha("new") });
    record.contract.declared = {
      ...record.contract.declared as Record<string, never>,
      resume: "failure-lab repair lease -- ./run.sh",
    };
    record.contract.sha256 = sha("new contract");
  });
  const result = compare(known(), wrapped);
  assertEquals(result.refusals.map((each) => each.id), ["other-project", "other-contract"]);
  assertStringIncludes(result.refusals[1]?.text ?? "", "--changed-command resume");
  assertEquals(compare(known(), wrapped, { commands: ["resume"] }).result, "same");
  assertEquals(compare(known(), wrapped, { commands: ["start"] }).result, "refused");
  const slip = compare(known(), known(), { commands: ["resume"] });
  assertStringIncludes(slip.notes.join(), "the same in both contracts");
});

Deno.test("compareRuns() takes the kill point as it works, from wherever it comes", () => {
  const half = known((record) => record.options = {});
  assertEquals(compare(known(), half).result, "same");
  const inContract = (point: number) =>
    known((record) => {
      record.options = {};
      record.contract.declared = {
        ...record.contract.declared as Record<string, never>,
        killAfterArtifacts: point,
      };
      record.contract.sha256 = sha(`contract ${point}`);
    });
  assertEquals(compare(known(), inContract(3)).result, "same");
  assertEquals(
    compare(known(), inContract(4)).refusals.map((each) => each.id),
    ["other-fault-point"],
  );
});

Deno.test("compareRuns() pairs by failure and point, and says what was not run again", () => {
  const points = (list: number[]) =>
    list.map((point) => known((record) => record.options.killAfterArtifacts = point));
  const result = compare(points([1, 2, 3]), points([3, 1]));
  assertEquals(result.pairs.map((pair) => pair.title), [
    "stale-lock, dead-owner, killed after 1",
    "stale-lock, dead-owner, killed after 3",
  ]);
  assertEquals(result.onlyBefore, ["stale-lock, dead-owner, killed after 2"]);
  assertEquals(result.result, "unclear");
  assertStringIncludes(result.sentence, "not run again");
  const more = compare(points([1]), points([1, 2]));
  assertEquals([more.result, more.onlyAfter.length], ["same", 1]);
  assertEquals(compare([], []).refusals[0]?.id, "nothing-in-common");
});

Deno.test("compareRuns() refuses another drill version, and asks no project of a drill", () => {
  const drill = (damage: (record: RunRecord) => void = () => {}) =>
    damaged((record) => {
      Object.assign(record, { kind: "drill", half: "repaired", project: null });
      record.options = { definitionSha256: "one" };
      damage(record);
    });
  assertEquals(compare(drill(), drill()).refusals, []);
  const other = compare(drill(), drill((record) => record.options.definitionSha256 = "two"));
  assertEquals(other.refusals.map((each) => each.id), ["other-drill"]);
  const older = (record: RunRecord) => {
    record.options = {};
    record.tool.version = "0.0.9";
  };
  const guess = compare(drill((record) => record.options = {}), drill(older));
  assertEquals(guess.refusals.map((each) => each.id), ["other-drill"]);
  assert(guess.notes.some((note) => note.includes("failure-lab 0.0.9")));
});

Deno.test("compareRuns() does not trust saved verdicts, and says when they differ from today's", () => {
  const result = compareRuns(
    [{ record: known(lacking), savedVerdict: "pass" }],
    [{ record: known(), savedVerdict: "pass" }],
  );
  assertEquals(result.result, "better");
  assertEquals(result.notes.length, 1);
  assertStringIncludes(result.notes[0] ?? "", 'BEFORE was saved as "pass"');
});

Deno.test("compareRuns() warns of swapped sides and other seeds, where a seed draws anything", () => {
  const later = known((record) => {
    record.startedAt = "2026-06-02T10:00:00.000Z";
    record.endedAt = "2026-06-02T10:00:06.000Z";
  });
  assertStringIncludes(compare(later, known()).notes.join(), "are they swapped?");
  const rehearsal = (seed: number) =>
    known((record) => Object.assign(record, { kind: "rehearsal", subject: "rehearsal", seed }));
  assertEquals(compare(rehearsal(1), rehearsal(2)).notes, []);
  const seeded = compare(known(), known((record) => record.seed = 8));
  assertEquals([seeded.result, seeded.notes.length], ["same", 1]);
  assertStringIncludes(seeded.notes[0] ?? "", "--seed 7");
  const unfair = known((record) => Object.assign(record, { seed: 8, options: { cutAt: 1 } }));
  assertEquals(compare(known(), unfair).notes, []);
});

Deno.test("compareRuns() lists outputs that came, went or have other content", () => {
  const after = known((record) => {
    record.artifacts = [
      ...outputs(5).map((each, i) => i === 4 ? { ...each, sha256: sha("x"), bytes: 1 } : each),
      { ...outputs(1)[0]!, path: "out/new.md" },
    ];
  });
  const [pair] = compare(known(), after).pairs;
  assertEquals(pair?.outputs, {
    gone: ["out/6.md"],
    added: ["out/new.md"],
    otherContent: ["out/5.md"],
  });
});

Deno.test("the fixture of these tests is a pass", () => {
  assertEquals(compare(goodRecord(), goodRecord()).pairs[0]?.before.verdict, "pass");
});

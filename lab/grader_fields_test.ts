// Every field of a record, damaged one at a time: either the grader notices, or the field is in the
// list of those by which nothing is judged. A check that is taken out of the grader makes fields
// free that are not on the list, and this test names them.

import { assertEquals } from "@std/assert";
import { goodRecord, sha } from "./_grader_fixtures.ts";
import { grade } from "./grader.ts";
import type { RunRecord } from "./record.ts";

/** Fields that may say anything: they tell about a run, but no verdict stands on them. */
const FREE: readonly RegExp[] = [
  // What was run, where, and by which program.
  /^(id|kind|subject|label|rerun|seed|git|git\.(head|dirty)|scope|scope\[\])$/,
  /^(options\.killAfterArtifacts|tool\.(version|deno|os|arch|compiled))$/,
  /^project(\.(path|sha256|files|skipped))?$/,
  // What was declared; what is graded by stands beside it, and the two are compared.
  /^contract\.sha256$/,
  /^contract\.contentChecks$/,
  /^contract\.declared(\.(artifacts|checkpoint|effects)(\.(path|paths|paths\[\]|endsWith))?)?$/,
  // Which findings a kind of failure must have is known to its answer key; a failure may strike
  // before anything is finished.
  /^(findings|finishedAtFault)$/,
  // What was said, and when exactly.
  /(^start|phase)\.(argv|argv\[\]|std(out|err)(Bytes|Tail))$/,
  /^(startedAt|start\.startedMs|control\.phase\.(started|ended)Ms)$/,
  /^(quiet\.observedMs|cost\.(wallMs|jobMs|journalEntries|journalDropped))$/,
  // How somebody was ended; that nobody is left is what counts.
  /(^|\.)kill\.(elapsedMs|signals|signals\[\]\.(atMs|signal|targets))$/,
  /(^|\.)kill\.processes(\[\]\.(name|pid|startedSeconds))?$/,
  // How the failed run ended, and how one that was killed on purpose or stood down did.
  /^start\.(endedByLab|signal)$/,
  /^attempts\.(resume-killed\.phase\.signal|stand-down\.phase\.(endedByLab|exitCode))$/,
  // Names for people.
  /^fault\.(name|variant|evidence\[\]\.(what|value))$/,
  /^findings\[\]\.(id|text)$/,
  /^containment\.(excluded|watched\[\]\.(bytes|files|path))$/,
  // Looks in between, for the report. What counts is the final one.
  /^(checkpoint|effects)AtFault(\.|$)/,
  /^attempts\.[a-z-]+\.(checkpoint|effects)After(\.|$)/,
  /^attempts\.(resume-killed\.artifacts(Before|After)|resume\.artifactsBefore)/,
  /^attempts\.[a-z-]+\.artifacts(Before|After)\[\]\.problems$/,
  /^attempts\.resume(-killed|-again)?\.lock(Before|After)$/,
  // The content of a whole run is compared only where that was declared.
  /^control\.artifacts\[\]\.(inode|mtimeMs|path|sha256)$/,
  // Only what a checkpoint says of the disk counts; the control run's helps where that is in doubt.
  /^(checkpoint\.(bytes|comparedBy|path|problem|sha256)|control\.checkpoint(\.|$)|effects\.path$)/,
];

const STRANGE_VALUES: readonly unknown[] = [
  null,
  true,
  false,
  0,
  1,
  10_000_000,
  "other",
  sha("other"),
  "2020-01-01T00:00:00.000Z",
  [],
];

const STRANGE_ELEMENTS: readonly unknown[] = [
  "other",
  { pid: 77, startedSeconds: 1, name: "sleep" },
  { path: "out/2.md", by: null },
  { key: "1", count: 2 },
  { path: "/x", change: "modified", before: null, after: null },
  { path: "/x", change: "unknown", before: null, after: null },
  { id: "another", ok: false, text: "bad" },
];

type Parent = Record<string, unknown>;

const PURPOSES = goodRecord().attempts.map((attempt) => attempt.purpose);

/** Every place in a record. One element stands for its list; attempts are all looked at. */
function* places(value: unknown, keys: string[] = []): Generator<string[]> {
  if (keys.length > 0) yield keys;
  if (typeof value !== "object" || value === null) return;
  const entries = Object.entries(value);
  const isSample = Array.isArray(value) && keys.at(-1) !== "attempts";
  for (const [key, inner] of isSample ? entries.slice(0, 1) : entries) {
    yield* places(inner, [...keys, key]);
  }
}

/** `attempts.resume.artifactsAfter[].bytes`. */
function nameOf([first = "", second = "", ...rest]: readonly string[]): string {
  const attempt = first === "attempts" ? PURPOSES[Number(second)] : undefined;
  return [first, attempt ?? second, ...rest].filter((key) => key !== "")
    .map((key) => /^\d+$/.test(key) ? "[]" : key).join(".").replaceAll(".[]", "[]");
}

/** A good record in which one place was changed. */
function changed(keys: readonly string[], change: (parent: Parent, key: string) => void): unknown {
  const record = goodRecord();
  const parent = keys.slice(0, -1).reduce<Parent>(
    (inner, key) => inner[key] as Parent,
    record as unknown as Parent,
  );
  change(parent, keys.at(-1) ?? "");
  return record;
}

function isPass(record: unknown): boolean {
  return grade(record).verdict === "pass";
}

/** The damages of one place after which the record is still a pass. */
function unnoticed(keys: readonly string[]): string[] {
  const found: string[] = [];
  for (const value of STRANGE_VALUES) {
    let isSame = false;
    const record = changed(keys, (parent, key) => {
      isSame = JSON.stringify(parent[key]) === JSON.stringify(value);
      parent[key] = value;
    });
    if (!isSame && isPass(record)) found.push(`= ${JSON.stringify(value)}`);
  }
  for (const element of STRANGE_ELEMENTS) {
    let isList = false;
    const record = changed(keys, (parent, key) => {
      const list = parent[key];
      isList = Array.isArray(list);
      if (Array.isArray(list)) list.push(element);
    });
    if (isList && isPass(record)) found.push(`+ ${JSON.stringify(element)}`);
  }
  return found;
}

Deno.test("a field is either judged or listed as one that nothing stands on", () => {
  const free = new Map<string, string[]>();
  for (const keys of places(goodRecord())) {
    const found = unnoticed(keys);
    if (found.length > 0) free.set(nameOf(keys), found);
  }
  const surprises = [...free].filter(([name]) => !FREE.some((pattern) => pattern.test(name)));
  assertEquals(Object.fromEntries(surprises), {});
  const idle = FREE.filter((pattern) => ![...free.keys()].some((name) => pattern.test(name)));
  assertEquals(idle, [], "listed, but judged");
});

Deno.test("no field can be left out", () => {
  const optional = /(\.comparedBy|\.unexpected|^control\.checkpoint|^options\.killAfterArtifacts)$/;
  for (const keys of places(goodRecord())) {
    const name = nameOf(keys);
    if (optional.test(name) || name.startsWith("contract.declared.")) continue;
    // Taking out an element is another matter: a shorter list is a list.
    if (/^(attempts\.[a-z-]+|.*\[\])$/.test(name)) continue;
    const record = changed(keys, (parent, key) => delete parent[key]);
    assertEquals(isPass(record), false, name);
  }
});

Deno.test("no field can be added", () => {
  for (const keys of [[], ...places(goodRecord())]) {
    const name = nameOf(keys);
    if (name.startsWith("contract.declared") || name.startsWith("options")) continue;
    if (name === "fault.evidence[].value") continue;
    const record = goodRecord() as unknown as Parent;
    const place = keys.reduce<unknown>((inner, key) => (inner as Parent)[key], record);
    if (typeof place !== "object" || place === null || Array.isArray(place)) continue;
    (place as Parent).verdict = "pass";
    assertEquals(isPass(record), false, name);
  }
  const record: RunRecord = goodRecord();
  assertEquals(isPass(record), true);
});

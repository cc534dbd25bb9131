/**
 * Checking a receipt: its form, its chain, its grades, and the outputs of a finished project.
 *
 * @module
 */
import { z } from "zod";
import {
  type Grade,
  grade,
  RECORD_VERSION,
  type RunRecord,
  runRecordSchema,
  VERSION,
} from "../lab/mod.ts";
import {
  checkSection,
  endHash,
  FIRST_LINK,
  isSameDigest,
  type SealProblem,
  type Section,
} from "./_receipt_chain.ts";
import {
  GRADE_SECTION,
  OTHER_SECTION,
  type Receipt,
  RECEIPT_NOTE,
  RECEIPT_SCHEMA,
  receiptText,
  RUN_SECTIONS,
  sectionName,
  setVerdict,
} from "./receipt.ts";

const digest = z.string().regex(/^[0-9a-f]{64}$/, "must be 64 hexadecimal digits");

const receiptSchema = z.strictObject({
  schema: z.literal(RECEIPT_SCHEMA),
  version: z.literal(RECORD_VERSION),
  note: z.literal(RECEIPT_NOTE),
  sections: z.array(z.strictObject({
    name: z.string(),
    previous: digest,
    sha256: digest,
    // It comes out of JSON.parse, so it is JSON all the way down.
    body: z.record(z.string(), z.unknown()),
    marks: z.record(z.string(), z.string()),
  })).min(1),
  end: digest,
});

export type { SealProblem } from "./_receipt_chain.ts";

/** One run of a receipt, graded again. */
export interface CheckedRun {
  /** The record as it stands in the receipt. */
  record: RunRecord;
  /** Today's grade. */
  grade: Grade;
  /** The verdict that the receipt claims. */
  claimed: string;
}

/** What was found out about a receipt. */
export interface ReceiptCheck {
  /** Whether everything fits. */
  holds: boolean;
  /** Everything that does not, with its place. */
  problems: SealProblem[];
  /** What is no fault of the receipt, but should be known. */
  notes: string[];
  /** How many sections it has. */
  sections: number;
  /** Its runs, as far as they can be read. */
  runs: CheckedRun[];
  /** Verdict of all runs by today's grader; `null` for drills, and when nothing can be read. */
  verdict: Grade["verdict"] | null;
}

/** Checks a receipt. Never throws: what cannot even be checked does not hold. */
export function checkReceipt(content: Uint8Array | string): ReceiptCheck {
  try {
    const text = typeof content === "string" ? content : textOf(content);
    return typeof text === "string" ? checkText(text) : broken([text]);
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    return broken([{ section: null, path: null, text: `it cannot be checked: ${said}` }]);
  }
}

/** The text of a file, or where it is none. */
function textOf(bytes: Uint8Array): string | SealProblem {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  try {
    return decoder.decode(bytes);
  } catch {
    // Bytes that are no text are damage at one place; the lines before it tell which.
    const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
    const at = text.indexOf("\ufffd");
    return {
      section: sectionAt(text, at),
      path: null,
      text: `it is not UTF-8 text at ${placeOf(text, at)}`,
    };
  }
}

function checkText(text: string): ReceiptCheck {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    const at = Number(/position (\d+)/.exec(said)?.[1] ?? text.length);
    return broken([{
      section: sectionAt(text, at),
      path: null,
      text: `it is not JSON at ${placeOf(text, at)}: ${said}`,
    }]);
  }
  const parsed = receiptSchema.safeParse(value);
  if (!parsed.success) {
    return broken(parsed.error.issues.map((issue) => shapeProblem(issue, value)));
  }
  // The parsed data has no prototype tricks, but the order of its keys is zod's: take the value.
  const receipt = value as Receipt;
  const problems = [...formProblems(text, receipt), ...chainProblems(receipt)];
  // What a changed section says about the others must not be held against them.
  const isSetSealed = !problems.some((problem) => problem.section === "set");
  const count = runCount(receipt.sections, isSetSealed);
  const { runs, problems: runProblems, notes } = checkRuns(receipt, count);
  problems.push(...orderProblems(receipt, count), ...runProblems, ...setProblems(receipt, runs));
  return {
    holds: problems.length === 0,
    problems,
    notes,
    sections: receipt.sections.length,
    runs,
    verdict: runs.length === 0 ? null : setVerdict(runs, interruptionIn(receipt)),
  };
}

function broken(problems: SealProblem[]): ReceiptCheck {
  return { holds: false, problems, notes: [], sections: 0, runs: [], verdict: null };
}

function shapeProblem(issue: z.core.$ZodIssue, value: unknown): SealProblem {
  const [head, index, ...rest] = issue.path;
  const sections = (value as Receipt | null)?.sections;
  const named = head === "sections" && typeof index === "number" && Array.isArray(sections)
    ? sections[index]?.name
    : undefined;
  const keys = issue.code === "unrecognized_keys" ? ` (${issue.keys.join(", ")})` : "";
  return {
    section: typeof named === "string" ? named : null,
    path: named === undefined ? `/${issue.path.join("/")}` : `/${rest.join("/")}`,
    text: `${issue.message}${keys}`,
  };
}

/** The text must be the one that a receipt is written as; whatever else says the same is no copy. */
function formProblems(text: string, receipt: Receipt): SealProblem[] {
  const written = receiptText(receipt);
  if (text === written) return [];
  let at = 0;
  while (text[at] === written[at]) at++;
  return [{
    section: sectionAt(text, at),
    path: null,
    text:
      `the text is not as it was written, from ${placeOf(text, at)} on (other blanks, another ` +
      "spelling, or a key twice)",
  }];
}

function placeOf(text: string, at: number): string {
  const lines = text.slice(0, at).split("\n");
  return `line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`;
}

/** The section in which a place of the text lies. */
function sectionAt(text: string, at: number): string | null {
  const names = [...text.slice(0, at).matchAll(/^ {6}"name": "([^"\n]*)"/gm)];
  return names.at(-1)?.[1] ?? null;
}

function chainProblems({ sections, end }: Receipt): SealProblem[] {
  const problems = sections.flatMap((section, index) => {
    const before = sections[index - 1]?.sha256 ?? FIRST_LINK;
    const isLinked = isSameDigest(section.previous, before);
    return [
      ...checkSection(section, index),
      ...(isLinked ? [] : [{
        section: section.name,
        path: null,
        text: `it is not sealed to what stands before it (${
          sections[index - 1]?.name ?? "the beginning"
        }): a section was taken out, put in, exchanged or moved`,
      }]),
    ];
  });
  return isSameDigest(endHash(sections), end) ? problems : [...problems, {
    section: null,
    path: "/end",
    text: "the end of the chain does not fit: the last section was changed, or some are missing",
  }];
}

/** Names of all sections that a receipt of so many runs has; those in brackets may be missing. */
function expectedNames(runs: number): string[] {
  const parts = [...Object.keys(RUN_SECTIONS), OTHER_SECTION, GRADE_SECTION];
  return [
    "set",
    ...Array.from({ length: runs }, (_, i) => parts.map((part) => sectionName(i + 1, part))).flat(),
  ];
}

function orderProblems({ sections }: Receipt, runs: number): SealProblem[] {
  const names = sections.map((section) => section.name);
  if (runs === 0) return [{ section: "set", path: "/runs", text: "there is no run in it" }];
  const expected = expectedNames(runs).filter((name) =>
    !name.endsWith(`/${OTHER_SECTION}`) || names.includes(name)
  );
  const problem = (section: string, text: string) => ({ section, path: null, text });
  const problems = [
    ...expected.filter((name) => !names.includes(name))
      .map((name) => problem(name, "the section is missing")),
    ...names.filter((name) => !expected.includes(name))
      .map((name) => problem(name, "a section of this name does not belong here")),
    ...[...new Set(names.filter((name, index) => names.indexOf(name) !== index))]
      .map((name) => problem(name, "the section is there twice")),
  ];
  if (problems.length > 0) return problems;
  const moved = movedName(names, expected);
  return moved === null ? [] : [problem(moved, "the section is at another place than it was")];
}

/** The one name without which the others are in order, or else the first that is out of it. */
function movedName(names: readonly string[], expected: readonly string[]): string | null {
  const without = (list: readonly string[], name: string) =>
    list.filter((each) => each !== name).join("\n");
  if (names.join("\n") === expected.join("\n")) return null;
  return names.find((name) => without(names, name) === without(expected, name)) ??
    names.find((name, index) => expected[index] !== name) ?? null;
}

function runCount(sections: readonly Section[], isSetSealed: boolean): number {
  const said = sections.find((section) => section.name === "set")?.body.runs;
  const last = Math.max(
    0,
    ...sections.map(({ name }) => Number(/^run-(\d{1,6})\//.exec(name)?.[1] ?? 0)),
  );
  // A wrong number in a damaged set must not make us count to a billion.
  const isUsable = typeof said === "number" && Number.isInteger(said) && said >= 0 &&
    said <= last + 1000;
  return isSetSealed && isUsable ? said : last;
}

function interruptionIn({ sections }: Receipt): string | null {
  const said = sections.find((section) => section.name === "set")?.body.interrupted;
  return typeof said === "string" ? said : null;
}

function checkRuns(receipt: Receipt, count: number) {
  const runs: CheckedRun[] = [];
  const problems: SealProblem[] = [];
  const notes: string[] = [];
  const sections = new Map(receipt.sections.map((section) => [section.name, section]));
  for (let run = 1; run <= count; run++) {
    const { record, problems: misplaced } = recordOf(sections, run);
    problems.push(...misplaced);
    const at = sectionName(run, GRADE_SECTION);
    const claimed = sections.get(at)?.body;
    const today = grade(record);
    const parsed = runRecordSchema.safeParse(record);
    if (parsed.success) {
      const verdict = String(claimed?.verdict);
      runs.push({ record: parsed.data, grade: today, claimed: verdict });
    }
    const found = claimed === undefined ? [] : gradeProblems(at, claimed, today);
    problems.push(...found);
    const version = parsed.data?.tool.version;
    if (found.length > 0 && version !== undefined && version !== VERSION) {
      notes.push(
        `Run ${run} was graded by version ${version}, and this is ${VERSION}: perhaps the grader ` +
          "has changed since. Check it with the version that made it",
      );
    }
  }
  return { runs, problems, notes };
}

/** Puts a record together again. Each value must stand in the section where it belongs. */
function recordOf(sections: ReadonlyMap<string, Section>, run: number) {
  const record: Record<string, unknown> = Object.create(null);
  const problems: SealProblem[] = [];
  const placed = new Set<string>(Object.values(RUN_SECTIONS).flat());
  for (const part of [...Object.keys(RUN_SECTIONS), OTHER_SECTION]) {
    const name = sectionName(run, part);
    const own = RUN_SECTIONS[part]?.map(String);
    for (const [key, value] of Object.entries(sections.get(name)?.body ?? {})) {
      const belongs = own === undefined ? !placed.has(key) : own.includes(key);
      if (belongs) record[key] = value;
      else {problems.push({
          section: name,
          path: `/${key}`,
          text: "the value does not belong here",
        });}
    }
  }
  return { record: { ...record }, problems };
}

function gradeProblems(section: string, claimed: Section["body"], today: Grade): SealProblem[] {
  const keys = ["verdict", "reasonId", "containmentBroken", "reason"] as const;
  const key = keys.find((each) => claimed[each] !== today[each]);
  if (key === undefined) return [];
  return [{
    section,
    path: `/${key}`,
    text: `the receipt says ${JSON.stringify(claimed[key])}, but graded again the record gives ` +
      `${JSON.stringify(today[key])}${key === "reason" ? "" : `: ${today.reason}`}`,
  }];
}

function setProblems(receipt: Receipt, runs: readonly CheckedRun[]): SealProblem[] {
  const said = receipt.sections.find((section) => section.name === "set")?.body.verdict;
  const today = runs.length === 0 ? null : setVerdict(runs, interruptionIn(receipt));
  return runs.length === 0 || said === undefined || said === today ? [] : [{
    section: "set",
    path: "/verdict",
    text: `the receipt says ${JSON.stringify(said)}, but its runs give ${JSON.stringify(today)}`,
  }];
}

/**
 * Receipts: the records of a saved set of runs, without what tells about the machine, sealed so that
 * a changed byte anywhere is found, and graded so that a forged verdict is.
 *
 * A receipt is not a signature. It shows that nothing in it was changed since it was made; it does
 * not show who made it, and anybody can make a new one.
 *
 * @module
 */
import {
  type Grade,
  grade,
  gradeSet,
  RECORD_VERSION,
  type RunRecord,
  runRecordSchema,
} from "../lab/mod.ts";
import { endHash, type Json, sealSections, type Section } from "./_receipt_chain.ts";
import { type Redaction, type RedactionContext, Redactor } from "./_receipt_redact.ts";

export type { Json, SealProblem, Section } from "./_receipt_chain.ts";
export type { Redaction, RedactionContext } from "./_receipt_redact.ts";

/** What kind of document it is. */
export const RECEIPT_SCHEMA = "failure-lab/receipt";

/** What every receipt says about itself. */
export const RECEIPT_NOTE: string =
  "This is not a signature: it shows that nothing in it was changed since it was made, not who " +
  "made it. Check it with: failure-lab verify receipt.json";

/** A sealed set of records. */
export interface Receipt {
  /** {@linkcode RECEIPT_SCHEMA}. */
  schema: typeof RECEIPT_SCHEMA;
  /** Version of the shape of the records in it. */
  version: typeof RECORD_VERSION;
  /** {@linkcode RECEIPT_NOTE}. */
  note: string;
  /** The set first, then each run. */
  sections: Section[];
  /** Seals the end of the chain. */
  end: string;
}

/** The parts of a record, in the order in which a person wants to read them. */
export const RUN_SECTIONS: Readonly<Record<string, readonly (keyof RunRecord)[]>> = {
  "identity": [
    "schema",
    "version",
    "id",
    "kind",
    "subject",
    "half",
    "label",
    "tool",
    "rerun",
    "seed",
    "options",
    "git",
    "scope",
    "startedAt",
    "endedAt",
    "interrupted",
    "notApplicable",
  ],
  "job": ["project", "contract"],
  "control": ["control", "controlSkipped"],
  "failure": [
    "start",
    "fault",
    "kill",
    "artifactsAtFault",
    "finishedAtFault",
    "likelyAtFault",
    "checkpointAtFault",
    "effectsAtFault",
    "uncollected",
  ],
  "recovery": ["attempts"],
  "result": [
    "artifacts",
    "effectsLogReplaced",
    "endMarkRepeats",
    "checkpoint",
    "effects",
    "quiet",
    "recoveryMs",
    "findings",
  ],
  "containment": ["containment", "cost"],
};

/** Parts of a record that have no other section. */
export const OTHER_SECTION = "other";
/** The grade that was given to the record as it stands in the receipt. */
export const GRADE_SECTION = "grade";

/** The parts of a grade that a receipt holds. */
export type SealedGrade = Pick<
  Grade,
  "verdict" | "reasonId" | "reason" | "containmentBroken"
>;

/** What a receipt says about the set of runs. */
export interface SealedSet {
  /** The command that ran. */
  command: string;
  /** When it began. */
  startedAt: string;
  /** When it ended. */
  endedAt: string | null;
  /** Why it was broken off, if it was. */
  interrupted: string | null;
  /** How many runs follow. */
  runs: number;
  /** Verdict of all of them together; `null` for drills, whose halves are meant to differ. */
  verdict: Grade["verdict"] | null;
}

/** A record cannot go into a receipt. The command ends with exit code 2. */
export class ReceiptError extends Error {
  /** Name of the error class. */
  override name = "ReceiptError";
  /** Usage. */
  readonly exitCode = 2;
}

/** What a receipt is made from. */
export interface ReceiptSource {
  /** The command that ran. */
  command: string;
  /** When it began. */
  startedAt: string;
  /** When it ended. */
  endedAt: string | null;
  /** Why it was broken off, if it was. */
  interrupted: string | null;
  /** The records; not checked yet. */
  records: readonly unknown[];
}

/** A receipt, and what was taken out of it. */
export interface MadeReceipt {
  /** The document. */
  receipt: Receipt;
  /** What was replaced, and what was left although it looks private. */
  redaction: Redaction;
}

/**
 * Makes a receipt.
 *
 * @throws {ReceiptError} When a record is damaged, or there is none.
 */
export function makeReceipt(source: ReceiptSource, context: RedactionContext): MadeReceipt {
  const records = source.records.map(checkedRecord);
  if (records.length === 0) {
    throw new ReceiptError("Cannot make a receipt: the report holds no run. Give one that does");
  }
  const redactor = new Redactor(records, context);
  const clean = records.map((record) => {
    const redacted = redactor.record(record);
    const [before, after] = [grade(record), grade(redacted)];
    if (before.verdict !== after.verdict || before.reasonId !== after.reasonId) {
      throw new Error(
        `Replacing the paths changed the verdict from ${before.verdict} to ${after.verdict}: ` +
          after.reason,
      );
    }
    return { record: redacted, grade: after };
  });
  const set: SealedSet = {
    command: source.command,
    startedAt: source.startedAt,
    endedAt: source.endedAt,
    interrupted: source.interrupted === null ? null : redactor.text(source.interrupted),
    runs: clean.length,
    verdict: setVerdict(clean, source.interrupted),
  };
  const sections = sealSections([
    { name: "set", body: { ...set } },
    ...clean.flatMap((run, index) => runBodies(run, index)),
  ]);
  const receipt: Receipt = {
    schema: RECEIPT_SCHEMA,
    version: RECORD_VERSION,
    note: RECEIPT_NOTE,
    sections,
    end: endHash(sections),
  };
  return { receipt, redaction: redactor.redaction(receiptText(receipt)) };
}

/** The one way to write a receipt; a file that differs from it in one byte is refused. */
export function receiptText(receipt: Receipt): string {
  return `${JSON.stringify(receipt, null, 2)}\n`;
}

/** Verdict of a set; one that was broken off is never a pass. */
export function setVerdict(
  runs: readonly { record: RunRecord; grade: Grade }[],
  interrupted: string | null,
): Grade["verdict"] | null {
  if (runs.some(({ record }) => record.kind === "drill")) return null;
  const { verdict } = gradeSet(runs.map((run) => run.grade));
  return interrupted !== null && verdict === "pass" ? "unproven" : verdict;
}

function checkedRecord(value: unknown, index: number): RunRecord {
  const parsed = runRecordSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new ReceiptError(
    `Cannot make a receipt: run ${index + 1} cannot be used. ${grade(value).reason}`,
  );
}

/** Section names of one run, without those that only some records need. */
export function sectionName(run: number, part: string): string {
  return `run-${run}/${part}`;
}

function runBodies(
  { record, grade: given }: { record: RunRecord; grade: Grade },
  index: number,
): { name: string; body: Section["body"] }[] {
  const whole = record as unknown as { [key: string]: Json };
  const placed = new Set<string>(Object.values(RUN_SECTIONS).flat());
  const pick = (keys: readonly string[]) =>
    Object.fromEntries(
      keys.filter((key) => whole[key] !== undefined).map((key) => [key, whole[key] as Json]),
    );
  const others = Object.keys(whole).filter((key) => !placed.has(key));
  const { verdict, reasonId, reason, containmentBroken } = given;
  return [
    ...Object.entries(RUN_SECTIONS).map(([part, keys]) => ({
      name: sectionName(index + 1, part),
      body: pick(keys),
    })),
    ...(others.length === 0
      ? []
      : [{ name: sectionName(index + 1, OTHER_SECTION), body: pick(others) }]),
    {
      name: sectionName(index + 1, GRADE_SECTION),
      body: { verdict, reasonId, reason, containmentBroken },
    },
  ];
}

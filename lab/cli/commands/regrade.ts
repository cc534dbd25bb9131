/**
 * `failure-lab regrade RUN`: grades the records of a saved run again.
 *
 * @module
 */
import type { Grade, RunRecord } from "../../record.ts";
import type { Command, CommandContext } from "../command.ts";
import { type Output, visible } from "../output.ts";

/** One run, graded again. */
export interface Regraded {
  /** Subject and variant, as far as the record can be read. */
  title: string;
  /** Verdict and deciding check that were saved; `null` when they cannot be read. */
  saved: { verdict: string; reasonId: string | null } | null;
  /** Today's grade. */
  today: Grade;
  /** Whether verdict or deciding check differ. */
  differs: boolean;
  /** For drills: what today's answer key expects, and whether it came. */
  expected: { verdict: string; reasonId: string | null; met: boolean } | null;
}

/** A saved set, graded again. */
export interface RegradedSet {
  /** What kind of document this is. */
  schema: "failure-lab/regrade";
  /** Version of its shape. */
  version: 1;
  /** The report that was read. */
  path: string;
  /** Verdict of all runs together as it was saved. */
  savedVerdict: string | null;
  /** By today's grader; of drills: whether each half gave what the answer key says. */
  verdict: string;
  /** What the program ends with. */
  exitCode: number;
  /** How many runs are seen differently now. */
  differing: number;
  /** Every run. */
  runs: Regraded[];
}

/** Grades the records of a saved run again. */
export const command: Command = {
  name: "regrade",
  summary: "Grade a saved run again with today's grader",
  usage: "regrade RUN [flags]",
  description:
    "Grades every record of a report again. The saved verdicts are shown beside the new " +
    "ones and decide nothing; a damaged record is unproven, with the place and the rule. The exit " +
    "code is that of the new verdicts. For drills it is, as in the run itself, whether each half " +
    "gave what the answer key says.",
  flags: [{ kind: "boolean", name: "json", summary: "Print the result as JSON" }],
  positionals: [{
    name: "RUN",
    summary: "A report folder, its report.json, or the word latest for the newest report",
    required: true,
  }],
  examples: [
    { line: "failure-lab regrade latest", does: "The newest report" },
    { line: "failure-lab regrade ~/before/report.json --json", does: "A certain one, as JSON" },
  ],
  async run({ flags, positionals, out }: CommandContext) {
    const { readSavedRun } = await import("./_saved_run.ts");
    const { path, set } = readSavedRun(positionals[0] ?? "", "RUN");
    const result = await regrade(path, set);
    if (flags.boolean("json")) out.out(JSON.stringify(result, null, 2));
    else await print(out, result);
    return result.exitCode;
  },
};

async function regrade(
  path: string,
  set: {
    verdict: unknown;
    interrupted: unknown;
    runs: readonly { record: unknown; grade: unknown }[];
  },
): Promise<RegradedSet> {
  const { grade, gradeSet } = await import("../../grader.ts");
  const { exitCodeFor, mergeVerdicts } = await import("../../verdict.ts");
  const expectationOf = set.runs.some(({ record }) => isDrill(record))
    ? await expectations()
    : () => null;
  const runs = set.runs.map(({ record, grade: old }): Regraded => {
    const today = grade(record);
    const saved = savedGrade(old);
    return {
      title: titleOf(record),
      saved,
      today,
      differs: saved?.verdict !== today.verdict || saved.reasonId !== today.reasonId,
      expected: isDrill(record) ? expectationOf(record, today) : null,
    };
  });
  const { containmentBroken } = gradeSet(runs.map((run) => run.today));
  const verdicts = runs.map(({ expected, today }) =>
    expected === null ? today.verdict : expected.met ? "pass" : "fail"
  );
  // What was broken off is not a pass, however well it began.
  const verdict = mergeVerdicts(set.interrupted === null ? verdicts : [...verdicts, "unproven"]);
  return {
    schema: "failure-lab/regrade",
    version: 1,
    path,
    savedVerdict: typeof set.verdict === "string" ? set.verdict : null,
    verdict,
    exitCode: exitCodeFor(verdict, containmentBroken),
    differing: runs.filter((run) => run.differs).length,
    runs,
  };
}

/** What counts for a drill is today's key; what was saved beside it could say anything. */
async function expectations(): Promise<(record: unknown, today: Grade) => Regraded["expected"]> {
  const { isMet, loadAnswerKey, MODES } = await import("../../../drills/mod.ts");
  const { drills } = loadAnswerKey();
  return (value, today) => {
    // The record may be damaged, so nothing about it is certain.
    const { subject, fault, options, notApplicable } = value as Partial<RunRecord>;
    const mode = MODES.find((each) => each === options?.mode);
    if (notApplicable !== null || mode === undefined || subject === undefined) return null;
    const byVariant = drills[subject]?.[mode];
    const expectation = byVariant?.[String(options?.variant ?? fault?.variant)] ?? byVariant?.["*"];
    if (expectation === undefined) return null;
    const { verdict, reasonId } = expectation;
    return { verdict, reasonId, met: isMet(expectation, today) };
  };
}

function isDrill(record: unknown): boolean {
  return typeof record === "object" && record !== null && "kind" in record &&
    record.kind === "drill" && "fault" in record && "options" in record;
}

function savedGrade(grade: unknown): Regraded["saved"] {
  if (typeof grade !== "object" || grade === null || !("verdict" in grade)) return null;
  const { verdict } = grade;
  const reasonId = "reasonId" in grade ? grade.reasonId : null;
  return typeof verdict !== "string" ? null : {
    verdict,
    reasonId: typeof reasonId === "string" ? reasonId : null,
  };
}

/** Names a run, whatever is left of its record. */
function titleOf(record: unknown): string {
  const text = (value: unknown) => typeof value === "string" && value !== "" ? [value] : [];
  if (typeof record !== "object" || record === null) return "(no record)";
  const { subject, half, fault } = record as Record<string, unknown>;
  const variant = typeof fault === "object" && fault !== null && "variant" in fault
    ? fault.variant
    : null;
  return [...text(subject), ...text(variant), ...text(half)].join(", ") || "(no name)";
}

async function print(out: Output, result: RegradedSet): Promise<void> {
  const { paragraph, plural, VERDICT_WORDS } = await import("../../report/mod.ts");
  const { table } = await import("../../report/table.ts");
  const { width, style } = out;
  const words = (verdict: string, reasonId: string | null) =>
    (VERDICT_WORDS[verdict as Grade["verdict"]] ?? visible(verdict)) +
    (reasonId === null ? "" : ` (${visible(reasonId)})`);
  const rows = result.runs.map((run) => ({
    cells: [
      visible(run.title),
      run.saved === null ? "not readable" : words(run.saved.verdict, run.saved.reasonId),
      words(run.today.verdict, run.today.reasonId),
      run.differs ? "differs" : "the same",
    ],
    notes: [
      ...(run.differs || run.today.verdict !== "pass" ? [visible(run.today.reason)] : []),
      ...(run.expected?.met === false
        ? [`The answer key expects ${words(run.expected.verdict, run.expected.reasonId)}`]
        : []),
    ],
    paint: (text: string, column: number) =>
      column === 3 && run.differs ? style.yellow(text) : text,
  }));
  const sentence = result.runs.length === 0
    ? "There is no run in this report, so nothing is shown."
    : result.differing === 0
    ? `Today's grader sees ${plural(result.runs.length, "run")} as saved.`
    : `Today's grader sees ${result.differing} of ${
      plural(result.runs.length, "run")
    } differently.`;
  const verdict = VERDICT_WORDS[result.verdict as Grade["verdict"]] ?? result.verdict;
  out.out([
    paragraph(sentence, width),
    visible(result.path),
    "",
    ...(rows.length === 0 ? [] : [...table(COLUMNS, rows, width), ""]),
    `${style.bold(verdict)}  saved: ${visible(result.savedVerdict ?? "not readable")} ` +
    `(exit ${result.exitCode})`,
  ].join("\n"));
}

const COLUMNS = [
  { heading: "run", minWidth: 17 },
  { heading: "saved", minWidth: 12 },
  { heading: "today", minWidth: 12 },
  { heading: "difference", minWidth: 10 },
];

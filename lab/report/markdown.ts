/**
 * The report as Markdown, to paste into an issue or a pull request.
 *
 * @module
 */
import type { RunSet } from "../record.ts";
import { drillRows } from "./drill_rows.ts";
import {
  factsOf,
  NOT_A_SANDBOX,
  type Run,
  RUN_HEADINGS,
  runCells,
  setSentence,
  VERDICT_WORDS,
  watchFactsOf,
} from "./facts.ts";
import { visible } from "./text.ts";

/** Most changes and runs that are listed one by one; report.json holds all. */
const LIST_MAX = 50;

/** Text in which nothing means anything to Markdown or HTML. */
export function escapeMarkdown(text: string): string {
  return visible(text)
    .replace(/[\\`*_[\]|~#$]/g, (character) => `\\${character}`)
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    // A mention would send a message to somebody.
    .replace(/@(?=\w)/g, "@\u2060");
}

/** Text as a block of code, with a fence that the text itself cannot close. */
export function codeBlock(text: string): string {
  const shown = visible(text, { keepNewlines: true });
  const longest = Math.max(0, ...[...shown.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = "`".repeat(Math.max(3, longest + 1));
  return `${fence}text\n${shown}\n${fence}`;
}

function markdownTable(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
): string[] {
  if (rows.length === 0) return [];
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [
    line(headings),
    line(headings.map(() => "---")),
    ...rows.map((row) => line(row.map(escapeMarkdown))),
    "",
  ];
}

function drillLines(runs: readonly Run[]): string[] {
  const headings = [
    "drill",
    "broken result",
    "repaired result",
    "units done",
    "outputs repeated",
    "recovery time",
  ];
  const rows = drillRows(runs).map((row) => [
    row.drill,
    row.broken,
    row.repaired,
    row.units,
    row.repeated,
    row.recovery,
  ]);
  return markdownTable(headings, rows);
}

function runLines(runs: readonly Run[]): string[] {
  const rows = runs.filter((run) => run.record.kind !== "drill").map((run) => {
    const facts = factsOf(run);
    return [facts.title, VERDICT_WORDS[facts.verdict], ...runCells(run), facts.reason];
  });
  return markdownTable(["failure", "verdict", ...RUN_HEADINGS, "reason"], rows);
}

function needsReading({ grade, expected }: Run): boolean {
  if (expected !== null) return !expected.met;
  return grade.verdict === "fail" || grade.verdict === "unproven";
}

function findingLines(runs: readonly Run[]): string[] {
  const open = runs.filter(needsReading);
  const lines = open.slice(0, LIST_MAX).flatMap((run) => {
    const facts = factsOf(run);
    const checks = run.grade.checks.filter(({ state }) => state === "bad" || state === "unknown");
    return [
      `## ${escapeMarkdown(`${VERDICT_WORDS[facts.verdict]}: ${facts.title}`)}`,
      "",
      escapeMarkdown(`${facts.unexpected === null ? "" : `${facts.unexpected}. `}${facts.reason}`),
      "",
      ...checks.map((check) =>
        `- ${check.state === "bad" ? "not ok" : "not known"}: ${escapeMarkdown(check.text)}`
      ),
      "",
      "Run it again:",
      "",
      codeBlock(run.record.rerun),
      "",
    ];
  });
  return open.length > LIST_MAX
    ? [...lines, `${open.length - LIST_MAX} more runs are in report.json.`, ""]
    : lines;
}

function watchLines(runs: readonly Run[]): string[] {
  if (runs.length === 0) return [];
  const facts = watchFactsOf(runs);
  const changes = facts.changes.slice(0, LIST_MAX);
  return [
    "## Watch list",
    "",
    escapeMarkdown(facts.sentence),
    "",
    ...changes.map(({ path, change, run }) =>
      `- ${escapeMarkdown(`${change}: ${path} (in ${run})`)}`
    ),
    ...(changes.length > 0 ? [""] : []),
    NOT_A_SANDBOX,
    "",
  ];
}

/** A set of runs as Markdown. */
export function markdownReport(runSet: RunSet): string {
  const { tool } = runSet;
  return [
    `# ${VERDICT_WORDS[runSet.verdict]}: failure-lab ${escapeMarkdown(runSet.command)}`,
    "",
    escapeMarkdown(`${setSentence(runSet)} Exit code ${runSet.exitCode}.`),
    "",
    ...(runSet.interrupted === null
      ? []
      : [escapeMarkdown(`Not complete: ${runSet.interrupted}`), ""]),
    ...drillLines(runSet.runs),
    ...runLines(runSet.runs),
    ...findingLines(runSet.runs),
    ...watchLines(runSet.runs),
    escapeMarkdown(
      `Started ${runSet.startedAt} with failure-lab ${tool.version}, Deno ${tool.deno}, ` +
        `${tool.os} ${tool.arch}.`,
    ),
    "",
  ].join("\n");
}

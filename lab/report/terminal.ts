/**
 * The report for a terminal: tables, the watch list, where the files are, and the verdict last,
 * where the eye rests. Nothing depends on colour.
 *
 * @module
 */
import type { RunSet } from "../record.ts";
import type { Verdict } from "../verdict.ts";
import { drillRows } from "./drill_rows.ts";
import {
  factsOf,
  NOT_A_SANDBOX,
  type Run,
  runCells,
  type RunFacts,
  setSentence,
  VERDICT_WORDS,
  watchFactsOf,
} from "./facts.ts";
import { createStyle, type Style } from "./style.ts";
import { type Column, type Row, table } from "./table.ts";
import { paragraph, plural, visible, wrapped } from "./text.ts";

/** How to lay it out. */
export interface TerminalOptions {
  /** Columns of the terminal. @default {100} */
  width?: number;
  /** Colours. @default {without colour} */
  style?: Style;
  /** Where the report files are, in the order in which to show them. */
  paths?: readonly { format: string; path: string }[];
  /** Sentences to add under the paths, for example which file could not be written. */
  notes?: readonly string[];
}

/** Most changes of the watch list that are listed one by one. */
const CHANGES_MAX = 20;

const DRILL_COLUMNS: readonly Column[] = [
  { heading: "drill", minWidth: 20 },
  { heading: "broken result", minWidth: 12 },
  { heading: "repaired result", minWidth: 12 },
  { heading: "units done", minWidth: 5, align: "right" },
  { heading: "outputs repeated", minWidth: 8, align: "right" },
  { heading: "recovery time", minWidth: 8, align: "right" },
];

const REPLAY_COLUMNS: readonly Column[] = [
  { heading: "failure", minWidth: 17 },
  { heading: "delivered", minWidth: 16 },
  { heading: "killed", minWidth: 11 },
  { heading: "resume", minWidth: 6 },
  { heading: "outputs", minWidth: 7, align: "right" },
  { heading: "rewritten", minWidth: 9, align: "right" },
  { heading: "doubled", minWidth: 7, align: "right" },
  { heading: "recovery time", minWidth: 8, align: "right" },
  { heading: "verdict", minWidth: 10 },
];

function verdictColour(verdict: Verdict, style: Style): (text: string) => string {
  switch (verdict) {
    case "pass":
      return style.green;
    case "fail":
      return style.red;
    case "unproven":
      return style.yellow;
    case "not-applicable":
      return style.dim;
  }
}

function drillTable(runs: readonly Run[], width: number, style: Style): string[] {
  const rows = drillRows(runs).map((row): Row => ({
    cells: [row.drill, row.broken, row.repaired, row.units, row.repeated, row.recovery]
      .map((cell) => visible(cell)),
    notes: row.notes.map((note) => visible(note)),
    paint: (text, column) =>
      column === 1 || column === 2 ? (row.isAsExpected ? style.green : style.red)(text) : text,
  }));
  return rows.length === 0 ? [] : [...table(DRILL_COLUMNS, rows, width), ""];
}

/** The reason of a run, and what else was not well. */
function reasonNotes(run: Run, facts: RunFacts): string[] {
  const others = run.grade.checks.filter((check) =>
    (check.state === "bad" || check.state === "unknown") && check.text !== facts.reason
  );
  const first = facts.verdict === "fail" ? others.filter((check) => check.state === "bad") : others;
  return [
    visible(facts.reason),
    ...first.slice(0, 3).map((check) => `also: ${visible(check.text)}`),
    ...(first.length > 3 ? [`and ${plural(first.length - 3, "more finding")} in the report`] : []),
  ];
}

function replayTable(runs: readonly Run[], width: number, style: Style): string[] {
  const own = runs.filter((run) => run.record.kind !== "drill");
  if (own.length === 0) return [];
  const rows = own.map((run): Row => {
    const facts = factsOf(run);
    return {
      cells: [facts.title, ...runCells(run), VERDICT_WORDS[facts.verdict]].map((cell) =>
        visible(cell)
      ),
      notes: reasonNotes(run, facts),
      paint: (text, column) =>
        column === REPLAY_COLUMNS.length - 1 ? verdictColour(facts.verdict, style)(text) : text,
    };
  });
  return [...table(REPLAY_COLUMNS, rows, width), "", ...contractLines(own, width)];
}

/** What could and could not be seen with this contract. */
function contractLines(runs: readonly Run[], width: number): string[] {
  const done = runs.filter((run) => run.record.notApplicable === null);
  const [first] = done;
  if (first === undefined) return [];
  const { contract } = first.record;
  const checks = [...(contract.emptyAllowed ? [] : ["not empty"]), ...contract.contentChecks];
  const lines = wrapped(
    `Content checks that were on: ${checks.map((check) => visible(check)).join(", ") || "none"}.`,
    width,
  );
  if (done.every((run) => run.record.effects === null)) {
    lines.push(...wrapped(
      'Doubled sends cannot be seen: the contract declares no "effects" file.',
      width,
    ));
  }
  return [...lines, ""];
}

function watchLines(runs: readonly Run[], width: number, style: Style): string[] {
  if (runs.length === 0) return [];
  const facts = watchFactsOf(runs);
  const lines = wrapped(`Watch list: ${visible(facts.sentence)}`, width);
  const shown = facts.changes.slice(0, CHANGES_MAX);
  const details = [
    ...shown.map(({ change, path, run }) => `${change}: ${visible(path)} (in ${visible(run)})`),
    ...(facts.changes.length > shown.length
      ? [`and ${facts.changes.length - shown.length} more in the report`]
      : []),
    ...facts.sentinelBroken.map((run) => `changed beside the workspace: in ${visible(run)}`),
    ...facts.notObserved.map((run) => `not looked at before and after: ${visible(run)}`),
    ...facts.watched.filter((place) => place.incomplete !== null).map((place) =>
      `not completely watched: ${visible(place.path)}: ${visible(place.incomplete ?? "")}`
    ),
  ];
  const paint = facts.isClean ? (text: string) => text : style.red;
  return [
    ...lines.map(paint),
    ...details.flatMap((detail) => wrapped(detail, width - 2).map((line) => `  ${line}`)),
    ...wrapped(NOT_A_SANDBOX, width - 2).map((line) => style.dim(`  ${line}`)),
    "",
  ];
}

function pathLines(options: TerminalOptions, width: number): string[] {
  const paths = options.paths ?? [];
  const longest = Math.max(0, ...paths.map(({ format }) => format.length));
  const lines = paths.map(({ format, path }) => `  ${format.padEnd(longest)}  ${visible(path)}`);
  const notes = (options.notes ?? []).flatMap((note) =>
    wrapped(visible(note), width - 2).map((line) => `  ${line}`)
  );
  if (lines.length + notes.length === 0) return [];
  return ["Report:", ...lines, ...notes, ""];
}

/**
 * A set of runs for a terminal.
 *
 * @returns Lines of at most `width` columns, except for paths of files, which stay in one piece so
 * that they can be copied.
 */
export function terminalReport(runSet: RunSet, options: TerminalOptions = {}): string {
  const width = options.width ?? 100;
  const style = options.style ?? createStyle(false);
  const word = VERDICT_WORDS[runSet.verdict];
  const paint = verdictColour(runSet.verdict, style);
  const interrupted = runSet.interrupted === null
    ? []
    : [...wrapped(`Not complete: ${visible(runSet.interrupted)}.`, width), ""];
  return [
    ...drillTable(runSet.runs, width, style),
    ...replayTable(runSet.runs, width, style),
    ...watchLines(runSet.runs, width, style),
    ...pathLines(options, width),
    ...interrupted,
    style.bold(paint(word)) + "  " +
    paragraph(`${setSentence(runSet)} (exit ${runSet.exitCode})`, width - word.length - 2, ""),
  ].join("\n");
}

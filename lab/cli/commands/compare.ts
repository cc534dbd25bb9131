/**
 * `failure-lab compare BEFORE AFTER`: two saved runs side by side.
 *
 * @module
 */
import type { ComparedPair, Comparison } from "../../../rehearsal/mod.ts";
import { EXIT_CODES } from "../../verdict.ts";
import type { Command, CommandContext } from "../command.ts";
import { type Output, visible } from "../output.ts";

/** Exit code of each result. */
const EXIT_CODE_OF: Record<Comparison["result"], number> = {
  better: EXIT_CODES.pass,
  same: EXIT_CODES.pass,
  worse: EXIT_CODES.fail,
  refused: EXIT_CODES.usage,
  unclear: EXIT_CODES.unproven,
};

/** Compares two saved runs. */
export const command: Command = {
  name: "compare",
  summary: "Put two saved runs side by side: what got better, what got worse",
  usage: "compare BEFORE AFTER [--changed PATH] [flags]",
  description:
    "Grades both runs with today's grader and compares verdicts, outputs, repeats and recovery " +
    "times (a time counts only beyond 1.5 times and 0.5 s, because chance gives that much). An " +
    "unfair pair is refused with the reason: another project beyond the declared change, another " +
    "contract, fault point or drill version. Exit 0: nothing got worse. 1: something did. " +
    "2: refused, nothing was compared. 3: nothing worse was seen, but a run is unproven or was " +
    "not run again.",
  flags: [
    {
      kind: "string",
      name: "changed",
      valueName: "PATH",
      summary: "A file or folder of the project that you changed in between",
      repeatable: true,
      check: checkProjectPath,
    },
    {
      kind: "string",
      name: "changed-command",
      summary: "A command of the contract that you changed in between",
      choices: ["start", "resume"],
      repeatable: true,
    },
    { kind: "boolean", name: "json", summary: "Print the comparison as JSON" },
  ],
  positionals: [
    {
      name: "BEFORE",
      summary: "The older run: a report folder, its report.json, or the word latest",
      required: true,
    },
    { name: "AFTER", summary: "The newer run, named the same way", required: true },
  ],
  examples: [
    {
      line: "failure-lab compare ~/before latest --changed run.sh",
      does: "What the change of run.sh made of the recovery",
    },
    {
      line: "failure-lab compare ~/before latest --changed-command resume --json",
      does: "The resume command was wrapped in a repair; the result as JSON",
    },
  ],
  async run({ flags, positionals, out }: CommandContext) {
    const { readSavedRun, savedVerdictOf } = await import("./_saved_run.ts");
    const { compareRuns } = await import("../../../rehearsal/mod.ts");
    const [before, after] = [["BEFORE", 0], ["AFTER", 1]].map(([argument, index]) =>
      readSavedRun(positionals[Number(index)] ?? "", String(argument))
    );
    if (before === undefined || after === undefined) throw new TypeError("Two runs are needed");
    const [old, now] = [before, after].map(({ set }) =>
      set.runs.map(({ record, grade }) => ({ record, savedVerdict: savedVerdictOf(grade) }))
    );
    const comparison = compareRuns(old ?? [], now ?? [], {
      paths: flags.strings("changed").map(projectPath),
      commands: flags.strings("changed-command").map((name) => name === "start" ? name : "resume"),
    });
    if (before.path === after.path) {
      comparison.notes.push("BEFORE and AFTER are the same report");
    }
    const paths = { before: before.path, after: after.path };
    if (flags.boolean("json")) {
      const exitCode = EXIT_CODE_OF[comparison.result];
      const { schema, version, ...rest } = comparison;
      out.out(JSON.stringify({ schema, version, exitCode, paths, ...rest }, null, 2));
    } else await printComparison(out, comparison, paths);
    return EXIT_CODE_OF[comparison.result];
  },
};

/** As the manifest writes it: without `./` in front and a slash at the end. */
function projectPath(path: string): string {
  return path.replace(/^(\.\/+)+/, "").replace(/\/+$/, "");
}

function checkProjectPath(path: string): string | null {
  const clean = projectPath(path);
  return clean === "" || clean === "." || clean.startsWith("/") || clean.split("/").includes("..")
    ? "it takes a file or folder inside the project, relative to it, for example --changed run.sh"
    : null;
}

async function printComparison(
  out: Output,
  comparison: Comparison,
  paths: { before: string; after: string },
): Promise<void> {
  const { paragraph } = await import("../../report/mod.ts");
  const { table } = await import("../../report/table.ts");
  const { width, style } = out;
  const text = (line: string, indent = "") => indent + paragraph(visible(line), width, indent);
  const paint = {
    better: style.green,
    worse: style.red,
    refused: style.red,
    unclear: style.yellow,
  };
  const { result, refusals, notes, pairs, onlyBefore, onlyAfter } = comparison;
  const lines = [
    result === "same" ? text(comparison.sentence) : paint[result](text(comparison.sentence)),
    "",
    `BEFORE  ${visible(paths.before)}`,
    `AFTER   ${visible(paths.after)}`,
    "",
    ...refusals.map((refusal) => `- ${paragraph(visible(refusal.text), width, "  ")}`),
    ...(pairs.length === 0 ? [] : table(COLUMNS, pairs.map((pair) => rowOf(pair, out)), width)),
    ...onlyBefore.map((title) => text(`only in BEFORE: ${title}`)),
    ...onlyAfter.map((title) => text(`only in AFTER: ${title}`)),
    ...notes.map((note) => text(`Note: ${note}`)),
  ];
  // A refusal is an answer about what was given, like any other usage error.
  if (result === "refused") out.err(lines.join("\n"));
  else out.out(lines.join("\n"));
}

const COLUMNS = [
  { heading: "failure", minWidth: 17 },
  { heading: "change", minWidth: 7 },
  { heading: "verdict", minWidth: 12 },
  { heading: "recovery time", minWidth: 10 },
  { heading: "outputs", minWidth: 7 },
  { heading: "rewritten", minWidth: 9 },
  { heading: "doubled", minWidth: 8 },
];

function rowOf(pair: ComparedPair, out: Output) {
  const { before, after, change, better, worse } = pair;
  const { gone, added, otherContent } = pair.outputs;
  const both = (of: (figures: typeof before) => string) =>
    of(before) === of(after) ? of(before) : `${of(before)} -> ${of(after)}`;
  const count = (value: number | null) => value === null ? "-" : String(value);
  const { red, green, yellow } = out.style;
  const paint = { better: green, worse: red, mixed: red, unclear: yellow, same: (t: string) => t };
  return {
    cells: [
      visible(pair.title),
      change === "mixed" ? "worse" : change === "unclear" ? "unknown" : change,
      both((each) => each.verdict.toUpperCase().replaceAll("-", " ")),
      both((each) => each.recoveryMs === null ? "-" : `${(each.recoveryMs / 1000).toFixed(2)} s`),
      both((each) => `${each.outputsWhole}/${each.outputsWanted ?? "?"}`),
      both((each) => count(each.rewritten)),
      both((each) => count(each.doubled)),
    ],
    notes: [
      ...worse.map((line) => `worse: ${line}`),
      ...better.map((line) => `better: ${line}`),
      ...(change === "same" ? [] : [`now: ${after.reason}`]),
      ...pair.notes,
      ...namesNote("outputs that are gone", gone),
      ...namesNote("outputs that are new", added),
      ...namesNote("outputs with other content than before", otherContent),
    ].map((note) => visible(note)),
    paint: (text: string, column: number) => column === 1 ? paint[change](text) : text,
  };
}

function namesNote(what: string, names: readonly string[]): string[] {
  const more = names.length > 3 ? `, and ${names.length - 3} more` : "";
  return names.length === 0 ? [] : [`${what}: ${names.slice(0, 3).join(", ")}${more}`];
}

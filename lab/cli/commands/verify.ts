/**
 * `failure-lab verify RECEIPT`: whether a receipt is as it was made, and says what is true.
 *
 * @module
 */
import { resolve } from "@std/path";
import type { OutputCheck, ReceiptCheck } from "../../../rehearsal/mod.ts";
import { EXIT_CODES, exitCodeFor } from "../../verdict.ts";
import type { Command, CommandContext } from "../command.ts";
import { UsageError } from "../errors.ts";
import { type Output, visible } from "../output.ts";

/** Checks a receipt. */
export const command: Command = {
  name: "verify",
  summary: "Check a receipt: whether anything in it was changed, and its verdict by grading again",
  usage: "verify RECEIPT [--project DIR] [flags]",
  description:
    "Checks the form of the file to the byte, the chain of hashes over its sections, and the " +
    "verdict of every run by grading its record again. A change is named by section and path. With " +
    "--project, the outputs that the receipt lists are compared with the files of a finished " +
    "project. A receipt is not a signature: whoever changes a record and makes all hashes anew has " +
    "made a new receipt, so ask where it comes from. Exit 0: it holds, whatever its verdict is " +
    "(--require-pass asks for more). 1: it does not hold, or the outputs differ. 2: this is no file " +
    "that can be read.",
  flags: [
    {
      kind: "string",
      name: "project",
      valueName: "DIR",
      summary: "Compare the outputs with the files of this finished project",
    },
    {
      kind: "boolean",
      name: "require-pass",
      summary: "End with the exit code of the verdict when the receipt holds: 0 only for a pass",
    },
    { kind: "boolean", name: "json", summary: "Print the result as JSON" },
  ],
  positionals: [{
    name: "RECEIPT",
    summary: "A file made by 'failure-lab receipt'",
    required: true,
  }],
  examples: [
    { line: "failure-lab verify receipt.json", does: "Whether it is as it was made" },
    {
      line: "failure-lab verify receipt.json --project . --require-pass",
      does: "Whether it is a pass, and this folder holds the outputs that it lists",
    },
  ],
  async run({ flags, positionals, out }: CommandContext) {
    const { readBytes } = await import("./_saved_run.ts");
    const { checkReceipt } = await import("../../../rehearsal/mod.ts");
    const path = resolve(positionals[0] ?? "");
    const check = checkReceipt(readBytes(path, "RECEIPT"));
    const dir = flags.string("project");
    const outputs = dir === undefined || check.runs.length === 0
      ? null
      : await outputsOf(dir, check);
    const exitCode = exitCodeOf(check, outputs, flags.boolean("require-pass"));
    if (flags.boolean("json")) {
      out.out(JSON.stringify(jsonOf(path, check, outputs, exitCode), null, 2));
    } else await print(out, check, outputs, dir === undefined ? null : resolve(dir));
    return exitCode;
  },
};

async function outputsOf(dir: string, check: ReceiptCheck): Promise<OutputCheck[]> {
  const { checkOutputs, outputsIn, projectFiles } = await import(
    "../../../rehearsal/mod.ts"
  );
  const asked = resolve(dir);
  try {
    if (!(await Deno.stat(asked)).isDirectory) throw new Error("it is not a folder");
    return checkOutputs(check.runs, projectFiles(asked), outputsIn(asked, check.runs));
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    throw new UsageError(`--project is "${asked}", which cannot be used: ${said}`, {
      cause: error,
    });
  }
}

function exitCodeOf(
  check: ReceiptCheck,
  outputs: readonly OutputCheck[] | null,
  requirePass: boolean,
): number {
  if (!check.holds || outputs?.some((each) => each.problem !== null) || outputs?.length === 0) {
    return EXIT_CODES.fail;
  }
  if (!requirePass) return EXIT_CODES.pass;
  return exitCodeFor(
    check.verdict ?? "unproven",
    check.runs.some((run) => run.grade.containmentBroken),
  );
}

function jsonOf(
  path: string,
  { holds, problems, notes, sections, runs, verdict }: ReceiptCheck,
  outputs: readonly OutputCheck[] | null,
  exitCode: number,
) {
  return {
    schema: "failure-lab/verification",
    version: 1,
    exitCode,
    path,
    holds,
    isSignature: false,
    problems,
    notes,
    sections,
    verdict,
    runs: runs.map(({ record, grade, claimed }) => ({
      id: record.id,
      subject: record.subject,
      claimed,
      verdict: grade.verdict,
      reasonId: grade.reasonId,
      reason: grade.reason,
    })),
    outputs,
  };
}

/** Problems and outputs that are listed one by one. */
const LINES_MAX = 20;

async function print(
  out: Output,
  check: ReceiptCheck,
  outputs: readonly OutputCheck[] | null,
  dir: string | null,
): Promise<void> {
  const { paragraph, plural, VERDICT_WORDS } = await import("../../report/mod.ts");
  const { style, width } = out;
  const text = (line: string, indent = "") => indent + paragraph(visible(line), width, indent);
  const places = check.problems.map(({ section, path, text: what }) =>
    text(`${section === null ? "" : `${section} `}${path ?? ""}`.trim() || "the receipt", "  ") +
    `\n${text(what, "      ")}`
  );
  const runs = check.runs.map(({ record, grade }) =>
    text(
      `${VERDICT_WORDS[grade.verdict]} ${record.subject}` +
        `${record.fault.variant === null ? "" : `, ${record.fault.variant}`}: ${grade.reason}`,
      "  ",
    )
  );
  const more = places.length - LINES_MAX;
  out.out([
    check.holds
      ? style.green(text(`The receipt holds: ${plural(check.sections, "section")}, none changed.`))
      : style.red(text(`The receipt does not hold: ${plural(check.problems.length, "problem")}.`)),
    ...places.slice(0, LINES_MAX),
    ...(more > 0 ? [`  and ${more} more`] : []),
    ...check.notes.map((note) => text(`Note: ${note}.`)),
    ...(runs.length === 0 ? [] : [
      "",
      text(
        check.holds
          ? `What it says, graded again: ${plural(runs.length, "run")}` +
            (check.verdict === null ? "" : `, ${VERDICT_WORDS[check.verdict]} all in all`)
          : "What stands in it gives, graded again:",
      ),
      ...runs,
    ]),
    ...outputLines(outputs, dir, text),
    "",
    text("This is not a signature: it does not show who made the receipt."),
  ].join("\n"));
}

function outputLines(
  outputs: readonly OutputCheck[] | null,
  dir: string | null,
  text: (line: string, indent?: string) => string,
): string[] {
  if (dir === null) return [];
  if (outputs === null) return ["", text("No output was compared: the receipt cannot be read.")];
  const bad = outputs.filter((each) => each.problem !== null);
  return [
    "",
    text(
      outputs.length === 0
        ? `The receipt lists no output, so nothing in ${dir} can be compared.`
        : bad.length === 0
        ? `${dir}: all ${outputs.length} outputs are there, with the content that the receipt says.`
        : `${dir}: ${bad.length} of ${outputs.length} outputs are not as the receipt says. (What ` +
          "holds times or chance differs in every run.)",
    ),
    ...bad.slice(0, LINES_MAX).map(({ path, problem }) => text(`${path}: ${problem}`, "  ")),
    ...(bad.length > LINES_MAX ? [`  and ${bad.length - LINES_MAX} more`] : []),
  ];
}

/**
 * What `demo` and `drills` share: the report, the progress line, the table at the end.
 *
 * @module
 */
import { copyFileSync } from "node:fs";
import { join } from "@std/path";
import {
  type DrillRun,
  grantedFlags,
  kitPath,
  loadAnswerKey,
  runDrills,
} from "../../../drills/mod.ts";
import { gitState } from "../../git_state.ts";
import type { JournalEntry } from "../../journal.ts";
import type { RunRecord, RunSet } from "../../record.ts";
import {
  jsonReport,
  openReport,
  paragraph,
  type Report,
  terminalReport,
} from "../../report/mod.ts";
import { EXIT_CODES } from "../../verdict.ts";
import { VERSION } from "../../version.ts";
import type { CommandContext } from "../command.ts";

/** What to run and what to say about it. */
export interface DrillCommand {
  command: "demo" | "drills";
  runs: readonly DrillRun[];
  seed: number;
  /** The line that runs the same again. */
  rerun: string;
}

/** Halves are quicker than reports: what is not written at once is written with the next one. */
const REPORT_EVERY_MS = 1500;

/** Runs drills, keeps the report up to date, prints it, and gives the exit code. */
export async function runDrillCommand(
  context: CommandContext,
  { command, runs, seed, rerun }: DrillCommand,
): Promise<number> {
  const { flags, out, signal, clock } = context;
  const isJson = flags.boolean("json");
  const label = flags.string("label") ?? null;
  const report = await openReport(flags.string("report") ?? null, {
    command,
    label,
    clock,
  });
  const kit = kitPath();
  const git = Deno.build.standalone ? null : await gitState(kit);
  if (command === "drills") printPlan(context, { runs, seed, rerun, git });
  const progress = progressLine(context, runs.length);
  let last: RunSet | null = null;
  let labKept: string | null = null;
  let writtenMs = clock.nowMs();
  try {
    const result = await runDrills({
      command,
      runs,
      key: loadAnswerKey(),
      rerun,
      seed,
      label,
      git,
      kitPath: kit,
      home: Deno.env.get("HOME") ?? null,
      keep: flags.boolean("keep"),
      clock,
      signal,
      exclude: [report.dir],
      onBegin: progress.begin,
      onJournal: progress.journal,
      keepJournal: (id, path) => keepJournal(report, id, path),
      onRun: async (runSet) => {
        last = runSet;
        if (clock.nowMs() - writtenMs < REPORT_EVERY_MS) return;
        await report.update(runSet);
        writtenMs = clock.nowMs();
      },
    });
    last = result.runSet;
    labKept = result.labKept;
    await report.update(last);
  } finally {
    await report.close();
  }
  if (isJson) out.out(jsonReport(last));
  else printReport(context, last, report, rerun);
  if (labKept !== null) out.err(`The lab was kept: ${labKept}`);
  return signal.aborted ? EXIT_CODES.interrupted : last.exitCode;
}

/** What is going to be done, so that it can be done again whatever happens. */
function printPlan(
  { out }: CommandContext,
  { runs, seed, rerun, git }: Omit<DrillCommand, "command"> & { git: RunRecord["git"] },
): void {
  const shapes = new Set(runs.map(({ drill, variant }) => `${drill.id.slice(0, 2)} ${variant}`));
  const source = git === null
    ? ""
    : `, git ${git.head.slice(0, 12)}${git.dirty ? " with uncommitted changes" : ""}`;
  const lines = [
    `failure-lab ${VERSION}${source}. Runs: ${runs.length}. Seed: ${seed}.`,
    `Shapes: ${[...shapes].join(", ")}.`,
    `May: ${
      grantedFlags().join(" ")
    }. Writes only below the system temp dir and the report folder.`,
    `The same again: ${rerun}`,
  ];
  out.err(lines.map((line) => paragraph(line, out.width, "  ")).join("\n"));
}

function keepJournal(report: Report, id: string, path: string): void {
  try {
    copyFileSync(path, join(report.dir, `journal-${id}.jsonl`));
  } catch {
    // A full disk is found and told where the report itself is written.
  }
}

function printReport(
  { out }: CommandContext,
  runSet: RunSet,
  report: Report,
  rerun: string,
): void {
  const shown = report.paths.filter(({ format }) => format === "html" || format === "json");
  out.out(
    terminalReport(runSet, {
      width: out.width,
      style: out.style,
      paths: shown,
      notes: [...report.notes, `The same again: ${rerun}`],
    }),
  );
}

const STEP_TEXTS: Record<string, string> = {
  start: "the job runs",
  idle: "no progress",
  fault: "the failure is proven",
  reaped: "ended, with proof",
  repair: "the repair works",
  attempt: "recovery done",
};

/** One line that says where we are, rewritten as things happen. */
function progressLine({ out }: CommandContext, total: number) {
  const heads = new Map<DrillRun, string>();
  return {
    begin(run: DrillRun, index: number): void {
      const head = `[${index + 1}/${total}] ${run.drill.id} (${run.variant}), ${run.mode}`;
      heads.set(run, head);
      out.progress(`${head}: starting`);
    },
    journal(run: DrillRun, entry: JournalEntry): void {
      const text = STEP_TEXTS[entry.type];
      if (text !== undefined) out.progress(`${heads.get(run) ?? ""}: ${text}`);
    },
  };
}

/**
 * What `rehearse`, `replay` and `sweep` share: the contract, the report, the session, the grading.
 *
 * @module
 */
import { dirname, fromFileUrl } from "@std/path";
import {
  dealLanes,
  loadConfig,
  type LoadedConfig,
  type PlanItem,
  plannedScope,
  runSession,
  type Scope,
} from "../../rehearsal/mod.ts";
import { drawSeed } from "../clock.ts";
import { gitState } from "../git_state.ts";
import type { JournalEntry } from "../journal.ts";
import { openReport, type Report, terminalReport } from "../report/mod.ts";
import { jsonReport } from "../report/json.ts";
import type { RunRecord, RunSet } from "../record.ts";
import { EXIT_CODES } from "../verdict.ts";
import type { CommandContext } from "./command.ts";
import { contractOverrides } from "./contract_flags.ts";
import { addRun, newRunSet } from "./run_set.ts";

/** Reads the contract of a command line. */
export function configOf({ flags }: Pick<CommandContext, "flags">): LoadedConfig {
  return loadConfig({
    cwd: Deno.cwd(),
    project: flags.string("project") ?? null,
    config: flags.string("config") ?? null,
    overrides: contractOverrides(flags),
  });
}

/** The program itself: the binary, or the folder of its source. */
export function kitPath(): string {
  return Deno.build.standalone
    ? Deno.execPath()
    : dirname(dirname(dirname(fromFileUrl(import.meta.url))));
}

/** The scope of a rehearsal that would write its report to `reportDir`. */
export function scopeOfConfig(config: LoadedConfig, reportDir: string): Scope {
  return plannedScope({ ...config, env: Deno.env.toObject(), reportDir, kitPath: kitPath() });
}

/** How a plan is done and told. */
export interface RehearseOptions {
  /** Sessions at the same time, each with its own lab, copy and control run. @default {1} */
  lanes?: number;
  /** Sentences for the end of the report, made when all is done. */
  notesOf?: (runSet: RunSet) => string[];
}

/**
 * Runs a plan on the user's job, with live progress, and reports.
 *
 * @param command Name of the command, for the report.
 * @param planOf Makes the plan out of the contract and the seed.
 * @returns The exit code.
 */
export async function rehearseAndReport(
  context: CommandContext,
  command: string,
  planOf: (config: LoadedConfig, seed: number) => PlanItem[],
  options: RehearseOptions = {},
): Promise<number> {
  const { flags, out, clock } = context;
  const config = configOf(context);
  const seed = flags.integer("seed") ?? drawSeed();
  const plan = planOf(config, seed);
  const label = flags.string("label") ?? null;
  const report = await openReport(flags.string("report") ?? null, { command, label, clock });
  const runSet = newRunSet(command, clock);
  let opening: Promise<RunRecord["git"]> | null = null;
  const open = async () => {
    const git = gitState(config.projectDir);
    await report.update(runSet);
    return await git;
  };
  const results = await inLanes(
    context.signal,
    dealLanes(plan, options.lanes ?? 1),
    (items, signal) =>
      runSession({
        contract: config.contract,
        projectDir: config.projectDir,
        env: Deno.env.toObject(),
        reportDir: report.dir,
        kitPath: kitPath(),
        plan: items,
        rerun: rerunLine(context.rerun, seed, flags.given("seed")),
        seed,
        label,
        git: () => opening ??= open(),
        keep: flags.boolean("keep"),
        clock,
        signal,
        async onRecord(record) {
          addRun(runSet, record);
          // The last one is written at the end, which comes at once, or fails.
          if (runSet.runs.length < plan.length) await report.update(runSet);
        },
        onProgress: (text) => out.progress(text),
        onJournal: (subject, entry) => out.progress(progressLine(subject, entry)),
      }),
  ).catch(async (error) => {
    await report.update(runSet);
    throw error;
  });
  out.clearProgress();
  const [first] = results;
  if (first !== undefined && first.removedVariables.length > 0) {
    out.err(`Not passed to the job: ${first.removedVariables.join(", ")} (real provider access)`);
  }
  for (const { labKept } of results) {
    if (labKept !== null) out.err(`The lab folder is kept: ${labKept}`);
  }
  if (results.length > 1) sortByPlan(runSet, plan);
  return await conclude(context, runSet, report, options.notesOf?.(runSet));
}

/** Runs lanes side by side. When one fails, the others are ended before its error is thrown. */
async function inLanes<T, R>(
  signal: AbortSignal,
  lanes: readonly T[][],
  run: (items: T[], signal: AbortSignal) => Promise<R>,
): Promise<R[]> {
  const failed = new AbortController();
  const any = AbortSignal.any([signal, failed.signal]);
  const ends = await Promise.allSettled(lanes.map((items) =>
    run(items, any).catch((error) => {
      failed.abort();
      throw error;
    })
  ));
  return ends.map((end) => {
    if (end.status === "rejected") throw end.reason;
    return end.value;
  });
}

/** Lanes end in any order; a report is read in the order of the plan. */
function sortByPlan(runSet: RunSet, plan: readonly PlanItem[]): void {
  const rank = ({ record }: RunSet["runs"][number]) =>
    plan.findIndex((item) =>
      item.subject === record.subject && item.variant === record.fault.variant &&
      item.killAfterArtifacts === (record.options.killAfterArtifacts ?? null)
    );
  runSet.runs.sort((a, b) => rank(a) - rank(b));
}

/** The command line that does the same again, with the seed that was drawn. */
export function rerunLine(rerun: string, seed: number, isGiven: boolean): string {
  return isGiven ? rerun : `${rerun} --seed ${seed}`;
}

/** Ends a run set: last report, what the terminal shows, the exit code. */
export async function conclude(
  context: Pick<CommandContext, "flags" | "out" | "clock" | "interruptedBy">,
  runSet: RunSet,
  report: Report,
  notes: readonly string[] = [],
): Promise<number> {
  const { flags, out, clock } = context;
  runSet.endedAt = clock.wallIso();
  const by = context.interruptedBy();
  if (by !== null) {
    runSet.interrupted = `ended by ${by}`;
    runSet.exitCode = by === "SIGINT" ? EXIT_CODES.interrupted : EXIT_CODES.terminated;
  }
  await report.update(runSet);
  let problem: Error | null = null;
  try {
    await report.close();
  } catch (error) {
    problem = error instanceof Error ? error : new Error(String(error));
  }
  if (flags.boolean("json")) out.out(jsonReport(runSet));
  else {
    out.out(terminalReport(runSet, {
      width: out.width,
      style: out.style,
      paths: report.paths,
      notes: [...report.notes, ...notes],
    }));
  }
  // The verdict was shown; a report that is not whole is a fault of this machine all the same.
  if (problem !== null) throw problem;
  return runSet.exitCode;
}

function progressLine(subject: string, entry: JournalEntry): string {
  const name = entry.data.name ?? entry.data.purpose;
  const at = (entry.atMs / 1000).toFixed(1);
  return `${subject}: ${entry.type}${name === undefined ? "" : ` ${name}`} (${at} s)`;
}

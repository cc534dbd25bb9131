/**
 * What `rehearse`, `replay` and `sweep` share: the contract, the report, the session, the grading.
 *
 * @module
 */
import { dirname, fromFileUrl } from "@std/path";
import {
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
import type { RunSet } from "../record.ts";
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
): Promise<number> {
  const { flags, out, clock, signal } = context;
  const config = configOf(context);
  const seed = flags.integer("seed") ?? drawSeed();
  const plan = planOf(config, seed);
  const label = flags.string("label") ?? null;
  const report = await openReport(flags.string("report") ?? null, { command, label, clock });
  const runSet = newRunSet(command, clock);
  await report.update(runSet);
  const result = await runSession({
    contract: config.contract,
    projectDir: config.projectDir,
    env: Deno.env.toObject(),
    reportDir: report.dir,
    kitPath: kitPath(),
    plan,
    rerun: rerunLine(context.rerun, seed, flags.given("seed")),
    seed,
    label,
    git: await gitState(config.projectDir),
    keep: flags.boolean("keep"),
    clock,
    signal,
    async onRecord(record) {
      addRun(runSet, record);
      await report.update(runSet);
    },
    onProgress: (text) => out.progress(text),
    onJournal: (subject, entry) => out.progress(progressLine(subject, entry)),
  });
  out.clearProgress();
  if (result.removedVariables.length > 0) {
    out.err(`Not passed to the job: ${result.removedVariables.join(", ")} (real provider access)`);
  }
  if (result.labKept !== null) out.err(`The lab folder is kept: ${result.labKept}`);
  return await conclude(context, runSet, report);
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
      notes: report.notes,
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

// Saved reports for the tests of the commands that look at old runs.

import { damaged, outputs } from "../../_grader_fixtures.ts";
import { systemClock } from "../../clock.ts";
import type { RunRecord } from "../../record.ts";
import { jsonReport } from "../../report/mod.ts";
import type { CommandEntry } from "../command.ts";
import { run } from "../mod.ts";
import { captureOutput } from "../output.ts";
import { addRun, newRunSet } from "../run_set.ts";

/** Writes a report of records and gives its path. */
export async function writeReport(path: string, records: readonly RunRecord[]): Promise<string> {
  const set = newRunSet("replay", systemClock);
  for (const record of records) addRun(set, record);
  await Deno.writeTextFile(path, jsonReport(set));
  return path;
}

/** A run that lost an output. */
export function lost(): RunRecord {
  return damaged((record) => {
    record.artifacts = outputs(5);
    for (const attempt of record.attempts.slice(-2)) attempt.artifactsAfter = outputs(5);
    const last = record.attempts.at(-1);
    if (last !== undefined) last.artifactsBefore = outputs(5);
  });
}

/** What a command printed, and its exit code. */
export interface Called {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs a command line with only this command in the program. */
export async function callCommand(entry: CommandEntry, args: readonly string[]): Promise<Called> {
  const output = captureOutput();
  const signals = { add: () => {}, remove: () => {} };
  const code = await run([entry.name, ...args], { registry: [entry], output, signals });
  return { code, stdout: output.stdout, stderr: output.stderr };
}

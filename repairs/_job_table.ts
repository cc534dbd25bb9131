/**
 * The process table as one wrapped job is seen in it.
 *
 * Each job gets a variable of its own name in its environment. So a wrapper inside a wrapper, or a
 * wrapper inside a lab, never takes away the mark by which the outer one finds its processes.
 *
 * @module
 */
import {
  MARKER_NAME,
  parseProcessTable,
  type ProcessRow,
  processTableArguments,
  ProcessTableError,
  SYSTEM_PATH,
  systemTool,
} from "../lab/mod.ts";

/** Name of the variable that marks the processes of the job with this token. */
export function jobVariable(token: string): string {
  return `FAILURE_LAB_JOB_${token.slice(0, 12)}`;
}

/**
 * The output of `ps`, with the mark of one job in the place where the parser looks for marks and
 * every other mark out of its sight.
 */
export function showJobMark(psText: string, token: string): string {
  return psText
    .replaceAll(`${MARKER_NAME}=`, "FAILURE_LAB_OTHER=")
    .replaceAll(`${jobVariable(token)}=`, `${MARKER_NAME}=`);
}

/**
 * Reads the process table once; `marker` is set on the rows that carry the mark of this job.
 *
 * @throws {ProcessTableError} When `ps` fails.
 * @throws {EnvironmentError} When `ps` is missing.
 */
export async function readJobTable(token: string): Promise<ProcessRow[]> {
  const output = await new Deno.Command(systemTool("ps"), {
    args: processTableArguments(Deno.build.os),
    env: { LC_ALL: "C", TZ: "UTC0", PATH: SYSTEM_PATH },
    clearEnv: true,
    stdin: "null",
    stderr: "null",
  }).output();
  const text = new TextDecoder().decode(output.stdout);
  if (text.trim() === "") {
    throw new ProcessTableError(
      `Cannot read the process table: ps ended with ${output.code} and printed nothing`,
    );
  }
  return parseProcessTable(showJobMark(text, token));
}

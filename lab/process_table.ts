/**
 * The process table of this machine, as `ps` tells it. `/proc` is out of reach for a program with
 * scoped permissions, and macOS has none, so `ps` is the one source on both systems.
 *
 * @module
 */
import type { ProcessIdentity } from "./record.ts";
import { EnvironmentError, SYSTEM_PATH, systemTool } from "./system_tools.ts";

/** Name of the environment variable that marks every process of a run. */
export const MARKER_NAME = "FAILURE_LAB_RUN";

/**
 * How far two readings of one process's start time may lie apart. `ps` computes it from the boot
 * time and clock ticks, so readings of the same process can differ by one second.
 */
export const START_TOLERANCE_SECONDS = 2;

/** One process. */
export interface ProcessRow extends ProcessIdentity {
  ppid: number;
  pgid: number;
  /** State letters of `ps`; the first is R, S, D, T (stopped), Z (dead, not yet collected), … */
  state: string;
  /** Value of our marker variable, or `null` when the process carries none. */
  marker: string | null;
}

/** Reading the process table failed. The environment lacks `ps`, or its answer makes no sense. */
export class ProcessTableError extends Error {
  override name = "ProcessTableError";
}

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

// pid ppid pgid state, then lstart as "Mon Nov 30 03:56:07 2026" (C locale), then the command.
// macOS pads the day with a blank; some locales of BSD write the day before the month.
const ROW_REGEXP =
  /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+[A-Z][a-z]{2}\s+(?:([A-Z][a-z]{2})\s+(\d{1,2})|(\d{1,2})\s+([A-Z][a-z]{2}))\s+(\d\d):(\d\d):(\d\d)\s+(\d{4})(?:\s(.*))?$/;
const MARKER_REGEXP = new RegExp(`(?:^|\\s)${MARKER_NAME}=([0-9a-f]{32})(?=\\s|$)`, "g");

/**
 * Parses the output of the `ps` call that {@linkcode readProcessTable} makes.
 *
 * Lines that are not a process (continuations of a command with a newline in it) are skipped, but
 * the marker in such a line still counts for the process before it.
 *
 * @throws {ProcessTableError} When no single line can be read as a process.
 */
export function parseProcessTable(text: string): ProcessRow[] {
  const rows: ProcessRow[] = [];
  for (const line of text.split("\n")) {
    const match = ROW_REGEXP.exec(line);
    if (!match) {
      const last = rows.at(-1);
      if (last) last.marker = markerIn(line) ?? last.marker;
      continue;
    }
    const month = MONTHS.indexOf(match[5] ?? match[8] ?? "");
    if (month < 0) continue;
    const command = match[13] ?? "";
    rows.push({
      pid: Number(match[1]),
      ppid: Number(match[2]),
      pgid: Number(match[3]),
      state: match[4] ?? "?",
      startedSeconds: Date.UTC(
        Number(match[12]),
        month,
        Number(match[6] ?? match[7]),
        Number(match[9]),
        Number(match[10]),
        Number(match[11]),
      ) / 1000,
      name: nameOf(command),
      marker: markerIn(command),
    });
  }
  if (rows.length === 0) {
    throw new ProcessTableError(
      `Cannot read the process table: no line of ps looks like a process (first line: "${
        text.split("\n")[0]?.slice(0, 120) ?? ""
      }")`,
    );
  }
  return rows;
}

function markerIn(text: string): string | null {
  // The environment stands behind the arguments, so the last match is the environment's.
  return [...text.matchAll(MARKER_REGEXP)].at(-1)?.[1] ?? null;
}

/** The program's bare name. Arguments and environment are never kept: they can hold secrets. */
function nameOf(command: string): string {
  const first = command.trim().split(/\s/, 1)[0] ?? "";
  return first.split("/").at(-1) || "?";
}

/** The arguments of the `ps` call on this system. TZ=UTC and LC_ALL=C make its times readable. */
export function processTableArguments(os: typeof Deno.build.os): string[] {
  const columns = ["-o", "pid=,ppid=,pgid=,stat=,lstart=,args="];
  // Linux: BSD-style "e" shows the environment behind the command; macOS: -E does.
  return os === "darwin" ? ["-A", "-E", "-ww", ...columns] : ["axeww", ...columns];
}

/**
 * Reads the process table once. Takes about 10 ms. Requires `--allow-run=ps`.
 *
 * @throws {ProcessTableError} When `ps` is missing, fails or gives nothing that can be read.
 */
export async function readProcessTable(): Promise<ProcessRow[]> {
  let output: Deno.CommandOutput;
  try {
    output = await new Deno.Command(systemTool("ps"), {
      args: processTableArguments(Deno.build.os),
      env: { LC_ALL: "C", TZ: "UTC0", PATH: SYSTEM_PATH },
      clearEnv: true,
      stdin: "null",
    }).output();
  } catch (error) {
    if (error instanceof EnvironmentError) throw error;
    throw new ProcessTableError(
      "Cannot read the process table: the program 'ps' could not be started. Install it " +
        "(Debian: apt-get install procps) and try again",
      { cause: error },
    );
  }
  const text = new TextDecoder().decode(output.stdout);
  if (!output.success && text.trim() === "") {
    const why = new TextDecoder().decode(output.stderr).trim().slice(0, 200);
    throw new ProcessTableError(
      `Cannot read the process table: ps ended with ${output.code}: ${why}`,
    );
  }
  return parseProcessTable(text);
}

/** Whether a row is the process that was recorded: the same pid and the same start time. */
export function isSameProcess(row: ProcessIdentity, recorded: ProcessIdentity): boolean {
  return row.pid === recorded.pid &&
    Math.abs(row.startedSeconds - recorded.startedSeconds) <= START_TOLERANCE_SECONDS;
}

/** Whether a row still runs: a dead process that nobody collected yet (state Z) does not. */
export function isAlive(row: ProcessRow): boolean {
  return !row.state.startsWith("Z") && !row.state.startsWith("X");
}

/** Whether a row is stopped (SIGSTOP). */
export function isStopped(row: ProcessRow): boolean {
  return row.state.startsWith("T");
}

/** The identity of one pid now, or `null` when no such process lives. */
export async function identify(pid: number): Promise<ProcessIdentity | null> {
  const row = (await readProcessTable()).find((each) => each.pid === pid && isAlive(each));
  return row ? { pid: row.pid, startedSeconds: row.startedSeconds, name: row.name } : null;
}

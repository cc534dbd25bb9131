/**
 * The process table of this machine, as `ps` tells it. `/proc` is out of reach for a program with
 * scoped permissions, and macOS has none, so `ps` is the one source on both systems.
 *
 * @module
 */
import type { ProcessIdentity } from "./record.ts";
import { EnvironmentError, killQuietly, SYSTEM_PATH, systemTool } from "./system_tools.ts";

/** Name of the environment variable that marks every process of a run. */
export const MARKER_NAME = "FAILURE_LAB_RUN";

/**
 * How far two readings of one process's start time may lie apart. `ps` computes it from the boot
 * time and clock ticks, so readings of the same process can differ by one second.
 */
export const START_TOLERANCE_SECONDS = 2;

/** One process. */
export interface ProcessRow extends ProcessIdentity {
  /** The process that started it, or 1 when that one is gone. */
  ppid: number;
  /** Its process group; that of a leader is its own pid. */
  pgid: number;
  /** State letters of `ps`; the first is R, S, D, T (stopped), Z (dead, not yet collected), … */
  state: string;
  /** Value of our marker variable, or `null` when the process carries none. */
  marker: string | null;
}

/** Reading the process table failed. The environment lacks `ps`, or its answer makes no sense. */
export class ProcessTableError extends Error {
  /** Name of the class. */
  override name = "ProcessTableError";
  /** The environment lacks something. */
  readonly exitCode = 4;
}

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

// pid ppid pgid state, then lstart as "Mon Nov 30 03:56:07 2026" (C locale), then the command.
// macOS pads the day with a blank; some locales of BSD write the day before the month.
const ROW_REGEXP =
  /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+[A-Z][a-z]{2}\s+(?:([A-Z][a-z]{2})\s+(\d{1,2})|(\d{1,2})\s+([A-Z][a-z]{2}))\s+(\d\d):(\d\d):(\d\d)\s+(\d{4})(?:\s(.*))?$/s;
const MARKER_REGEXP = new RegExp(`(?<=^|\\s)${MARKER_NAME}=([0-9a-f]{32})(?=\\s|$)`, "g");

/**
 * How long one `ps` may take. It can hang on a process whose memory is locked in the kernel, and a
 * kill that waits for it would not be bounded.
 */
const PS_LIMIT_MS = 5000;

interface ParsedRow {
  row: ProcessRow;
  /** How often the marker stands in the arguments and the environment together. */
  markerCount: number;
}

/**
 * Parses the output of the `ps` call that {@linkcode readProcessTable} makes.
 *
 * Both systems print one line per process (procps turns a newline in a command into a blank, macOS
 * into `\012`). Should a line come that is none, it belongs to the process before it: it is skipped,
 * but a marker in it counts. A second line for the same pid is such a line as well.
 *
 * The marker is looked for in arguments and environment alike, because `ps` prints them as one
 * text; {@linkcode readProcessTable} tells them apart.
 *
 * @throws {ProcessTableError} When no single line can be read as a process.
 */
export function parseProcessTable(text: string): ProcessRow[] {
  return parseRows(text).map(({ row }) => row);
}

function parseRows(text: string): ParsedRow[] {
  const rows: ParsedRow[] = [];
  const pids = new Set<number>();
  for (const line of text.split("\n")) {
    const row = parseRow(line);
    const last = rows.at(-1);
    if (row !== null && !pids.has(row.pid)) {
      pids.add(row.pid);
      rows.push({ row, markerCount: markersIn(line).length });
    } else if (last !== undefined) {
      const markers = markersIn(line);
      last.row.marker = markers.at(-1) ?? last.row.marker;
      last.markerCount += markers.length;
    }
  }
  if (rows.length > 0) return rows;
  const first = text.split("\n")[0]?.slice(0, 120) ?? "";
  throw new ProcessTableError(
    `Cannot read the process table: no line of ps looks like a process (first line: "${first}"). ` +
      "The lab needs the ps of procps or of macOS; the one of busybox does not show start times",
  );
}

function parseRow(line: string): ProcessRow | null {
  const match = ROW_REGEXP.exec(line);
  if (!match) return null;
  const month = MONTHS.indexOf(match[5] ?? match[8] ?? "");
  if (month < 0) return null;
  const number = (group: number) => Number(match[group]);
  const day = Number(match[6] ?? match[7]);
  const command = match[13] ?? "";
  return {
    pid: number(1),
    ppid: number(2),
    pgid: number(3),
    state: match[4] ?? "?",
    startedSeconds: Date.UTC(number(12), month, day, number(9), number(10), number(11)) / 1000,
    name: nameOf(command),
    // The environment stands behind the arguments, so the last one is the environment's.
    marker: markersIn(command).at(-1) ?? null,
  };
}

function markersIn(text: string): string[] {
  // Most rows have none, and a table can hold a megabyte of other people's environment.
  if (!text.includes(`${MARKER_NAME}=`)) return [];
  return [...text.matchAll(MARKER_REGEXP)].map((match) => match[1] ?? "");
}

/** The program's bare name. Arguments and environment are never kept: they can hold secrets. */
function nameOf(command: string): string {
  const first = command.trim().split(/\s/, 1)[0] ?? "";
  if (first.startsWith("[")) return first; // A part of the kernel, or a dead process.
  return first.split("/").at(-1) || "?";
}

/** The arguments of the `ps` call on this system. TZ=UTC and LC_ALL=C make its times readable. */
export function processTableArguments(os: typeof Deno.build.os): string[] {
  // One -o for each column: in one list, POSIX takes what follows the first "=" for a heading.
  const columns = ["pid", "ppid", "pgid", "stat", "lstart", "args"]
    .flatMap((name) => ["-o", `${name}=`]);
  // Linux: BSD-style "e" shows the environment behind the command; macOS: -E does.
  return os === "darwin" ? ["-A", "-E", "-ww", ...columns] : ["axeww", ...columns];
}

/**
 * Reads the process table once: about 7 ms, or 40 ms where 500 processes run. Requires
 * `--allow-run` for `ps`, and read where {@linkcode systemTool} looks for it.
 *
 * Known gaps, for which the group and descent stand in ({@linkcode Ledger}): macOS hides the
 * environment of its own programs (`/bin/sh`, `/usr/bin/*`), procps cuts a line after 128 KiB, and a
 * program may overwrite its environment; such a process shows no marker.
 *
 * @param limitMs Time that `ps` may take. It is long, because the machine may be busy. @default {5000}
 * @throws {ProcessTableError} When `ps` fails, takes too long, or gives nothing that can be read.
 * @throws {EnvironmentError} When the machine has no `ps`.
 */
export async function readProcessTable(limitMs: number = PS_LIMIT_MS): Promise<ProcessRow[]> {
  const output = await runPs(processTableArguments(Deno.build.os), limitMs);
  if (!output.success) {
    throw new ProcessTableError(
      `Cannot read the process table: ps ended with ${output.signal ?? output.code}: ${
        output.stderr.trim().slice(0, 200)
      }. The lab needs the ps of procps (Debian: apt-get install procps) or of macOS`,
    );
  }
  const parsed = parseRows(output.stdout);
  if (!parsed.some(({ row }) => row.pid === Deno.pid)) {
    throw new ProcessTableError(
      `Cannot read the process table: ps shows ${parsed.length} processes but not this one ` +
        `(pid ${Deno.pid}), so it does not show all of them`,
    );
  }
  await dropQuotedMarkers(parsed, limitMs);
  return parsed.map(({ row }) => row);
}

/** Answers of {@linkcode dropQuotedMarkers}, by pid, start time and marker. */
const markerIsReal = new Map<string, boolean>();
const MARKER_ANSWERS_MAX = 10_000;

/**
 * Takes the marker away from processes that only quote it in their arguments, for example a person's
 * `grep FAILURE_LAB_RUN=…`: they are strangers and must not be signalled. A second `ps` without the
 * environment tells; it is asked once for each new process, and not for one in the group of a process
 * whose marker is known to be real: such a one is ours by its group, whatever its arguments say.
 */
async function dropQuotedMarkers(parsed: readonly ParsedRow[], limitMs: number): Promise<void> {
  const keyOf = (row: ProcessRow) => `${row.pid}@${row.startedSeconds} ${row.marker}`;
  const marked = parsed.filter(({ row }) => row.marker !== null);
  const leaders = new Map(
    marked.filter(({ row }) => row.pid === row.pgid).map(({ row }) => [row.pid, row]),
  );
  const unknown = marked.filter(({ row }) => {
    if (markerIsReal.has(keyOf(row))) return false;
    const leader = leaders.get(row.pgid);
    return leader === undefined || leader.marker !== row.marker ||
      markerIsReal.get(keyOf(leader)) !== true;
  });
  if (unknown.length > 0) {
    if (markerIsReal.size > MARKER_ANSWERS_MAX) markerIsReal.clear();
    const pids = unknown.map(({ row }) => row.pid).join(",");
    // It ends with 1 when all of them are gone by now; then nothing is quoted, and nothing is hit.
    const { stdout } = await runPs(["-ww", "-o", "pid=", "-o", "args=", "-p", pids], limitMs);
    const quoted = countQuotedMarkers(stdout);
    for (const { row, markerCount } of unknown) {
      markerIsReal.set(keyOf(row), markerCount > (quoted.get(row.pid) ?? 0));
    }
  }
  for (const { row } of marked) {
    if (markerIsReal.get(keyOf(row)) === false) row.marker = null;
  }
}

/** How often a marker stands in the arguments of each process: lines of pid and arguments. */
function countQuotedMarkers(text: string): Map<number, number> {
  const counts = new Map<number, number>();
  for (const line of text.split("\n")) {
    const count = markersIn(line).length;
    if (count > 0) counts.set(Number.parseInt(line, 10), count);
  }
  return counts;
}

interface PsOutput {
  success: boolean;
  code: number;
  signal: string | null;
  stdout: string;
  stderr: string;
}

async function runPs(args: string[], limitMs: number): Promise<PsOutput> {
  let child: Deno.ChildProcess;
  try {
    child = new Deno.Command(systemTool("ps"), {
      args,
      env: { LC_ALL: "C", TZ: "UTC0", PATH: SYSTEM_PATH },
      clearEnv: true,
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
  } catch (error) {
    if (error instanceof EnvironmentError) throw error;
    throw new ProcessTableError(
      "Cannot read the process table: the program 'ps' could not be started. Install it " +
        "(Debian: apt-get install procps) and try again",
      { cause: error },
    );
  }
  const timer = setTimeout(() => killQuietly(child), limitMs);
  try {
    const output = await child.output();
    const decoder = new TextDecoder();
    return {
      success: output.success,
      code: output.code,
      signal: output.signal,
      stdout: decoder.decode(output.stdout),
      stderr: decoder.decode(output.stderr),
    };
  } finally {
    clearTimeout(timer);
  }
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

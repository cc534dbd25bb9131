/**
 * What a run needs of this machine, each tried out in small: programs, the process table, a group
 * kill, the temp dir, the place for reports, the clock. Everything that is started or made here is
 * ended and removed again.
 *
 * @module
 */
import { statfsSync } from "node:fs";
import { dirname, join } from "@std/path";
import { type Clock, drawToken, waitUntil } from "../../clock.ts";
import {
  MARKER_NAME,
  type ProcessRow,
  readProcessTable,
  START_TOLERANCE_SECONDS,
} from "../../process_table.ts";
import { formatBytes, formatDuration } from "../../report/text.ts";
import { sendSignal } from "../../signals.ts";
import { findProgram, SYSTEM_PATH, systemTool } from "../../system_tools.ts";
import { LAB_PREFIX, systemTempDir } from "../../workspace.ts";

/** One thing that was looked at. */
export interface MachineCheck {
  /** Stable name. */
  id: string;
  /** `lacking` keeps a run from working; with a `warning` some of it may not. */
  state: "ok" | "warning" | "lacking";
  /** What was found, and what to do. */
  text: string;
}

/** Parts of the machine; tests give their own. */
export interface Machine {
  clock: Clock;
  /** Where system programs are looked for. */
  path: string;
  /** The temp dir as the environment names it. */
  tmpdir: string | undefined;
  /** Folders for reports, best first. */
  reportDirs: readonly string[];
  os: typeof Deno.build.os;
  /** Reads the process table. */
  readTable: () => Promise<ProcessRow[]>;
  /** Bytes that are free in a folder; `null` when nobody can tell. */
  freeBytes: (dir: string) => number | null;
}

/** The real machine. */
export function thisMachine(clock: Clock, reportDirs: readonly string[]): Machine {
  return {
    clock,
    path: SYSTEM_PATH,
    tmpdir: Deno.env.get("TMPDIR"),
    reportDirs,
    os: Deno.build.os,
    readTable: readProcessTable,
    freeBytes,
  };
}

/** Looks at everything. Never throws for something that is not there. */
export async function checkMachine(machine: Machine): Promise<MachineCheck[]> {
  const tools = toolChecks(machine);
  const hasTools = tools.every((check) => check.state === "ok");
  return [
    ...tools,
    ...(hasTools ? await processChecks(machine) : [lacking(
      "processes",
      "Not tried, because a program is missing",
    )]),
    ...await tempChecks(machine),
    await reportCheck(machine),
    clockCheck(machine),
  ];
}

function ok(id: string, text: string): MachineCheck {
  return { id, state: "ok", text };
}

function lacking(id: string, text: string): MachineCheck {
  return { id, state: "lacking", text };
}

function warning(id: string, text: string): MachineCheck {
  return { id, state: "warning", text };
}

const TOOLS: readonly [name: string, use: string, source: string][] = [
  ["ps", "to see processes", "procps"],
  ["kill", "to end whole groups", "procps"],
  ["sh", "to run commands", "dash"],
  ["awk", "for the keeper, which cleans up when the lab itself is killed", "mawk"],
  ["sleep", "for the keeper", "coreutils"],
];

function toolChecks({ path }: Machine): MachineCheck[] {
  return TOOLS.map(([name, use, source]) => {
    const place = findProgram(name, path, "/");
    return place === null
      ? lacking(
        name,
        `Not found in ${path}; it is needed ${use}. Install it (Debian: apt-get install ${source})`,
      )
      : ok(name, place);
  });
}

const PROBE_LIMIT_MS = 5000;

/** A marked shell with a child, in a group of its own: can we see both, and end both at once? */
async function processChecks(machine: Machine): Promise<MachineCheck[]> {
  const { clock, os } = machine;
  const marker = drawToken();
  const startedMs = clock.wallMs();
  const child = new Deno.Command(systemTool("sh"), {
    args: ["-c", "sleep 60 & wait"],
    env: { PATH: SYSTEM_PATH, [MARKER_NAME]: marker },
    clearEnv: true,
    stdin: "null",
    stdout: "null",
    stderr: "null",
    detached: true,
  }).spawn();
  let status: Deno.CommandStatus | null = null;
  const ended = child.status.then((each) => status = each);
  const group = async () =>
    (await machine.readTable()).filter((row) =>
      row.pgid === child.pid && !row.state.startsWith("Z")
    );
  try {
    const seen = await waitUntil(async () => {
      const rows = await group();
      return rows.length === 2 ? rows : null;
    }, { limitMs: PROBE_LIMIT_MS, clock });
    if (seen === null) {
      return [lacking("processes", "ps does not show a process of ours and its child")];
    }
    const checks = [
      ok("processes", "ps shows our processes and their groups"),
      markerCheck(seen, marker, os),
      startTimeCheck(seen, child.pid, startedMs),
    ];
    await sendSignal("KILL", [-child.pid]);
    const isGone = await waitUntil(async () => status !== null && (await group()).length === 0, {
      limitMs: PROBE_LIMIT_MS,
      clock,
    });
    const { signal } = await ended;
    return [
      ...checks,
      isGone && signal === "SIGKILL"
        ? ok("group-kill", "one signal ends a process with all its children")
        : lacking(
          "group-kill",
          `A group was to be ended by SIGKILL, but: ${signal ?? "still there"}`,
        ),
    ];
  } catch (error) {
    return [lacking("processes", error instanceof Error ? error.message : String(error))];
  } finally {
    if (status === null) await sendSignal("KILL", [-child.pid]).catch(() => child.kill("SIGKILL"));
    await ended;
  }
}

function markerCheck(rows: readonly ProcessRow[], marker: string, os: Machine["os"]): MachineCheck {
  const id = "marker";
  if (rows.every((row) => row.marker === marker)) {
    return ok(id, "ps shows the environment, so that a process of ours is known wherever it goes");
  }
  const what = "ps does not show the environment of our processes";
  return os === "darwin"
    ? warning(
      id,
      `${what}: macOS hides that of its own programs (/bin/sh, /usr/bin/*). A process of such a ` +
        "program that leaves its group and loses its parent cannot be found again; the kill then " +
        "counts as not proven when it holds a pipe, and else it is not seen",
    )
    : lacking(
      id,
      `${what}, so one that leaves its group cannot be found. Is /proc mounted with hidepid, or is ` +
        "this the ps of busybox? The lab needs the one of procps",
    );
}

function startTimeCheck(
  rows: readonly ProcessRow[],
  pid: number,
  startedMs: number,
): MachineCheck {
  const row = rows.find((each) => each.pid === pid);
  const apart = Math.abs((row?.startedSeconds ?? 0) - startedMs / 1000);
  return apart <= START_TOLERANCE_SECONDS + 1
    ? ok("start-times", "ps and the clock agree about when a process started")
    : lacking(
      "start-times",
      `ps and the clock are ${
        formatDuration(apart * 1000)
      } apart about a process that was started ` +
        "this moment, so pids that are used again cannot be told apart. Set the clock, or restart " +
        "the machine or container",
    );
}

const FREE_BYTES_LACKING = 100e6;
const FREE_BYTES_WARNING = 1e9;
/** A file's time and the clock may differ by this much; FAT counts in steps of two seconds. */
const FILE_TIME_MS_MAX = 2500;

async function tempChecks(machine: Machine): Promise<MachineCheck[]> {
  let dir: string | null = null;
  try {
    const tempDir = systemTempDir(machine.tmpdir ?? "");
    dir = await Deno.makeTempDir({ dir: tempDir, prefix: LAB_PREFIX });
    const file = join(dir, "probe.sh");
    await Deno.writeTextFile(file, "#!/bin/sh\nexit 7\n", { mode: 0o700 });
    const mtimeMs = (await Deno.stat(file)).mtime?.getTime() ?? 0;
    return [
      ok("temp-dir", `${tempDir} can be written`),
      spaceCheck(tempDir, machine.freeBytes(tempDir)),
      await canRun(file) ? ok("temp-run", "programs can be run from there") : warning(
        "temp-run",
        `No program can be run from ${tempDir} (mounted noexec?): a command like ./run.sh fails ` +
          "in the copy. Set TMPDIR to a folder on another disk",
      ),
      Math.abs(mtimeMs - machine.clock.wallMs()) <= FILE_TIME_MS_MAX
        ? ok("file-times", "files get the time of the clock")
        : lacking(
          "file-times",
          `A new file in ${tempDir} has a time that is ${
            formatDuration(Math.abs(mtimeMs - machine.clock.wallMs()))
          } off the clock. Set TMPDIR to a folder on a local disk, or set the clock`,
        ),
    ];
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return [lacking("temp-dir", `${why}. Set TMPDIR to a folder that you can write to`)];
  } finally {
    if (dir !== null) await Deno.remove(dir, { recursive: true }).catch(() => {});
  }
}

async function canRun(file: string): Promise<boolean> {
  try {
    const { code } = await new Deno.Command(file, { stdin: "null", stdout: "null", stderr: "null" })
      .output();
    return code === 7;
  } catch {
    return false;
  }
}

function spaceCheck(dir: string, bytes: number | null): MachineCheck {
  const id = "temp-space";
  if (bytes === null) return warning(id, `Nobody can tell how much is free in ${dir}`);
  const text = `${formatBytes(bytes)} free in ${dir}`;
  const advice = `${text}; every run copies the project there. Make room, or set TMPDIR`;
  if (bytes < FREE_BYTES_LACKING) return lacking(id, advice);
  return bytes < FREE_BYTES_WARNING ? warning(id, advice) : ok(id, text);
}

function freeBytes(dir: string): number | null {
  try {
    const { bsize, bavail } = statfsSync(dir);
    return bsize * bavail;
  } catch {
    return null;
  }
}

async function reportCheck({ reportDirs }: Machine): Promise<MachineCheck> {
  const id = "report-dir";
  const problems: string[] = [];
  for (const dir of reportDirs) {
    const parent = dirname(dir);
    const problem = await whyNotWritable(parent);
    if (problem === null) {
      return problems.length === 0
        ? ok(id, `reports go to ${parent}`)
        : warning(id, `Reports go to ${parent}, because: ${problems.join("; ")}`);
    }
    problems.push(problem);
  }
  return lacking(
    id,
    `There is no place for reports: ${problems.join("; ")}. Name one in each run with --report DIR`,
  );
}

/** Tries the folder, or the nearest one above it that is there; nothing stays behind. */
async function whyNotWritable(dir: string): Promise<string | null> {
  let place = dir;
  while (!await isThere(place) && dirname(place) !== place) place = dirname(place);
  try {
    const file = await Deno.makeTempFile({ dir: place, prefix: ".failure-lab-probe-" });
    await Deno.remove(file);
    return null;
  } catch (error) {
    return `${place} cannot be written (${error instanceof Error ? error.message : error})`;
  }
}

async function isThere(path: string): Promise<boolean> {
  return await Deno.lstat(path).then(() => true, () => false);
}

/** This program is younger than that. */
const CLOCK_MIN_MS = Date.UTC(2025, 0, 1);
const CLOCK_MAX_MS = Date.UTC(2100, 0, 1);

function clockCheck({ clock }: Machine): MachineCheck {
  const wallMs = clock.wallMs();
  return wallMs > CLOCK_MIN_MS && wallMs < CLOCK_MAX_MS
    ? ok("clock", clock.wallIso())
    : lacking("clock", `It says ${clock.wallIso()}, which cannot be. Set it`);
}

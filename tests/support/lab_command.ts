// Starting a command the way the lab does, with everything that is needed to reap it.

import { systemClock, waitUntil } from "../../lab/clock.ts";
import { identityAtStart, Ledger } from "../../lab/ownership.ts";
import { spawn, type Spawned } from "../../lab/process.ts";
import { realSystem, reap, type ReapOptions } from "../../lab/reap.ts";
import type { KillRecord } from "../../lab/record.ts";
import { findProgram } from "../../lab/system_tools.ts";
import { newMarker } from "./processes.ts";

/** PATH of commands in tests. */
export const TEST_PATH = Deno.env.get("PATH") ?? "/usr/bin:/bin";

/** A command in a session of its own, its ledger, and its reaping. */
export interface LabCommand extends AsyncDisposable {
  readonly spawned: Spawned;
  readonly ledger: Ledger;
  readonly marker: string;
  readonly dir: string;
  /** Reaps with the real system. */
  reap(options?: Partial<ReapOptions>): Promise<KillRecord>;
  /** Shows the process table to the ledger once. */
  look(): Promise<void>;
  /** Waits until a file of its folder has a whole line (a job's way to say "I am ready"). */
  file(name: string): Promise<string>;
}

let count = 0;

/**
 * Starts a command as the lab's.
 *
 * @param dir Working folder; output files go there as well.
 */
export function startInLab(
  dir: string,
  argv: readonly [string, ...string[]],
  env: Record<string, string> = {},
): LabCommand {
  const marker = newMarker();
  const runStartMs = systemClock.nowMs();
  const spawned = spawn({
    argv,
    cwd: dir,
    env: { PATH: TEST_PATH, ...env },
    marker,
    logDir: dir,
    logName: `log-${++count}`,
    clock: systemClock,
    runStartMs,
  });
  const ledger = new Ledger(marker);
  ledger.addLeader(identityAtStart(spawned.pid, argv[0]));
  return {
    spawned,
    ledger,
    marker,
    dir,
    reap: (options = {}) =>
      reap(realSystem, { ledger, spawned: [spawned], graceMs: 0, runStartMs, ...options }),
    async look() {
      ledger.observe(await realSystem.readTable());
    },
    file: (name) => waitForFile(`${dir}/${name}`),
    [Symbol.asyncDispose]: () => spawned.release(),
  };
}

/** Starts a POSIX shell script as the lab's. */
export function startShell(
  dir: string,
  script: string,
  env: Record<string, string> = {},
): LabCommand {
  return startInLab(dir, ["sh", "-c", script], env);
}

/** Waits until a file is there and ends with a newline, and gives its text without that. */
export async function waitForFile(path: string, limitMs = 10_000): Promise<string> {
  const text = await waitUntil(async () => {
    const now = await Deno.readTextFile(path).catch(() => "");
    return now.endsWith("\n") ? now.trimEnd() : null;
  }, { limitMs });
  if (text === null) throw new Error(`Nothing came to "${path}" in ${limitMs} ms`);
  return text;
}

/**
 * A command that runs another one in a new session, by whatever this machine has for it. Throws
 * where it has nothing, so that no test is left out in silence.
 */
export function inOwnSession(argv: readonly string[]): [string, ...string[]] {
  const ways: [string, ...string[]][] = [
    ["setsid"],
    ["perl", "-e", "use POSIX; fork and exit; POSIX::setsid(); exec @ARGV"],
    [
      "python3",
      "-c",
      "import os,sys\nif os.fork(): os._exit(0)\nos.setsid()\nos.execvp(sys.argv[1],sys.argv[1:])",
    ],
  ];
  const way = ways.find(([program]) => findProgram(program, TEST_PATH, "/") !== null);
  if (way === undefined) throw new Error("This machine has neither setsid nor perl nor python3");
  return [...way, ...argv];
}

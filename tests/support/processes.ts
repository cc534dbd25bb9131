// Processes in tests: everything that a test starts is written down here, and a hook ends what is
// left after each test. A test that timed out does not run its `finally`, but hooks do run.
//
// A test file that starts processes calls `cleanUpAfterEach()` once at its top.

import { drawToken, waitUntil } from "../../lab/clock.ts";
import {
  isAlive,
  MARKER_NAME,
  type ProcessRow,
  readProcessTable,
} from "../../lab/process_table.ts";
import { sendSignal } from "../../lab/signals.ts";
import { removeLeftDirs } from "./temp_dir.ts";

const markers = new Set<string>();
const children = new Set<Deno.ChildProcess>();

/** A fresh marker whose processes are ended after the test, whatever the test does. */
export function newMarker(): string {
  const marker = drawToken();
  markers.add(marker);
  return marker;
}

/** Has the processes of a marker that was drawn elsewhere ended after the test as well. */
export function endAfterTest(marker: string): void {
  markers.add(marker);
}

/** Has a child that the test started itself ended after the test, with its group. */
export function endChildAfterTest(child: Deno.ChildProcess): void {
  children.add(child);
}

/** Registers the hook that ends left processes and removes left folders. Call it once per file. */
export function cleanUpAfterEach(): void {
  Deno.test.afterEach(async () => {
    await endLeftProcesses();
    await removeLeftDirs();
  });
}

/** Ends what is left of the processes that {@linkcode newMarker} and {@linkcode startStranger} know. */
export async function endLeftProcesses(): Promise<void> {
  for (const child of children) await endChild(child);
  if (markers.size === 0) return;
  const known = new Set(markers);
  markers.clear();
  await waitUntil(async () => {
    const left = (await readProcessTable())
      .filter((row) => isAlive(row) && row.marker !== null && known.has(row.marker));
    await sendSignal("KILL", left.map((row) => row.pid));
    return left.length === 0;
  }, { limitMs: 5000 });
}

/** Who carries a marker and is alive. */
export async function survivors(marker: string): Promise<ProcessRow[]> {
  return (await readProcessTable()).filter((row) => row.marker === marker && isAlive(row));
}

/** Whether a process is alive; a dead one that nobody collected yet is not. */
export async function isPidAlive(pid: number): Promise<boolean> {
  return (await readProcessTable()).some((row) => row.pid === pid && isAlive(row));
}

/** A process that a test started beside the lab. */
export interface Stranger extends AsyncDisposable {
  readonly pid: number;
  /** Its row in the process table at the start: right name and start time. */
  readonly row: ProcessRow;
  isAlive(): Promise<boolean>;
}

/**
 * Starts a process that is none of the lab's: no marker, in a session of its own.
 *
 * @param argv Command. @default {a long sleep}
 * @param env Its whole environment besides PATH.
 */
export async function startStranger(
  argv: readonly [string, ...string[]] = ["sleep", "60"],
  env: Record<string, string> = {},
): Promise<Stranger> {
  const child = new Deno.Command(argv[0], {
    args: argv.slice(1),
    env: { PATH: Deno.env.get("PATH") ?? "/usr/bin:/bin", ...env },
    clearEnv: true,
    stdin: "null",
    stdout: "null",
    stderr: "null",
    detached: true,
  }).spawn();
  children.add(child);
  const row = (await readProcessTable()).find((each) => each.pid === child.pid);
  if (row === undefined) throw new Error(`Cannot see the stranger (pid ${child.pid})`);
  return {
    pid: child.pid,
    row,
    isAlive: () => isPidAlive(child.pid),
    [Symbol.asyncDispose]: () => endChild(child),
  };
}

async function endChild(child: Deno.ChildProcess): Promise<void> {
  children.delete(child);
  await sendSignal("KILL", [-child.pid]);
  await child.status;
}

/** Environment of a marked process. */
export function markedEnv(marker: string): Record<string, string> {
  return { [MARKER_NAME]: marker };
}

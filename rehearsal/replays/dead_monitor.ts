/**
 * dead-monitor: the watcher dies, and then the job hangs. Nobody rings, and silence looks like
 * health.
 *
 * The declared monitor is started beside the job, gives its first sign, and is killed; the job makes
 * one more output, and then every process of it is stopped. The silence must be noticed by the age of the last sign alone,
 * because who watches from elsewhere sees nothing else. Then the hung job is ended with proof, and
 * the resume command runs.
 *
 * General form, when the contract declares no monitor: a watcher of the lab's own stands in. It shows
 * the same of the job, and nothing of the user's monitoring.
 *
 * @module
 */
import { join } from "@std/path";
import { isKillProven, type Spawned, systemTool, waitUntil } from "../../lab/mod.ts";
import type { Contract } from "../contract.ts";
import type { Stage } from "../stage.ts";
import type { StartResult } from "../stage_types.ts";
import { freezeAll, isStruck, namesOf, noteNothingLeft, thaw } from "./_freeze.ts";
import type { Replay } from "./replay.ts";

/** The lab's own watcher gives a sign this often. */
const OWN_INTERVAL_MS = 200;
const OWN_WATCHER = 'while :; do echo alive >"$1"; sleep 0.1 2>/dev/null || sleep 1; done';
/** A monitor gets this long for its first sign, besides its interval. */
const FIRST_SIGN_MS = 3000;
/** A sign that is older than this many intervals is noticed. */
const SILENT_INTERVALS = 1.5;
/** How long to wait for that, in intervals. */
const SILENT_INTERVALS_MAX = 5;

/** Kill the monitor, then hang the job. */
export const deadMonitor: Replay = {
  id: "dead-monitor",
  summary: "the monitor is killed, and then the job hangs",
  variants: ["monitor-first"],
  needs: monitorNeeds,
  async run(stage) {
    const early = stage.killPoint > 1 && !stage.isPaced;
    const start = await stage.startUntil(early ? stage.killPoint - 1 : stage.killPoint);
    if (!await isStruck(stage, start)) return;
    const watch = monitorOf(stage);
    const monitor = await stage.begin("monitor", watch.argv);
    const end = "pid" in monitor && await givesSign(stage, watch, monitor)
      ? await killMonitor(stage, monitor)
      : null;
    if (early && end !== null) await goOnUnwatched(stage, start);
    const { rows, isWhole } = await freezeAll(stage);
    const ageMs = end === null ? null : await awaitSilence(stage, watch);
    const kill = await stage.killStart(start, { graceMs: 0 });
    if ("pid" in monitor) await stage.options.driver.finish(monitor);
    await stage.noteFaultState();
    if (end === null) return noteNoSign(stage, watch);
    if (!stage.isWorkLeft) return noteNothingLeft(stage);
    if (!isWhole || isKillProven(kill) !== true) return;
    stage.deliver([
      { what: `${watch.what} ended by`, value: end },
      { what: "age of its last sign, in ms", value: ageMs },
      { what: "processes of the job, stopped after that", value: namesOf(rows) },
    ]);
    noteNoticed(stage, watch, ageMs);
    await stage.resume();
  },
};

function monitorNeeds({ monitor }: Contract): string | null {
  return monitor !== undefined && monitor.sign === undefined
    ? "The contract declares a monitor, but no sign of it, so its death cannot be noticed. Say " +
      'which file it writes to while it lives: "monitor": {"sign": "heartbeat"}'
    : null;
}

/** The monitor of this run. */
interface Monitor {
  what: string;
  argv: string[];
  /** The file that it writes to. */
  sign: string;
  intervalMs: number;
}

function monitorOf(stage: Stage): Monitor {
  const { commands, logDir } = stage.options;
  const { monitor } = stage.contract;
  if (monitor?.sign !== undefined && commands.monitor !== null) {
    return {
      what: "the job's monitor",
      argv: commands.monitor,
      sign: stage.path(monitor.sign),
      intervalMs: monitor.intervalSeconds * 1000,
    };
  }
  const sign = join(logDir, "watcher-sign");
  return {
    what: "the lab's own watcher (no monitor is declared)",
    argv: [systemTool("sh"), "-c", OWN_WATCHER, "watcher", sign],
    sign,
    intervalMs: OWN_INTERVAL_MS,
  };
}

async function givesSign(
  stage: Stage,
  { sign, intervalMs }: Monitor,
  monitor: Spawned,
): Promise<boolean> {
  const { clock } = stage.options;
  const before = signOf(sign);
  const limitMs = FIRST_SIGN_MS + SILENT_INTERVALS_MAX * intervalMs;
  const isOver = () => monitor.ended !== null;
  await waitUntil(() => signOf(sign) !== before || isOver(), { limitMs, clock });
  return signOf(sign) !== before && !isOver();
}

/** Changes with each sign. */
function signOf(path: string): string {
  try {
    const { size, mtime, ino } = Deno.statSync(path);
    return `${size}:${mtime?.getTime()}:${ino}`;
  } catch {
    return "none";
  }
}

/** Kills the monitor with everything of its group. Gives how it ended; `null` when it would not. */
async function killMonitor(stage: Stage, monitor: Spawned): Promise<string | null> {
  const { driver, clock } = stage.options;
  await driver.system.signal("KILL", [-monitor.pid]);
  await waitUntil(() => monitor.ended !== null, { limitMs: 2000, clock });
  return monitor.ended?.signal ?? null;
}

/** Lets the job make one more output without its monitor; it hangs after that and not before. */
async function goOnUnwatched(stage: Stage, { spawned }: StartResult): Promise<void> {
  if (spawned === null) return;
  await thaw(stage, await stage.options.driver.alive());
  await stage.watch(spawned, (outputs) => outputs.length >= stage.killPoint);
  await stage.options.driver.system.signal("STOP", [-spawned.pid]);
}

/** Waits until the last sign is too old; gives its age, or `null` when signs go on coming. */
async function awaitSilence(stage: Stage, { sign, intervalMs }: Monitor): Promise<number | null> {
  const { clock, journal } = stage.options;
  let last = signOf(sign);
  let sinceMs = journal.atMs();
  const silent = await waitUntil(() => {
    const now = signOf(sign);
    if (now !== last) {
      last = now;
      sinceMs = journal.atMs();
    }
    return journal.atMs() - sinceMs > SILENT_INTERVALS * intervalMs;
  }, { limitMs: SILENT_INTERVALS_MAX * intervalMs, clock });
  return silent === null ? null : Math.round(journal.atMs() - sinceMs);
}

function noteNoSign(stage: Stage, { what, sign }: Monitor): void {
  stage.record.findings.push({
    id: "monitor-alive",
    ok: null,
    text: `${what} could not be killed while it was alive: it gave no sign ("${sign}") or would ` +
      "not end",
  });
}

/** Somebody notices: whoever looks at the age of the last sign. */
function noteNoticed(stage: Stage, { what, intervalMs }: Monitor, ageMs: number | null): void {
  stage.record.findings.push({
    id: "monitor-silence-noticed",
    ok: ageMs !== null,
    text: ageMs === null
      ? `The sign of ${what} goes on although it is dead: something else gives it, so its silence ` +
        "can never be noticed"
      : `The silence of ${what} was noticed by the age of its last sign: ${ageMs} ms, at an ` +
        `interval of ${intervalMs} ms`,
  });
}

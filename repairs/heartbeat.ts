/**
 * `heartbeat`: a job is healthy when its work gets on, and the watcher is healthy when it says so
 * itself. Two watchers, each of which notices when the other is gone:
 *
 * - The **first** is a process of its own. It looks at the declared files and writes a beat that
 *   says what it saw. It cannot beat without looking.
 * - The **second** (this process) alarms when the first dies, falls silent, or beats something that
 *   is not so, and starts it anew. With its own eyes it sees whether the job gets on; when it does
 *   not, for longer than the declared limit, the job is ended with proof and started again, a few
 *   times at most, so that the work is finished.
 *
 * When this process dies, the first stops beating, and `checkBeat` elsewhere (cron, another
 * machine) reports the silence.
 *
 * @module
 */
import { resolve } from "@std/path";
import { type Clock, systemClock } from "../lab/mod.ts";
import { formatDuration } from "../lab/report/text.ts";
import { ProgressWatch } from "./_progress.ts";
import type { WrappedJob } from "./_run.ts";
import { startWatcher, type Watcher } from "./_watcher.ts";
import { appendRecord } from "./checkpoint.ts";
import { type DeadlineResult, runWithDeadline } from "./deadline.ts";
import { type BeatJudgement, judgeBeat, readBeat, writeLastBeat } from "./heartbeat_beat.ts";

/** What to run and how to watch it. */
export interface HeartbeatOptions extends WrappedJob {
  /** Files whose growth is progress (globs); at least one. */
  progress: readonly string[];
  /** Longest time that a healthy job may show no progress. */
  limitMs: number;
  /** The first watcher writes its beat here. */
  beatFile: string;
  /** Time between two looks of the first watcher. @default {a tenth of the limit, 0.2 s to 10 s} */
  everyMs?: number | undefined;
  /** Fresh starts of the job after it was ended. @default {2} */
  restarts?: number | undefined;
  /** Fresh starts of the first watcher. @default {20} */
  watcherRestarts?: number | undefined;
  /** Alarms are added to this file as lines of JSON, each written through to the disk. */
  alarmLog?: string | undefined;
  /** Called with each alarm. */
  onAlarm?: ((alarm: Alarm) => void) | undefined;
  /** Told of each first watcher's pid. */
  onWatcher?: ((pid: number) => void) | undefined;
  /** The clock to go by. */
  clock?: Clock | undefined;
}

/** Something that a person should know. */
export interface Alarm {
  /** ISO 8601. */
  at: string;
  /** What happened. */
  kind: "watcher-died" | "watcher-silent" | "watcher-false" | "no-progress";
  /** In words. */
  why: string;
}

/** How it ended. */
export interface HeartbeatResult extends Pick<DeadlineResult, "outcome" | "exitCode"> {
  /** All alarms, in their order. */
  alarms: Alarm[];
  /** Starts of the job, and of the first watcher. */
  jobStarts: number;
  /** Starts of the first watcher. */
  watcherStarts: number;
  /** The runs of the job in full. */
  run: DeadlineResult;
}

/**
 * Runs a job under two watchers.
 *
 * @throws {RangeError} When no progress files are declared.
 * @throws {JobStartError} When the job cannot be started.
 */
export async function runWithHeartbeat(options: HeartbeatOptions): Promise<HeartbeatResult> {
  if (options.progress.length === 0) {
    throw new RangeError("Cannot watch the job: declare the files whose growth is its progress");
  }
  const clock = options.clock ?? systemClock;
  const beatFile = resolve(options.beatFile);
  const alarms: Alarm[] = [];
  const raise = (kind: Alarm["kind"], why: string) => {
    const alarm = { at: clock.wallIso(), kind, why };
    alarms.push(alarm);
    options.onAlarm?.(alarm);
    options.say?.(`ALARM (${kind}): ${why}.`);
    if (options.alarmLog !== undefined) appendRecord(options.alarmLog, alarm);
  };
  const done = new AbortController();
  const second = new SecondWatcher({ ...options, beatFile }, clock, raise);
  const watching = second.run(done.signal);
  try {
    const run = await runWithDeadline({
      ...options,
      idleMs: options.limitMs,
      idleName: "--limit",
      retries: options.restarts ?? 2,
      output: "pass",
      stdin: options.stdin ?? "null",
      onLimit: (why) => raise("no-progress", why.replace(/\.$/, "")),
    });
    const { outcome, exitCode } = run;
    done.abort();
    await watching;
    // Only now: a watcher that still beats would write over it.
    writeLastBeat(beatFile, exitCode, Math.round(clock.wallMs() / 1000));
    const jobStarts = run.attempts.length;
    return { outcome, exitCode, alarms, jobStarts, watcherStarts: second.starts, run };
  } finally {
    done.abort();
    await watching;
  }
}

/** Watches the first watcher. */
class SecondWatcher {
  readonly #options: HeartbeatOptions;
  readonly #clock: Clock;
  readonly #raise: (kind: Alarm["kind"], why: string) => void;
  readonly #everyMs: number;
  starts = 0;

  constructor(
    options: HeartbeatOptions,
    clock: Clock,
    raise: (kind: Alarm["kind"], why: string) => void,
  ) {
    this.#options = options;
    this.#clock = clock;
    this.#raise = raise;
    this.#everyMs = options.everyMs ?? Math.min(10_000, Math.max(200, options.limitMs / 10));
  }

  async run(done: AbortSignal): Promise<void> {
    while (!done.aborted) {
      const watcher = this.#start();
      try {
        const problem = await this.#watch(watcher, done);
        if (problem === null) return;
        this.#raise(problem.kind, problem.why);
        if (this.starts > (this.#options.watcherRestarts ?? 20)) return;
      } finally {
        await watcher.stop();
      }
    }
  }

  #start(): Watcher {
    const { beatFile, progress, cwd = Deno.cwd(), limitMs } = this.#options;
    this.starts++;
    const watcher = startWatcher({
      beatFile,
      globs: progress,
      cwd,
      everyMs: this.#everyMs,
      limitMs,
    });
    this.#options.onWatcher?.(watcher.pid);
    return watcher;
  }

  /** Gives what is wrong with the first watcher, or `null` at the end. */
  async #watch(
    watcher: Watcher,
    done: AbortSignal,
  ): Promise<{ kind: "watcher-died" | "watcher-silent" | "watcher-false"; why: string } | null> {
    const patienceMs = this.#everyMs * 3 + 2000;
    const own = new ProgressWatch(this.#options.progress, this.#options.cwd ?? Deno.cwd());
    own.look();
    let sequence = -1;
    let changes = 0;
    let beatMs = this.#clock.nowMs();
    /** Growth that we saw and the beat does not show yet. */
    let unseen: { sinceMs: number; changes: number } | null = null;
    while (true) {
      watcher.sign();
      await this.#clock.sleep(Math.min(this.#everyMs, 1000), done);
      if (done.aborted) return null;
      const nowMs = this.#clock.nowMs();
      if (watcher.hasEnded) {
        return { kind: "watcher-died", why: `the first watcher (pid ${watcher.pid}) has ended` };
      }
      const beat = readBeat(this.#options.beatFile);
      const isOwn = beat !== null && beat.pid === watcher.pid;
      // Its own number has to grow: a file that somebody else touches is no sign of it.
      if (isOwn && beat.sequence > sequence) {
        sequence = beat.sequence;
        beatMs = nowMs;
      }
      if (nowMs - beatMs > patienceMs) {
        const ms = formatDuration(nowMs - beatMs);
        return { kind: "watcher-silent", why: `the first watcher gave no sign for ${ms}` };
      }
      if (isOwn && unseen !== null && beat.changes > unseen.changes) unseen = null;
      if (own.look().grew) unseen ??= { sinceMs: nowMs, changes };
      if (isOwn) changes = beat.changes;
      if (unseen !== null && nowMs - unseen.sinceMs > patienceMs) {
        const why = "the first watcher beats, but does not see that the declared files grew";
        return { kind: "watcher-false", why };
      }
    }
  }
}

/** Looks at a beat file from elsewhere, for example from cron: the watcher of the watchers. */
export function checkBeat(
  beatFile: string,
  options: { maxAgeMs?: number | undefined; clock?: Clock | undefined } = {},
): BeatJudgement {
  const clock = options.clock ?? systemClock;
  const maxAge = options.maxAgeMs === undefined ? undefined : options.maxAgeMs / 1000;
  return judgeBeat(readBeat(beatFile), clock.wallMs() / 1000, maxAge);
}

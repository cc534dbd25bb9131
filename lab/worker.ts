/**
 * The worker: a job of small units that the lab starts, watches and lets fail on cue. It is a POSIX
 * shell script, because `sh` is there on every machine, starts in two milliseconds, and fails the
 * way that real runners fail.
 *
 * One unit is one file, `out/unit-03.txt`, made under a temporary name and renamed when it is
 * whole, with a last line that says so; then one line in the checkpoint `state.jsonl`. Both are what
 * a careful job does: what goes wrong in a drill is the failure's doing and not the worker's.
 *
 * @module
 */
import { WORKER_SCRIPT } from "./_worker_script.ts";
import { END_MARK } from "./_worker_words.ts";
import { SYSTEM_PATH } from "./system_tools.ts";

export * from "./_worker_words.ts";

/** Glob of the worker's outputs. */
export const OUTPUTS_GLOB = "out/unit-*.txt";

/**
 * What goes wrong, and when: before the unit with the cue's number is begun.
 *
 * - `ask`: reads an answer from stdin. A pipe that nobody writes to blocks it for ever; at
 *   end-of-file it takes the default answer and goes on. `ask-beating` touches `heartbeat` all the
 *   while, `ask-chatty` prints a line again and again.
 * - `hold`: waits, so that the lab can end it at exactly this point.
 * - `child`: notes its pid in `leader.pid`, starts a helper that writes a draft over the next output
 *   again and again, and waits. `child-deaf` has a helper that ignores TERM, `child-session` one in a
 *   session of its own, `child-fork` one whose parent is gone at once, `child-stopped` one that is
 *   stopped before its first write; `child-brief` one that soon ends by itself, and goes on working.
 * - `hold-after-send`, `hold-after-claim`: waits between a message and its claim, or the other way
 *   round. `stop-before-send` stops itself there.
 * - `together`: takes units by a label; at the cue's unit it looks for the label, leaves a sign
 *   (`../at-UNIT.PID`), waits for `../go`, and puts the label: as two starts at once do it.
 * - `stray`: makes the plan's link, and writes to the plan's stray path; then goes on.
 * - `hollow`: says SUCCESS and exits 0 without doing anything; `hollow-empty` makes empty outputs,
 *   `hollow-last` does everything but leaves the last output empty, `hollow-half` leaves it half.
 */
export type WorkerCue =
  | "none"
  | "ask"
  | "ask-beating"
  | "ask-chatty"
  | "hold"
  | "child"
  | "child-deaf"
  | "child-session"
  | "child-fork"
  | "child-stopped"
  | "child-brief"
  | "hold-after-send"
  | "hold-after-claim"
  | "stop-before-send"
  | "together"
  | "stray"
  | "hollow"
  | "hollow-empty"
  | "hollow-last"
  | "hollow-half";

/**
 * How the worker finds out what is done already.
 *
 * - `strict`: by the checkpoint, and it refuses to work (exit 65) when a line of it is damaged.
 * - `skip-bad`: by the checkpoint; damaged lines are skipped, as many runners do.
 * - `disk`: by the outputs that end as a whole one does.
 */
export type WorkerLoad = "strict" | "skip-bad" | "disk";

/** What a worker is to do. */
export interface WorkerPlan {
  /** How many units there are. */
  units: number;
  /** What goes wrong. @default {"none"} */
  cue?: WorkerCue;
  /** Number of the unit before which the cue comes; 1 is the first. */
  cueAt?: number;
  /** A name, relative to its folder: the cue comes only while nothing has it, and takes it. */
  cueOnce?: string;
  /** For the cue `stray`: the path to write to, as the worker names it. */
  stray?: string;
  /** For the cue `stray`: a link to make in place of whatever has that name, and where it leads. */
  link?: { name: string; to: string };
  /** How it finds out what is done. @default {"strict"} */
  load?: WorkerLoad;
  /** Whether it keeps a checkpoint. @default {true} */
  checkpoint?: boolean;
  /**
   * Whether each unit sends one message: not at all, straight to the receiver, or by a courier (see
   * `Courier`). @default {"no"}
   */
  effects?: "no" | "plain" | "courier";
  /**
   * `work-first`: output, message, claim. `record-first`: output, claim, message. `answer-first`: the
   * output is made out of the answer to the message. @default {"work-first"}
   */
  order?: "work-first" | "record-first" | "answer-first";
  /** Pause inside each unit. @default {4} */
  pauseMs?: number;
  /** File for everything that it prints, relative to its folder. @default {"worker.log"} */
  log?: string;
}

/** The content of a whole output of the worker. */
export function unitText(name: string): string {
  const lines = Array.from({ length: 6 }, (_, i) => `${name}: line ${i + 1} of its work`);
  return [...lines, END_MARK, ""].join("\n");
}

/** Name of a unit: `unit-03`. */
export function unitName(number: number): string {
  return `unit-${String(number).padStart(2, "0")}`;
}

/** Writes the script. */
export function writeWorker(path: string): void {
  Deno.writeTextFileSync(path, WORKER_SCRIPT, { createNew: true, mode: 0o700 });
}

/** The environment in which the worker does its plan; nothing else is needed. */
export function workerEnvironment(plan: WorkerPlan): Record<string, string> {
  const yes = (value: boolean | undefined, otherwise: boolean) =>
    (value ?? otherwise) ? "yes" : "no";
  return {
    PATH: SYSTEM_PATH,
    LC_ALL: "C",
    WORKER_UNITS: String(plan.units),
    WORKER_CUE: plan.cue ?? "none",
    WORKER_CUE_AT: String(plan.cueAt ?? 0),
    WORKER_CUE_ONCE: plan.cueOnce ?? "",
    WORKER_STRAY: plan.stray ?? "",
    WORKER_LINK: plan.link?.name ?? "",
    WORKER_LINK_TO: plan.link?.to ?? "",
    WORKER_LOAD: plan.load ?? "strict",
    WORKER_CHECKPOINT: yes(plan.checkpoint, true),
    WORKER_EFFECTS: plan.effects ?? "no",
    WORKER_ORDER: plan.order ?? "work-first",
    WORKER_PAUSE: ((plan.pauseMs ?? 4) / 1000).toFixed(3),
    WORKER_LOG: plan.log ?? "worker.log",
  };
}

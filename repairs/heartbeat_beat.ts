/**
 * The beat: the positive sign of the watcher itself, and what it says about the job. Silence is
 * never good news, and a beat that does not stand for progress is no health.
 *
 * @module
 */
import { z } from "zod";
import { readIfThere, replaceFile } from "./_durable.ts";

/** What a beat file says. */
export interface Beat {
  /** Says what this file is. */
  schema: "failure-lab/beat";
  /** Version of its shape. */
  version: 1;
  /** `finished` is the last one; no further beat follows it. */
  state: "watching" | "finished";
  /** The watcher's process. */
  pid: number;
  /** Counts the looks of this watcher. */
  sequence: number;
  /** How often it saw the declared files change. */
  changes: number;
  /** Declared files that are there. */
  files: number;
  /** Their size together. */
  bytes: number;
  /** When it looked, and when it last saw a change; seconds since the epoch. */
  atSeconds: number;
  /** When it last saw a change; seconds since the epoch. */
  progressAtSeconds: number;
  /** How often it looks, and how long the job may show no progress. */
  everySeconds: number;
  /** How long the job may show no progress. */
  limitSeconds: number;
  /** Of a finished job. */
  exitCode: number | null;
}

const beatSchema: z.ZodType<Beat> = z.strictObject({
  schema: z.literal("failure-lab/beat"),
  version: z.literal(1),
  state: z.enum(["watching", "finished"]),
  pid: z.int(),
  sequence: z.int(),
  changes: z.int(),
  files: z.int(),
  bytes: z.int(),
  atSeconds: z.number(),
  progressAtSeconds: z.number(),
  everySeconds: z.number(),
  limitSeconds: z.number(),
  exitCode: z.int().nullable(),
});

/** Reads a beat file; `null` when there is none or it is none. */
export function readBeat(path: string): Beat | null {
  try {
    const bytes = readIfThere(path);
    if (bytes === null) return null;
    const result = beatSchema.safeParse(JSON.parse(new TextDecoder().decode(bytes)));
    return result.success ? result.data : null;
  } catch {
    return null;
  }
}

/** Writes the last beat of a job, so that the silence after it is not taken for a death. */
export function writeLastBeat(path: string, exitCode: number, atSeconds: number): void {
  const last = readBeat(path);
  const beat: Beat = {
    schema: "failure-lab/beat",
    version: 1,
    pid: Deno.pid,
    sequence: 0,
    changes: 0,
    files: 0,
    bytes: 0,
    progressAtSeconds: atSeconds,
    everySeconds: 0,
    limitSeconds: 0,
    ...last,
    state: "finished",
    atSeconds,
    exitCode,
  };
  replaceFile(path, `${JSON.stringify(beat)}\n`);
}

/** What a beat file shows. */
export interface BeatJudgement {
  /**
   * `healthy`: a watcher looks, and the job makes progress. `finished`: the job ended by itself.
   * `silent`: no watcher gives a sign, so nobody knows about the job. `no-progress`: the watcher
   * lives, the job does not get on.
   */
  state: "healthy" | "finished" | "silent" | "no-progress";
  /** In words. */
  why: string;
  /** Of a finished job. */
  exitCode: number | null;
}

/** Beats that may be missed before silence counts. */
const MISSED_BEATS_MAX = 3;
/** On top, for clocks that count in whole seconds and machines that are busy. */
const SLACK_SECONDS = 2;

/**
 * Judges a beat. Pure.
 *
 * @param beat `null` when there is no beat file, or when it cannot be read.
 * @param maxAgeSeconds @default {three beats and two seconds}
 */
export function judgeBeat(
  beat: Beat | null,
  nowSeconds: number,
  maxAgeSeconds?: number,
): BeatJudgement {
  const say = (state: BeatJudgement["state"], why: string): BeatJudgement => ({
    state,
    why,
    exitCode: beat?.exitCode ?? null,
  });
  if (beat === null) return say("silent", "there is no beat that can be read");
  if (beat.state === "finished") {
    return say("finished", `the job ended with exit code ${beat.exitCode}`);
  }
  const ageSeconds = Math.round(nowSeconds - beat.atSeconds);
  const limit = maxAgeSeconds ?? beat.everySeconds * MISSED_BEATS_MAX + SLACK_SECONDS;
  if (ageSeconds > limit) {
    return say("silent", `the last beat is ${ageSeconds} s old; nobody watches the job`);
  }
  const quietSeconds = Math.round(nowSeconds - beat.progressAtSeconds);
  if (quietSeconds > beat.limitSeconds + SLACK_SECONDS) {
    return say("no-progress", `the watcher lives, but saw no progress for ${quietSeconds} s`);
  }
  const sizes = `${beat.files} files, ${beat.bytes} bytes`;
  return say("healthy", `${sizes}, last change ${quietSeconds} s ago, seen ${ageSeconds} s ago`);
}

/**
 * A recovery that runs beside something of the job that is still alive: a first run that was not
 * over, or an orphan that goes on writing.
 *
 * What a correct recovery does is up to it: it may wait, end the other one, or stand down with an
 * exit code other than 0. What counts is what is on disk when everybody has ended by themselves and
 * a quiet period has passed. A recovery that stood down is run again then.
 *
 * @module
 */
import {
  type ArtifactGlimpse,
  type FaultRecord,
  isSameProcess,
  listArtifacts,
  type ProcessRow,
  type Spawned,
  waitUntil,
} from "../../lab/mod.ts";
import type { DiskLook, Stage } from "../stage.ts";
import { nameOf } from "../quiet.ts";
import { namesOf, thaw } from "./_freeze.ts";

/** What the recovery meets. */
export interface Other {
  /** `the first run` or `an orphan of the killed run`. */
  what: string;
  /** Its processes, all stopped. */
  rows: ProcessRow[];
  /** Its command, when that is alive. */
  spawned: Spawned | null;
  /** The disk while everything was stopped. */
  before: DiskLook;
  /** Evidence that was gathered before. */
  evidence: FaultRecord["evidence"];
  /** Whether exit 0 claims that the work is done; else only where all outputs are there as well. */
  isZeroAClaim: boolean;
}

/** How long those who are left get to end by themselves, at least. */
const OTHERS_MS_MIN = 3000;
/** A command that was started is seen in the process table within this time. */
const SEEN_LIMIT_MS = 2000;

/**
 * Starts the resume command while the other one is stopped, proves that both are alive, lets the
 * other one go on, and waits until all have ended.
 *
 * @returns Whether it ended well; when not, it is worth another try, now that nobody is left.
 */
export async function resumeBeside(stage: Stage, other: Other): Promise<boolean> {
  const { driver, commands } = stage.options;
  const spawned = await stage.begin("resume", commands.resume);
  const isStarted = "pid" in spawned;
  if (isStarted) stage.deliver([...other.evidence, ...await bothAlive(stage, other, spawned)]);
  await thaw(stage, other.rows);
  const otherEnds = other.spawned === null ? null : stage.watch(other.spawned);
  if (isStarted) await stage.watch(spawned);
  const since = listArtifacts(stage.spec);
  const isClaim = isStarted && spawned.ended?.exitCode === 0 &&
    (other.isZeroAClaim || await isAllWhole(stage));
  await otherEnds;
  if (!isStarted || spawned.ended !== null) await awaitOthers(stage, other, since, isClaim);
  const isOver = !isStarted || spawned.ended === null || spawned.ended.exitCode === 0;
  const attempt = await stage.concludeAttempt(
    isOver ? "resume" : "beside",
    other.before,
    spawned,
    { driver, quiet: null },
  );
  stage.record.kill = attempt.kill;
  return attempt.phase.exitCode === 0;
}

/** Both in one look; or, when the recovery was quicker than a look, the other one before and after. */
async function bothAlive(
  stage: Stage,
  other: Other,
  spawned: Spawned,
): Promise<FaultRecord["evidence"]> {
  const { driver, clock } = stage.options;
  const look = await waitUntil(async () => {
    const isOver = spawned.ended !== null;
    const alive = await driver.alive();
    const own = alive.find((row) => row.pid === spawned.pid);
    return isOver || own !== undefined ? { alive, own } : null;
  }, { limitMs: SEEN_LIMIT_MS, clock });
  const others = look?.alive.filter((row) => other.rows.some((each) => isSameProcess(row, each))) ??
    [];
  if (look === null || others.length === 0) return [];
  const { own } = look;
  const what = own === undefined
    ? `${other.what} was alive before the recovery began and after it had ended`
    : `alive at once: ${other.what}, and the recovery`;
  return [{ what, value: [...namesOf(others), ...(own === undefined ? [] : [nameOf(own)])] }];
}

async function isAllWhole(stage: Stage): Promise<boolean> {
  const { artifacts } = await stage.look();
  const whole = artifacts.filter((artifact) => artifact.problems.length === 0).length;
  return whole === stage.contract.artifacts.count;
}

/** Waits until the others have ended by themselves and a quiet period has passed. */
async function awaitOthers(
  stage: Stage,
  other: Other,
  since: readonly ArtifactGlimpse[],
  isClaim: boolean,
): Promise<void> {
  const { control, driver } = stage.options;
  const { runSeconds } = stage.contract.limits;
  const leftoversMs = Math.min(
    runSeconds * 1000,
    Math.max(OTHERS_MS_MIN, 2 * (control?.elapsedMs ?? 0)),
  );
  const quiet = isClaim ? { since, leftoversMs } : { leftoversMs, isClaim };
  const { leftovers } = await stage.quiet(driver, { ...quiet, suspects: other.rows });
  const [left] = leftovers;
  if (left === undefined) return;
  stage.record.findings.push({
    id: "others-ended",
    ok: null,
    text:
      `${nameOf(left)} was still alive ${Math.round(leftoversMs / 1000)} s after the recovery ` +
      "had ended and did not end by itself, so what it would still have written was not seen",
  });
}

/**
 * 05: a lock whose owner is gone, or of whom nobody can tell.
 *
 * @module
 */
import {
  findProgram,
  isAlive,
  type ProcessRow,
  readProcessTable,
  SYSTEM_PATH,
  systemTool,
  waitUntil,
} from "../../lab/mod.ts";
import { type LeasedRun, type LeaseOptions, runUnderLease } from "../../repairs/mod.ts";
import { lockEvidence, plantLock } from "../faults/plant_lock.ts";
import type { Scene } from "../scene.ts";
import type { DrillStage } from "../stage.ts";

const LOCK = "run.lock";
const HOUR_MS = 3_600_000;
const OTHER_HOST = "build-host-7";

/** Whoever holds the lock in these shapes is alive, or may be: the repair must stand down first. */
const STANDS_DOWN = ["empty-lock", "other-host", "flock-held", "live-owner"];

/** See the module's text. */
export const staleLock: Scene = {
  id: "05-stale-lock",
  contract: { checkpoint: true, lock: LOCK },

  lacks(variant) {
    const has = (name: string) => findProgram(name, SYSTEM_PATH, "/") !== null;
    if (variant === "flock-held" && !has("flock")) {
      return "This machine has no program 'flock', which holds the lock in this shape";
    }
    if (variant === "empty-lock" && !((has("lsof") || has("fuser")) && has("flock"))) {
      return "This machine has no 'lsof' or 'fuser' and 'flock', so nobody can tell whether an " +
        "empty lock is in use";
    }
    return null;
  },

  async fail(stage) {
    await stage.runToHold(stage.parameter("afterUnits"));
    if (stage.armed) await plant(stage);
    stage.noteFaultState();
  },

  async naive(stage) {
    const before = stage.look();
    await stage.attempt(stage.plan(), { argv: stage.naiveArgv });
    const isObeyed = stage.look().artifacts.length === before.artifacts.length;
    const isRemoved = stage.look().lock !== before.lock;
    if (STANDS_DOWN.includes(stage.variant)) {
      const id = ["flock-held", "live-owner"].includes(stage.variant)
        ? "live-lock-removed"
        : "unknown-lock-removed";
      stage.find(
        id,
        !isRemoved,
        isRemoved
          ? "The lock of an owner that lives, or of whom nobody can tell, was removed, and a " +
            "second run worked beside it"
          : "The lock was left alone",
      );
    } else {
      stage.find(
        "stale-lock-obeyed",
        !isObeyed,
        isObeyed
          ? "The recovery stands down before a lock whose owner is gone, tonight and every night"
          : "The recovery went past the stale lock",
      );
    }
  },

  async repair(stage) {
    if (stage.armed && STANDS_DOWN.includes(stage.variant)) await standDown(stage);
    await stage.endNeighbours();
    const last = await leased(stage, wordOf(stage));
    if (stage.options.mode !== "control") return;
    const wasLeft = last.outcome === "ran" && last.takenOver === null && last.exitCode === 0;
    stage.find(
      "left-alone",
      wasLeft,
      wasLeft
        ? "Without a lock in the way, the repair took its own, gave it back, and changed nothing else"
        : "The repair took over a lock, or kept a job from running, although nothing was wrong",
    );
  },

  async control(stage) {
    await stage.runToHold(stage.parameter("afterUnits"));
    stage.noteFaultState();
    await this.repair(stage);
  },
};

/** The repair while the lock is in use or may be: it must touch nothing and say why. */
async function standDown(stage: DrillStage): Promise<void> {
  const { judgement, outcome } = await leased(stage, {}, "stand-down");
  const expected = ["flock-held", "live-owner"].includes(stage.variant) ? "live" : "unknown";
  const saysSo = outcome === "stood-down" && judgement?.state === expected;
  stage.find(
    expected === "live" ? "says-owner-lives" : "says-unknown",
    saysSo,
    saysSo
      ? `The repair stood down and said why: ${judgement?.why}`
      : `The repair should have said that the owner is ${expected}, and said: ${
        judgement?.why ?? outcome
      }`,
  );
}

/** What a person adds who has looked at it. */
function wordOf(stage: DrillStage): Partial<LeaseOptions> {
  if (!stage.armed) return {};
  if (stage.variant === "other-host") return { forceHost: OTHER_HOST };
  if (stage.variant === "empty-lock") return { staleAfterMs: stage.parameter("staleAfterMs") };
  return {};
}

function wordsOf(options: Partial<LeaseOptions>): string[] {
  const more = [
    ...options.forceHost === undefined ? [] : ["--force-host", options.forceHost],
    ...options.staleAfterMs === undefined ? [] : ["--stale-after", `${options.staleAfterMs}ms`],
  ];
  return ["failure-lab", "repair", "lease", "--lock", LOCK, ...more, "--", "sh", "worker.sh"];
}

async function leased(
  stage: DrillStage,
  word: Partial<LeaseOptions>,
  purpose: "resume" | "stand-down" = "resume",
): Promise<LeasedRun> {
  const said: string[] = [];
  let run: LeasedRun | null = null;
  await stage.repairAttempt(wordsOf(word), async () => {
    const { clock, signal } = stage.options;
    run = await runUnderLease(
      { path: stage.path(LOCK), say: (text) => said.push(text), signal, clock, ...word },
      {
        ...stage.wrapped(stage.plan()),
        stdin: "null",
        graceMs: stage.limits.graceMs,
        renewMs: stage.parameter("renewMs"),
        stop: stage.stop,
      },
    );
    return { exitCode: run.exitCode, said: said.join("\n") };
  }, purpose);
  if (run === null) throw new Error("The repair gave no result");
  return run;
}

/** Puts the lock in place, with whoever belongs to it. */
async function plant(stage: DrillStage): Promise<void> {
  const { clock } = stage.options;
  const deadPid = stage.record.kill?.processes[0]?.pid ?? 0;
  const holder = await startHolder(stage);
  const table = await readProcessTable();
  const own = table.find((row) => row.pid === Deno.pid);
  const nowSeconds = Math.floor(clock.wallMs() / 1000);
  const isOld = stage.variant === "recycled-pid";
  const pid = isOld ? Deno.pid : stage.variant === "live-owner" ? holder?.pid ?? 0 : deadPid;
  const takenSeconds = isOld
    ? (own?.startedSeconds ?? nowSeconds) - HOUR_MS / 1000
    : holder?.startedSeconds ?? nowSeconds;
  const contents: Record<string, string> = {
    "dead-pid": `${pid}\n`,
    "recycled-pid": `${Deno.hostname()} ${pid} ${takenSeconds}\n`,
    "lock-folder": `${pid}\n`,
    "empty-lock": "",
    "other-host": `${OTHER_HOST} 4242 ${takenSeconds}\n`,
    "flock-held": `${pid}\n`,
    "live-owner": `${Deno.hostname()} ${pid} ${takenSeconds}\n`,
  };
  const content = contents[stage.variant] ?? "";
  if (stage.variant === "flock-held") await Deno.writeTextFile(stage.path(LOCK), content);
  else {
    const shape = stage.variant === "lock-folder" ? "folder" : "file";
    plantLock(stage.path(LOCK), { shape, content, ageMs: 2 * HOUR_MS }, clock.wallMs());
  }
  const namesNobody = ["empty-lock", "other-host"].includes(stage.variant);
  const held = stage.variant === "flock-held" ? holder : null;
  stage.deliver(lockEvidence(content, {
    pid: namesNobody ? null : pid,
    takenSeconds,
    table,
    holder: held,
  }));
}

/** A process of somebody else's that has to do with the lock; `null` where there is none. */
async function startHolder(stage: DrillStage): Promise<ProcessRow | null> {
  const scripts: Record<string, string> = {
    "flock-held": `exec 9>>${LOCK}; flock 9; : >../held; sleep 60`,
    "live-owner": ": >../held; sleep 60",
  };
  const script = scripts[stage.variant];
  if (script === undefined) return null;
  const { clock, signal } = stage.options;
  const spawned = await stage.neighbours.start(
    "holder",
    [systemTool("sh"), "-c", script],
    stage.workspace,
    stage.environment(),
  );
  await waitUntil(() => stage.exists("../held"), { limitMs: 5000, everyMs: 3, signal, clock });
  const table = await readProcessTable();
  return table.find((row) => row.pid === spawned.pid && isAlive(row)) ?? null;
}

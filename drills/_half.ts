/**
 * Playing one half: its own marker, keeper, driver and journal; whatever happens in the scene, every
 * process of it is ended with proof and everything it had open is closed.
 *
 * @module
 */
import { join } from "@std/path";
import {
  type Clock,
  drawToken,
  Driver,
  hashBytes,
  Journal,
  type JournalEntry,
  newRecord,
  type RunRecord,
  startKeeper,
} from "../lab/mod.ts";
import type { Mode } from "./answer_key.ts";
import type { DrillRun } from "./catalog.ts";
import type { Scene } from "./scene.ts";
import { grantedFlags } from "./scope.ts";
import { DrillStage, Interrupted } from "./stage.ts";

/** What a half is played with. */
export interface HalfOptions {
  run: DrillRun;
  scene: Scene;
  /** Filled with what is seen. */
  record: RunRecord;
  /** The half's own folder, inside the lab. */
  dir: string;
  clock: Clock;
  signal: AbortSignal;
  onJournal?: (run: DrillRun, entry: JournalEntry) => void;
  keepJournal?: (id: string, path: string) => void;
}

/** Plays one half. What goes wrong in it is in the record and not thrown. */
export async function playHalf(options: HalfOptions): Promise<void> {
  const { run, scene, record, dir, clock, signal, onJournal } = options;
  const marker = drawToken();
  await using keeper = await startKeeper(marker);
  const journalPath = join(dir, "journal.jsonl");
  using journal = new Journal(journalPath, clock, (entry) => onJournal?.(run, entry));
  const driverWith = (token: string, logDir: string) =>
    new Driver({
      marker: token,
      logDir: join(dir, logDir),
      clock,
      journal,
      signal,
      onLeader: (leader) => void keeper.addLeader(leader),
      listener: {
        groupOver: (leader) => void keeper.dropLeader(leader),
        unmarked: (process) => void keeper.addKnown(process),
      },
    });
  const driver = driverWith(marker, "logs");
  const stage = new DrillStage({
    drill: run.drill,
    mode: run.mode,
    variant: run.variant,
    dir,
    marker,
    contract: scene.contract,
    driver,
    makeDriver: () => driverWith(drawToken(), "neighbours"),
    clock,
    journal,
    record,
    signal,
  });
  const noteError = (error: unknown) => {
    const why = error instanceof Error ? error.message : String(error);
    const isInterrupted = error instanceof Interrupted || signal.aborted;
    // A defect of ours, or of this machine, must not look like a verdict on a repair.
    record.interrupted ??= isInterrupted
      ? "it was interrupted by the user"
      : `the lab failed: ${why}`;
    journal.add("error", { error: error instanceof Error ? error.stack ?? why : why });
  };
  try {
    stage.prepare();
    await play(scene, run.mode, stage);
  } catch (error) {
    noteError(error);
  }
  try {
    await wrapUp(stage, record);
  } catch (error) {
    noteError(error);
  }
  record.cost.wallMs = journal.atMs();
  record.cost.jobMs = jobMs(record);
  record.cost.journalEntries = journal.entries;
  record.cost.journalDropped = journal.dropped;
  journal.close();
  options.keepJournal?.(record.id, journalPath);
}

async function play(scene: Scene, mode: Mode, stage: DrillStage): Promise<void> {
  if (mode === "control") return await scene.control(stage);
  await scene.fail(stage);
  if (mode === "broken") await scene.naive(stage);
  else await scene.repair(stage);
}

/** Ends what is left, takes the final look, and takes down what belongs to the failure alone. */
async function wrapUp(stage: DrillStage, record: RunRecord): Promise<void> {
  const { driver } = stage.options;
  try {
    // After an attempt whose end was proven, nobody of this run is left to look for.
    if (!stage.isOver) {
      const kill = await driver.reap(0);
      if (kill.survivors.length > 0) record.kill = kill;
    }
    await driver.release();
    stage.finish();
  } finally {
    await stage.takeDown();
  }
}

/** A record of a half of which nothing has been seen yet. */
export function draftRecord(
  run: DrillRun,
  scene: Scene,
  options: Pick<RunRecord, "rerun" | "seed" | "label" | "git"> & { clock: Clock },
): RunRecord {
  const { drill, mode, variant, repeat } = run;
  const declared = {
    units: drill.units,
    limits: drill.limits,
    ...scene.contract,
  };
  const { rerun, seed, label, git, clock } = options;
  const record = newRecord({
    id: [drill.id, variant, mode, repeat].join("-"),
    kind: "drill",
    subject: drill.id,
    half: mode === "broken" ? "broken" : "repaired",
    label,
    rerun,
    seed,
    options: { mode, variant, repeat, parameters: drill.fault.parameters },
    git,
    scope: grantedFlags(),
    contract: {
      sha256: hashBytes(new TextEncoder().encode(JSON.stringify(declared))),
      count: drill.units,
      contentChecks: ["endsWith", "the unit's known content"],
      emptyAllowed: false,
      declared: JSON.parse(JSON.stringify(declared)),
    },
    startedAt: clock.wallIso(),
    fault: {
      name: drill.fault.name,
      variant: mode === "control" ? "nothing-wrong" : variant,
      armed: mode === "broken" || mode === "repaired",
    },
  });
  record.controlSkipped = "Every unit's content is known, so the outputs are judged by that";
  return record;
}

function jobMs(record: RunRecord): number {
  const phases = [record.start, ...record.attempts.map((attempt) => attempt.phase)];
  return phases.reduce((sum, phase) => {
    return sum + (phase === null || phase.endedMs === null ? 0 : phase.endedMs - phase.startedMs);
  }, 0);
}

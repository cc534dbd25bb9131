/**
 * A session of drills: one lab, one keeper, and one half after the other, each with its own folder,
 * driver, containment and record. Everything is taken down again on every path.
 *
 * @module
 */
import { dirname, join } from "@std/path";
import {
  type Clock,
  createLab,
  drawToken,
  Driver,
  exitCodeFor,
  grade,
  hashBytes,
  Journal,
  type JournalEntry,
  type Keeper,
  type Lab,
  mergeVerdicts,
  newRecord,
  RECORD_VERSION,
  removeTree,
  type RunRecord,
  type RunSet,
  startKeeper,
  sweepLabs,
  toolInfo,
} from "../lab/mod.ts";
import { type AnswerKey, expectationFor, isMet, type Mode } from "./answer_key.ts";
import type { DrillRun } from "./catalog.ts";
import { grantedFlags } from "./scope.ts";
import type { Scene } from "./scene.ts";
import { sceneOf } from "./scenes/mod.ts";
import { DrillStage, Interrupted } from "./stage.ts";
import { watchPlaces, WatchPost } from "./watch.ts";

/** What a session does and where it reports to. */
export interface SessionOptions {
  /** `demo`, `drills` or `self-test`. */
  command: string;
  /** What to do, in order. */
  runs: readonly DrillRun[];
  /** What each must give. */
  key: AnswerKey;
  /** The line that runs the same again. */
  rerun: string;
  /** The seed that drew the variants. */
  seed: number;
  /** Name that the user gave. */
  label: string | null;
  /** State of the kit's own sources; `null` for a compiled program. */
  git: RunRecord["git"];
  /** The program itself: the binary, or the source folder. It is watched. */
  kitPath: string;
  /** The user's home folder, whose configuration files are watched; `null` when there is none. */
  home: string | null;
  /** Paths that may change meanwhile, for example the report's folder. */
  exclude?: readonly string[];
  /** Leaves the lab folder in place. */
  keep: boolean;
  /** Time. */
  clock: Clock;
  /** Aborted when the user interrupts. */
  signal: AbortSignal;
  /** Called after every run, with everything so far. */
  onRun?: (runSet: RunSet) => Promise<void> | void;
  /** Called before each run. */
  onBegin?: (run: DrillRun, index: number) => void;
  /** Called for each thing that is seen in a run. */
  onJournal?: (run: DrillRun, entry: JournalEntry) => void;
  /** Takes each journal, by the id of its record, before the lab goes. */
  keepJournal?: (id: string, path: string) => void;
}

/** What a session gave. */
export interface SessionResult {
  /** Records, grades and expectations of all runs that were done. */
  runSet: RunSet;
  /** Where the lab still is (`keep`); `null` when it is gone. */
  labKept: string | null;
  /** Lab folders of dead runs that were removed at the start. */
  swept: string[];
}

/**
 * Runs drills.
 *
 * @throws {EnvironmentError} When this machine lacks `ps`, `kill` or `sh`, or no lab can be made.
 */
export function runDrills(options: SessionOptions): Promise<SessionResult> {
  return playDrills(options, sceneOf);
}

/** The same with other scenes, for tests of the tests. */
export async function playDrills(
  options: SessionOptions,
  scenes: (drillId: string) => Scene,
): Promise<SessionResult> {
  const { removed: swept } = await sweepLabs({ clock: options.clock });
  const lab = await createLab();
  if (options.keep) lab.keep();
  try {
    await using keeper = await startKeeper(lab.marker);
    const runSet = await new Session(options, scenes, lab, keeper).run();
    return { runSet, labKept: options.keep ? lab.root : null, swept };
  } finally {
    await lab.remove();
  }
}

class Session {
  readonly #options: SessionOptions;
  readonly #scenes: (drillId: string) => Scene;
  readonly #lab: Lab;
  readonly #keeper: Keeper;
  readonly #watch: WatchPost;
  readonly #startedAt: string;
  readonly #runs: RunSet["runs"] = [];

  constructor(
    options: SessionOptions,
    scenes: (drillId: string) => Scene,
    lab: Lab,
    keeper: Keeper,
  ) {
    this.#options = options;
    this.#scenes = scenes;
    this.#lab = lab;
    this.#keeper = keeper;
    this.#watch = new WatchPost({
      ...watchPlaces(options.kitPath, options.home, Deno.build.standalone),
      exclude: options.exclude ?? [],
    });
    this.#startedAt = options.clock.wallIso();
  }

  async run(): Promise<RunSet> {
    const { runs, signal, onRun, onBegin } = this.#options;
    await this.#watch.begin();
    for (const [index, run] of runs.entries()) {
      if (signal.aborted) break;
      onBegin?.(run, index);
      this.#runs.push(await this.#runOne(run, index));
      await onRun?.(this.#runSet());
    }
    await this.#lastLook();
    return this.#runSet();
  }

  /** The wide look at the end goes into the record of the last run, which is graded anew. */
  async #lastLook(): Promise<void> {
    const last = this.#runs.at(-1);
    if (last?.record.containment === null || last === undefined) return;
    await this.#watch.end(last.record.containment);
    last.grade = grade(last.record);
    if (last.grade.containmentBroken && last.expected !== null) last.expected.met = false;
  }

  /** The set so far. What decides is whether every run gave what the answer key says. */
  #runSet(): RunSet {
    const { command, runs, signal, clock } = this.#options;
    const isComplete = this.#runs.length === runs.length && !signal.aborted;
    const broken = this.#runs.some((run) => run.grade.containmentBroken);
    const verdicts = this.#runs.filter((run) => run.expected !== null)
      .map((run) => run.expected?.met ? "pass" as const : "fail" as const);
    const verdict = mergeVerdicts(isComplete ? verdicts : [...verdicts, "unproven"]);
    return {
      schema: "failure-lab/run-set",
      version: RECORD_VERSION,
      command,
      tool: toolInfo(),
      startedAt: this.#startedAt,
      endedAt: isComplete || signal.aborted ? clock.wallIso() : null,
      interrupted: signal.aborted
        ? `${this.#runs.length} of ${runs.length} runs were done when it was interrupted`
        : null,
      verdict,
      exitCode: exitCodeFor(verdict, broken),
      runs: [...this.#runs],
    };
  }

  async #runOne(run: DrillRun, index: number): Promise<RunSet["runs"][number]> {
    const record = this.#draft(run);
    record.notApplicable = this.#scenes(run.drill.id).lacks?.(run.variant) ?? null;
    const name = [String(index + 1).padStart(3, "0"), run.drill.id, run.mode].join("-");
    const dir = join(this.#lab.root, name);
    await Deno.mkdir(join(dir, "logs"), { recursive: true, mode: 0o700 });
    await Deno.mkdir(join(dir, "neighbours"));
    this.#watch.plant(dir);
    if (record.notApplicable === null) await this.#onStage(run, record, dir);
    record.containment = await this.#watch.observe();
    record.endedAt = this.#options.clock.wallIso();
    if (!this.#options.keep) await removeTree(dir, this.#lab.root);
    const graded = grade(record);
    return { record, grade: graded, expected: this.#expected(run, record, graded) };
  }

  #expected(run: DrillRun, record: RunRecord, graded: ReturnType<typeof grade>) {
    // What this machine cannot do, or what was broken off, says nothing about the drill.
    if (record.notApplicable !== null) return null;
    const expectation = expectationFor(this.#options.key, run.drill.id, run.mode, run.variant);
    const { verdict, reasonId } = expectation;
    return { verdict, reasonId, met: isMet(expectation, graded) };
  }

  /** Plays one scene, and ends every process of it with proof on every path. */
  async #onStage(run: DrillRun, record: RunRecord, dir: string): Promise<void> {
    const { clock, signal, onJournal } = this.#options;
    const journalPath = join(dir, "journal.jsonl");
    using journal = new Journal(journalPath, clock, (entry) => onJournal?.(run, entry));
    const driverWith = (marker: string, logDir: string) =>
      new Driver({
        marker,
        logDir: join(dir, logDir),
        clock,
        journal,
        signal,
        onLeader: (leader) => void this.#keeper.addLeader(leader),
        listener: {
          groupOver: (leader) => void this.#keeper.dropLeader(leader),
          unmarked: (process) => void this.#keeper.addKnown(process),
        },
      });
    const driver = driverWith(this.#lab.marker, "logs");
    const stage = new DrillStage({
      drill: run.drill,
      mode: run.mode,
      variant: run.variant,
      dir,
      marker: this.#lab.marker,
      contract: this.#scenes(run.drill.id).contract,
      driver,
      makeDriver: () => driverWith(drawToken(), "neighbours"),
      clock,
      journal,
      record,
      signal,
    });
    try {
      stage.prepare();
      await play(this.#scenes(run.drill.id), run.mode, stage);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      // A defect of ours, or of this machine, must not look like a verdict on a repair.
      record.interrupted = error instanceof Interrupted ? why : `the lab failed: ${why}`;
      journal.add("error", { error: error instanceof Error ? error.stack ?? why : why });
    } finally {
      // After an attempt whose end was proven, nobody of this run is left to look for.
      if (!stage.isOver) {
        const kill = await driver.reap(0);
        if (kill.survivors.length > 0) record.kill = kill;
      }
      await driver.release();
      stage.finish();
      await stage.takeDown();
      record.cost.wallMs = journal.atMs();
      record.cost.jobMs = jobMs(record);
      record.cost.journalEntries = journal.entries;
      record.cost.journalDropped = journal.dropped;
      journal.close();
      this.#options.keepJournal?.(record.id, journalPath);
    }
  }

  #draft(run: DrillRun): RunRecord {
    const { drill, mode, variant, repeat } = run;
    const declared = {
      units: drill.units,
      limits: drill.limits,
      ...this.#scenes(drill.id).contract,
    };
    const { rerun, seed, label, git, clock } = this.#options;
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
}

async function play(scene: Scene, mode: Mode, stage: DrillStage): Promise<void> {
  if (mode === "control") return await scene.control(stage);
  await scene.fail(stage);
  if (mode === "broken") await scene.naive(stage);
  else await scene.repair(stage);
}

function jobMs(record: RunRecord): number {
  const phases = [record.start, ...record.attempts.map((attempt) => attempt.phase)];
  return phases.reduce((sum, phase) => {
    return sum + (phase === null || phase.endedMs === null ? 0 : phase.endedMs - phase.startedMs);
  }, 0);
}

/** The folder or file that is this program: the binary, or the root of the sources. */
export function kitPath(): string {
  return Deno.build.standalone ? Deno.execPath() : dirname(import.meta.dirname ?? ".");
}

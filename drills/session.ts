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
  exitCodeFor,
  grade,
  type JournalEntry,
  type Lab,
  mergeVerdicts,
  RECORD_VERSION,
  removeTree,
  type RunRecord,
  type RunSet,
  sweepLabs,
  toolInfo,
} from "../lab/mod.ts";
import { draftRecord, playHalf } from "./_half.ts";
import { type AnswerKey, expectationFor, isMet } from "./answer_key.ts";
import type { DrillRun } from "./catalog.ts";
import type { Scene } from "./scene.ts";
import { sceneOf } from "./scenes/mod.ts";
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
  /** Halves that run at the same time. @default {2, or 1 on a machine with one core} */
  lanes?: number;
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
    const runSet = await new Session(options, scenes, lab).run();
    return { runSet, labKept: options.keep ? lab.root : null, swept };
  } finally {
    await lab.remove();
  }
}

/** Halves at the same time, where the machine has as many cores: most of a half is waiting. */
const LANES_MAX = 2;

class Session {
  readonly #options: SessionOptions;
  readonly #scenes: (drillId: string) => Scene;
  readonly #lab: Lab;
  readonly #watch: WatchPost;
  readonly #startedAt: string;
  /** By the run's place in the plan. */
  readonly #done = new Map<number, RunSet["runs"][number]>();
  #telling: Promise<void> = Promise.resolve();

  constructor(options: SessionOptions, scenes: (drillId: string) => Scene, lab: Lab) {
    this.#options = options;
    this.#scenes = scenes;
    this.#lab = lab;
    this.#watch = new WatchPost({
      ...watchPlaces(options.kitPath, options.home, Deno.build.standalone),
      exclude: options.exclude ?? [],
    });
    this.#startedAt = options.clock.wallIso();
  }

  async run(): Promise<RunSet> {
    const { runs } = this.#options;
    await this.#watch.begin();
    const queue = runs.entries();
    const lanes = this.#options.lanes ?? Math.min(LANES_MAX, navigator.hardwareConcurrency);
    const count = Math.max(1, Math.min(lanes, runs.length));
    // Every lane comes to its end before anything is taken away, also when one of them broke.
    const ends = await Promise.allSettled(Array.from({ length: count }, () => this.#lane(queue)));
    const broken = ends.find((end) => end.status === "rejected");
    if (broken !== undefined) throw broken.reason;
    await this.#lastLook();
    return this.#runSet();
  }

  async #lane(queue: Iterable<[number, DrillRun]>): Promise<void> {
    const { signal, onBegin } = this.#options;
    for (const [index, run] of queue) {
      if (signal.aborted) return;
      onBegin?.(run, index);
      this.#done.set(index, await this.#runOne(run, index));
      await this.#tell();
    }
  }

  /** One telling at a time, each with everything that is done by then. */
  #tell(): Promise<void> {
    this.#telling = this.#telling.then(() => this.#options.onRun?.(this.#runSet()));
    return this.#telling;
  }

  get #runs(): RunSet["runs"] {
    return [...this.#done].sort(([a], [b]) => a - b).map(([, run]) => run);
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
    const { command, runs: planned, signal, clock } = this.#options;
    const runs = this.#runs;
    const isComplete = runs.length === planned.length && !signal.aborted;
    const verdicts = runs.filter((run) => run.expected !== null)
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
        ? `${runs.length} of ${planned.length} runs were done when it was interrupted`
        : null,
      verdict,
      exitCode: exitCodeFor(verdict, runs.some((run) => run.grade.containmentBroken)),
      runs,
    };
  }

  async #runOne(run: DrillRun, index: number): Promise<RunSet["runs"][number]> {
    const scene = this.#scenes(run.drill.id);
    const record = draftRecord(run, scene, this.#options);
    record.notApplicable = scene.lacks?.(run.variant) ?? null;
    const name = [String(index + 1).padStart(3, "0"), run.drill.id, run.mode].join("-");
    const dir = join(this.#lab.root, name);
    await Deno.mkdir(join(dir, "logs"), { recursive: true, mode: 0o700 });
    await Deno.mkdir(join(dir, "neighbours"));
    const watch = await this.#watch.open(dir);
    if (record.notApplicable === null) {
      await playHalf({ run, scene, record, dir, ...this.#options });
    }
    record.containment = await watch.close();
    record.endedAt = this.#options.clock.wallIso();
    if (!this.#options.keep) await removeTree(dir, this.#lab.root);
    const graded = grade(record);
    return { record, grade: graded, expected: this.#expected(run, record, graded) };
  }

  #expected(run: DrillRun, record: RunRecord, graded: ReturnType<typeof grade>) {
    // What this machine cannot do, or what the user broke off, says nothing about the drill.
    const isBrokenOff = record.interrupted !== null && this.#options.signal.aborted;
    if (record.notApplicable !== null || isBrokenOff) return null;
    const expectation = expectationFor(this.#options.key, run.drill.id, run.mode, run.variant);
    const { verdict, reasonId } = expectation;
    return { verdict, reasonId, met: isMet(expectation, graded) };
  }
}

/** The folder or file that is this program: the binary, or the root of the sources. */
export function kitPath(): string {
  return Deno.build.standalone ? Deno.execPath() : dirname(import.meta.dirname ?? ".");
}

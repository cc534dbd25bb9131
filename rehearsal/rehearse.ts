/**
 * A set of runs of the user's job inside the narrowed worker: copy, control run, then one run for
 * each item of the plan, each with its own containment and its own record.
 *
 * @module
 */
import { basename, dirname, join } from "@std/path";
import {
  type Clock,
  Driver,
  type FileCrew,
  Journal,
  newRecord,
  type ProcessIdentity,
  removeTree,
  type RunRecord,
} from "../lab/mod.ts";
import { type Provider, startProvider } from "../lab/provider/mod.ts";
import { contentChecksOf } from "./contract.ts";
import { runControl } from "./control_run.ts";
import { FreshCopy } from "./fresh_copy.ts";
import type { FromWorker, PlanItem, WorkerStart } from "./plan.ts";
import { copyProject, type CopyReport } from "./project_copy.ts";
import { manifestOf } from "./project_manifest.ts";
import { providerEnvironment } from "./provider_environment.ts";
import { findReplay, type Replay, runUndisturbed } from "./replays/mod.ts";
import { type ControlResult, Stage } from "./stage.ts";
import { forgetRun, isWorthRepeating, isWorthWaiting } from "./tries.ts";
import { Watch } from "./watch.ts";

/** What a rehearsal works with. */
export interface RehearsalOptions {
  post: (message: FromWorker) => void;
  clock: Clock;
  signal: AbortSignal;
  /** Does file work on two threads where there are two. */
  crew: FileCrew;
}

const CONTROL = "control";
/** How often a failure that could not be delivered is tried. */
const TRIES_MAX = 3;
const PLAIN_SUBJECTS: ReadonlySet<string> = new Set(["rehearsal", "own-failure"]);

/** Does the plan of one {@linkcode WorkerStart}. */
export class Rehearsal {
  readonly #start: WorkerStart;
  readonly #options: RehearsalOptions;
  #copy: CopyReport | null = null;
  #manifest: Record<string, string> | null = null;
  #control: ControlResult | null = null;
  readonly #watch: Watch;
  #workspace: FreshCopy | null = null;
  #provider: Provider | null = null;
  /** Whether a recovery waits until the dead are collected; see `awaitCollected()`. */
  #awaitsDead = false;

  /** @param start The message with the plan. */
  constructor(start: WorkerStart, options: RehearsalOptions) {
    this.#start = start;
    this.#options = options;
    const { watch: roots, exclude, projectDir, labRoot, workspace } = start;
    this.#watch = new Watch({ roots, exclude, projectDir, labRoot, workspace, crew: options.crew });
  }

  /** Does everything. Posts a record for each item, also when it was interrupted. */
  async run(): Promise<void> {
    const { post, signal, clock } = this.#options;
    await using provider = await startProvider({ clock });
    this.#provider = provider;
    post({ type: "progress", text: "copying the project and hashing the watch list" });
    const [, outside] = await Promise.all([this.#fillLab(), this.#watch.lookOutside()]);
    await this.#watch.begin(outside, this.#copy?.read ?? new Map());
    if (this.#start.contract.control && !signal.aborted) await this.#runControl();
    for (const item of this.#start.plan) {
      post({ type: "record", record: await this.#runItem(item) });
    }
    // The program grades and reports meanwhile; it removes what is left.
    if (!this.#start.keep) await this.#removeCopies();
  }

  async #removeCopies(): Promise<void> {
    const { labRoot, workspace } = this.#start;
    await removeTree(dirname(workspace), labRoot).catch(() => {});
  }

  /** Copies the project into the workspace. */
  async #fillLab(): Promise<void> {
    const { clock } = this.#options;
    const { projectDir, labRoot, workspace } = this.#start;
    const fill = (to: string) => this.#copyProject(to);
    this.#workspace = new FreshCopy({ projectDir, workspace, labRoot, fill, clock });
    await this.#workspace.refresh();
  }

  /** Copies the project; what is copied later must be what was copied first. */
  async #copyProject(to: string): Promise<ReadonlyMap<string, string>> {
    const { projectDir, contract, exclude, labRoot } = this.#start;
    const copy = await copyProject({
      from: projectDir,
      to,
      labRoot,
      leaveBehind: contract.leaveBehind,
      exclude,
      crew: this.#options.crew,
    });
    if (this.#copy === null) {
      this.#copy = copy;
      this.#manifest = copy.sha256 === null ? null : manifestOf(copy.manifest);
    } else if (copy.sha256 !== this.#copy.sha256) {
      throw new Error(
        `the project "${projectDir}" was changed while its job was tested, so that this run would ` +
          "not begin where the first one did. Run it again while nobody works in the project",
      );
    }
    return new Map(copy.manifest.map(({ path, sha256 }) => [path, sha256]));
  }

  /** A job that calls a model provider reaches ours; what the contract says about it wins. */
  #providerEnv(): Record<string, string> {
    return this.#provider === null ? {} : providerEnvironment(this.#provider);
  }

  async #runControl(): Promise<void> {
    this.#options.post({ type: "progress", text: "control run, without a failure" });
    await this.#onStage(CONTROL, this.#draft(controlItem()), async (stage) => {
      await stage.freshCopy();
      this.#control = await runControl(stage);
    });
  }

  /** One item, whatever happens in it. */
  async #runItem(item: PlanItem): Promise<RunRecord> {
    const { signal, post, clock } = this.#options;
    const replay = findReplay(item.subject);
    if (replay === null) throw new RangeError(`Unknown replay "${item.subject}"`);
    const variant = item.variant ?? replay.variants[0] ?? "";
    let record = this.#draft(item);
    record.notApplicable = replay.needs(this.#start.contract, variant);
    const isPossible = record.notApplicable === null && this.#isControlWhole();
    for (let tries = 1; isPossible && tries <= TRIES_MAX && !signal.aborted; tries++) {
      post({ type: "progress", text: `${item.subject}: running` });
      record = this.#draft(item);
      if (tries > 1) record.options.tries = tries;
      await this.#tryItem(item, record, replay, variant);
      const awaitsDead = this.#awaitsDead;
      this.#awaitsDead = isWorthWaiting(record);
      if (!isWorthRepeating(record) && (awaitsDead || !this.#awaitsDead)) break;
    }
    this.#awaitsDead = false;
    if (signal.aborted) record.interrupted = "it was interrupted by the user";
    record.containment ??= await this.#watch.contain();
    record.endedAt = clock.wallIso();
    return record;
  }

  async #tryItem(
    item: PlanItem,
    record: RunRecord,
    replay: Replay,
    variant: string,
  ): Promise<void> {
    await this.#onStage(record.id, record, async (stage) => {
      await stage.freshCopy();
      await (item.armed ? replay.run(stage, variant) : runUndisturbed(stage));
      if (record.notApplicable !== null) return forgetRun(record);
      if (item.resumeTwice && stage.hasRecovered) await stage.resume("resume-again");
      // The final look comes after that, so that the time it takes is quiet time as well.
      if (!isWorthRepeating(record)) record.containment = await this.#watch.contain();
      await stage.finish();
    });
  }

  /** Runs something on a fresh stage, and ends every process of it with proof on every path. */
  async #onStage(
    name: string,
    record: RunRecord,
    act: (stage: Stage) => Promise<void>,
  ): Promise<void> {
    const { post, clock, signal } = this.#options;
    if (this.#workspace === null) throw new TypeError("Cannot run anything without a workspace");
    const logDir = join(this.#start.labRoot, "logs", name.replaceAll("/", "-"));
    await removeTree(logDir, this.#start.labRoot);
    await Deno.mkdir(logDir, { recursive: true });
    const journalPath = join(logDir, "journal.jsonl");
    using journal = new Journal(
      journalPath,
      clock,
      (entry) => post({ type: "journal", subject: name, entry }),
    );
    const driverOptions = {
      marker: this.#start.marker,
      logDir,
      clock,
      journal,
      signal,
      onLeader: (process: ProcessIdentity) => post({ type: "process", what: "leader", process }),
      listener: {
        groupOver: (process: ProcessIdentity) => post({ type: "process", what: "over", process }),
        unmarked: (process: ProcessIdentity) =>
          post({ type: "process", what: "unmarked", process }),
      },
    };
    const driver = new Driver(driverOptions);
    const stage = new Stage({
      contract: this.#start.contract,
      commands: this.#start.commands,
      env: { ...this.#providerEnv(), ...this.#start.env },
      labRoot: this.#start.labRoot,
      logDir,
      copy: this.#workspace,
      workspace: this.#start.workspace,
      driver,
      newDriver: (system) => new Driver({ ...driverOptions, system }),
      clock,
      journal,
      record,
      awaitsDead: this.#awaitsDead,
      control: this.#control,
      provider: this.#provider,
    });
    try {
      await act(stage);
    } catch (error) {
      // A defect of ours, or of this machine, must not look like a verdict on the job.
      record.interrupted ??= `the lab failed: ${
        error instanceof Error ? error.message : String(error)
      }`;
      journal.add("error", { error: error instanceof Error ? error.stack : String(error) });
    } finally {
      const kill = await driver.reap(0);
      if (kill.survivors.length > 0) record.kill = kill;
      await driver.release();
      record.cost.wallMs = journal.atMs();
      record.cost.journalEntries = journal.entries;
      record.cost.journalDropped = journal.dropped;
    }
    this.#keepJournal(name, journalPath);
  }

  /** The journal of a run is part of its report. */
  #keepJournal(name: string, path: string): void {
    try {
      const target = join(this.#start.reportDir, `journal-${name.replaceAll("/", "-")}.jsonl`);
      Deno.copyFileSync(path, target);
    } catch {
      // A full report folder is found and reported where the report itself is written.
    }
  }

  #isControlWhole(): boolean {
    const { contract } = this.#start;
    if (!contract.control) return true;
    const control = this.#control;
    if (control === null) return false;
    const { phase, artifacts } = control.record;
    const { count } = contract.artifacts;
    return phase.exitCode === 0 && phase.limitHit === null &&
      (count === undefined || artifacts.length === count) &&
      artifacts.every((artifact) => artifact.problems.length === 0);
  }

  #draft(item: PlanItem): RunRecord {
    const { base, contract, contractSha256, projectDir } = this.#start;
    const options: RunRecord["options"] = { ...base.options };
    if (item.killAfterArtifacts !== null) {
      options.killAfterArtifacts = item.killAfterArtifacts;
      const made = item.killAfterArtifacts;
      options.point = `after ${made} output${made === 1 ? "" : "s"}`;
    }
    options.killResume = item.killResume;
    const variant = item.variant ?? findReplay(item.subject)?.variants[0] ?? null;
    const record = newRecord({
      ...base,
      id: [item.subject, variant, item.killAfterArtifacts].filter((part) => part !== null)
        .join("-"),
      kind: PLAIN_SUBJECTS.has(item.subject) ? "rehearsal" : "replay",
      subject: item.subject,
      half: null,
      options,
      contract: {
        sha256: contractSha256,
        count: contract.artifacts.count ?? null,
        contentChecks: contentChecksOf(contract),
        emptyAllowed: contract.artifacts.emptyAllowed ?? false,
        declared: JSON.parse(JSON.stringify(contract)),
      },
      startedAt: this.#options.clock.wallIso(),
      fault: { name: item.subject, variant, armed: item.armed },
    });
    record.project = {
      path: projectDir,
      sha256: this.#copy?.sha256 ?? null,
      manifest: this.#manifest,
      files: this.#copy?.files ?? 0,
      skipped: (this.#copy?.skipped ?? []).slice(0, 1000).map(({ path, reason }) => ({
        path,
        reason,
      })),
    };
    record.control = this.#control?.record ?? null;
    record.controlSkipped = this.#start.contract.control
      ? null
      : contract.startFails === true
      ? "the start fails by itself, as the contract says"
      : "switched off in the contract";
    return record;
  }
}

function controlItem(): PlanItem {
  return {
    subject: "rehearsal",
    variant: null,
    armed: false,
    killAfterArtifacts: null,
    killResume: false,
    resumeTwice: false,
  };
}

/** Where the job runs: a folder named like the project, alone in a folder of the lab. */
export function workspaceOf(labRoot: string, projectDir: string): string {
  return join(labRoot, "work", basename(projectDir) || "project");
}

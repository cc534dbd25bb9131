/**
 * The stage on which one run of the user's job happens: a fresh copy, the driver, and the looks at
 * outputs, checkpoint, lock and effects. Replays are written in terms of it; it fills the record.
 *
 * @module
 */
import { join } from "@std/path";
import {
  type ArtifactGlimpse,
  artifactSignature,
  type ArtifactSpec,
  type AttemptRecord,
  type Driver,
  type Ending,
  type FaultRecord,
  type KillRecord,
  listArtifacts,
  type PhaseRecord,
  type RunRecord,
  sendSignal,
  type Spawned,
  startErrorPhase,
} from "../lab/mod.ts";
import { awaitCollected } from "./collected.ts";
import { type Contract, killPointOf } from "./contract.ts";
import { Disk, type LogState } from "./disk_look.ts";
import { noteFinished, noteThrownAway } from "./fault_state.ts";
import { killResumeHalfWay } from "./kill_resume.ts";
import { keepQuiet, type QuietResult } from "./quiet.ts";
import type {
  Conclusion,
  ControlResult,
  DiskLook,
  StageOptions,
  StageQuiet,
  StartResult,
} from "./stage_types.ts";
import { type Reached, runUntil, startInSteps } from "./strike.ts";

export type {
  ControlResult,
  DiskLook,
  StageCommands,
  StageOptions,
  StartResult,
} from "./stage_types.ts";

/** A job that makes an output faster than this is started stopped and let run in small steps. */
const PACE_BELOW_MS_PER_OUTPUT = 60;
const CHECK_LIMIT_MS = 30_000;

/** One run of the user's job. */
export class Stage {
  readonly options: StageOptions;
  /** What the job has on disk. */
  readonly disk: Disk;
  /** Called at every look at the outputs of a running command. */
  onOutputs: ((outputs: readonly ArtifactGlimpse[]) => void) | null = null;
  #lastOutputMs: number | null = null;
  #isResumeKilled = false;
  #isCollected = false;
  #atStrike: ArtifactGlimpse[] = [];
  #effectsLog: LogState | null = null;
  #concludedAtMs: number | null = null;

  /** @param options See {@linkcode StageOptions}. */
  constructor(options: StageOptions) {
    this.options = options;
    const { contract, workspace, control, commands } = options;
    const check = commands.check === null ? null : (path: string) => this.#check(path);
    this.disk = new Disk({ contract, workspace, control, check });
  }

  /** The contract. */
  get contract(): Contract {
    return this.options.contract;
  }

  /** Which files are outputs. */
  get spec(): ArtifactSpec {
    return this.disk.spec;
  }

  /** The record that this run fills. */
  get record(): RunRecord {
    return this.options.record;
  }

  /** Path of something in the copy. */
  path(relativePath: string): string {
    return join(this.options.workspace, relativePath);
  }

  /** Time to leave between TERM and KILL. */
  get graceMs(): number {
    return this.contract.limits.graceSeconds * 1000;
  }

  /** Makes the workspace what the project is, whatever the last run left there. */
  async freshCopy(): Promise<void> {
    const how = await this.options.copy.refresh();
    this.options.journal.add("fresh-copy", { how });
  }

  /** A full look at the disk: outputs with hashes and content checks, checkpoint, effects, lock. */
  look(): Promise<DiskLook> {
    return this.disk.look();
  }

  /** Runs the contract's check on an output; a limit ends it. Gives what is wrong, or `null`. */
  async #check(path: string): Promise<string | null> {
    const { driver, commands } = this.options;
    const spawned = await this.#tryStart("check", [...commands.check ?? [], path]);
    let phase: PhaseRecord;
    if (!("pid" in spawned)) phase = spawned;
    else {
      const limit = { runMs: CHECK_LIMIT_MS, idleMs: CHECK_LIMIT_MS, signature: () => "" };
      const ending = await driver.supervise(spawned, limit);
      if (ending !== "ended") {
        spawned.noteEnd({ limitHit: "run" });
        // Only this command: others of the job may be alive on purpose.
        await sendSignal("KILL", [-spawned.pid]);
      }
      phase = await driver.finish(spawned);
    }
    if (phase.exitCode === 0) return null;
    const said = (phase.stderrTail || phase.stdoutTail).trim().split("\n").at(-1) ?? "";
    return `the check ${phase.startError ?? `ended with ${phase.signal ?? phase.exitCode}`}` +
      (said === "" ? "" : `: ${said.slice(0, 160)}`);
  }

  async #tryStart(
    name: string,
    argv: string[],
    driver: Driver = this.options.driver,
  ): Promise<Spawned | PhaseRecord> {
    const { workspace, env, journal } = this.options;
    const startedMs = journal.atMs();
    try {
      return await driver.start(name, argv, workspace, env);
    } catch (error) {
      journal.add("start-failed", { name, error: String(error) });
      return startErrorPhase(argv, startedMs, error);
    }
  }

  /** Starts a command of the job and hands it over running; the phase when it cannot start. */
  async begin(name: string, argv: string[], driver?: Driver): Promise<Spawned | PhaseRecord> {
    this.#lastOutputMs = null;
    this.#isCollected = false;
    this.disk.forgetChecks();
    this.options.copy.use();
    return await this.#tryStart(name, argv, driver);
  }

  /** Watches a running command against the contract's limits; notes a limit that it hits. */
  async watch(
    spawned: Spawned,
    until?: Reached,
    driver: Driver = this.options.driver,
  ): Promise<Ending> {
    const { runSeconds, idleSeconds } = this.contract.limits;
    let outputs: ArtifactGlimpse[] = [];
    let before = "";
    const ending = await driver.supervise(spawned, {
      runMs: runSeconds * 1000,
      idleMs: idleSeconds * 1000,
      signature: () => {
        outputs = listArtifacts(this.spec);
        this.onOutputs?.(outputs);
        const now = artifactSignature(outputs);
        if (now !== before) {
          before = now;
          this.#lastOutputMs = this.options.journal.atMs();
        }
        return now;
      },
      ...(until === undefined ? {} : { until: () => until(outputs) }),
    });
    if (ending === "run" || ending === "idle") spawned.noteEnd({ limitHit: ending });
    return ending;
  }

  /** Whether the job makes its outputs too fast to be struck by looking. */
  get isPaced(): boolean {
    return this.perOutputMs < PACE_BELOW_MS_PER_OUTPUT;
  }

  /** How long the control run took for one output. */
  get perOutputMs(): number {
    const { control } = this.options;
    if (control === null) return Infinity;
    return control.elapsedMs / Math.max(1, this.contract.artifacts.count ?? 1);
  }

  /**
   * Runs `start` until so many outputs are there, and freezes it at that moment (SIGSTOP to the
   * group, which needs no look at the process table: the leader is our uncollected child).
   */
  async startUntil(outputs: number): Promise<StartResult> {
    const { control, commands } = this.options;
    const reached: Reached = (seen) => seen.length >= outputs;
    // With nothing to wait for, the job is hit in the middle of making its first output.
    const holdMs = outputs > 0 || control === null ? 0 : this.#holdMs(control);
    const run = { name: "start", argv: commands.start, reached, holdMs };
    return this.isPaced && outputs > 0 && outputs < Infinity
      ? await startInSteps(this, run)
      : await runUntil(this, run);
  }

  /** With a single output that grows, the job is hit while it does so, and not before. */
  #holdMs({ firstOutputMs, elapsedMs, record }: ControlResult): number {
    const firstMs = firstOutputMs ?? elapsedMs;
    const isGrowing = this.contract.artifacts.count === 1 && (record.grown?.length ?? 0) > 0;
    return (isGrowing ? firstMs + elapsedMs : firstMs) / 2;
  }

  /** Ends the run that was started, with proof, and notes how it ended. */
  async killStart(start: StartResult, options: { graceMs?: number } = {}): Promise<KillRecord> {
    const { driver } = this.options;
    if (start.spawned?.ended === null) start.spawned.noteEnd({ endedByLab: true });
    if (start.frozen.length > 0) this.#atStrike = listArtifacts(this.spec);
    const kill = await driver.reap(options.graceMs ?? this.graceMs);
    await this.noteStart(start);
    this.record.kill = kill;
    return kill;
  }

  /** Notes how the run that was started has ended. */
  async noteStart({ spawned }: StartResult): Promise<void> {
    if (spawned === null) return;
    const phase = await this.options.driver.finish(spawned);
    // A paced start runs behind a small shell wrapper; what the user wants to read is the job.
    this.record.start = { ...phase, argv: [...this.options.commands.start] };
  }

  /** Notes the state of the disk at the moment when nothing of the failed run could write. */
  async noteFaultState(): Promise<DiskLook> {
    // Here, so that the wait for the system is no part of the recovery time.
    await this.#awaitCollected();
    const look = await this.look();
    this.record.artifactsAtFault = look.artifacts;
    noteFinished(this, look.artifacts);
    this.record.checkpointAtFault = look.checkpoint;
    this.record.effectsAtFault = look.effects;
    noteThrownAway(this, this.#atStrike, look.artifacts);
    this.#atStrike = [];
    this.#effectsLog = this.disk.effectsLog();
    this.options.journal.add("disk", {
      outputs: look.artifacts.length,
      finished: this.record.finishedAtFault.length,
    });
    return look;
  }

  /** Takes an output from those that are finished, because the lab itself has damaged it. */
  disown(path: string): void {
    const { record } = this;
    record.finishedAtFault = record.finishedAtFault.filter((each) => each !== path);
    if (record.likelyAtFault === undefined) return;
    record.likelyAtFault = record.likelyAtFault.filter((each) => each !== path);
  }

  /** Whether work is left, so that there is something to recover. */
  get isWorkLeft(): boolean {
    return this.record.finishedAtFault.length < (this.contract.artifacts.count ?? Infinity);
  }

  /** Notes the proof that the failure happened; the recovery time counts from here. */
  deliver(evidence: FaultRecord["evidence"]): void {
    const { fault } = this.record;
    fault.evidence.push(...evidence);
    fault.delivered = fault.armed && fault.evidence.length > 0;
    fault.provenAtMs = fault.delivered ? this.options.journal.atMs() : null;
    this.options.journal.add("fault", { delivered: fault.delivered, evidence });
  }

  /** Runs `resume` to its end (or limit), waits for quiet, and notes the attempt. */
  async resume(purpose: AttemptRecord["purpose"] = "resume"): Promise<AttemptRecord> {
    if (this.record.options.killResume === true && !this.#isResumeKilled) {
      this.#isResumeKilled = true;
      await this.#awaitCollected();
      await killResumeHalfWay(this);
    }
    if (purpose === "resume") await this.#awaitCollected();
    const before = await this.look();
    const spawned = await this.begin(purpose, this.options.commands.resume);
    if ("pid" in spawned) await this.watch(spawned);
    return await this.concludeAttempt(purpose, before, spawned);
  }

  /** Waits until the dead are collected, where that is wanted, and notes who is not. */
  async #awaitCollected(): Promise<void> {
    if (this.#isCollected) return;
    const { driver, clock, copy, awaitsDead } = this.options;
    const dead = await awaitCollected(driver, clock, copy, awaitsDead ? undefined : 0);
    if (dead.length > 0) this.record.uncollected = dead;
    else delete this.record.uncollected;
    this.#isCollected = true;
  }

  /** Ends an attempt: quiet period, reaping with proof, a full look, the record. */
  async concludeAttempt(
    purpose: AttemptRecord["purpose"],
    before: DiskLook,
    spawned: Spawned | PhaseRecord,
    { driver = this.options.driver, quiet = {} }: Conclusion = {},
  ): Promise<AttemptRecord> {
    const { journal } = this.options;
    const started = "pid" in spawned;
    if (started && spawned.ended !== null && quiet !== null) await this.quiet(driver, quiet);
    if (started) spawned.noteEnd({ endedByLab: spawned.ended === null });
    const kill = await driver.reap(this.graceMs);
    const phase = started ? await driver.finish(spawned) : spawned;
    const after = await this.look();
    const attempt: AttemptRecord = {
      purpose,
      phase: { ...phase, argv: [...this.options.commands.resume] },
      kill,
      artifactsBefore: before.artifacts,
      artifactsAfter: after.artifacts,
      effectsAfter: after.effects,
      checkpointAfter: after.checkpoint,
      lockBefore: before.lock,
      lockAfter: after.lock,
    };
    this.record.attempts.push(attempt);
    this.#concludedAtMs = journal.atMs();
    journal.add("attempt", { purpose, exitCode: phase.exitCode, signal: phase.signal });
    if (purpose === "resume") this.#noteRecoveryTime(attempt);
    return attempt;
  }

  #noteRecoveryTime(attempt: AttemptRecord): void {
    const { provenAtMs } = this.record.fault;
    const whole = attempt.artifactsAfter.filter((artifact) => artifact.problems.length === 0);
    const { count } = this.contract.artifacts;
    if (provenAtMs === null || count === undefined || whole.length < count) return;
    const touched = JSON.stringify(attempt.artifactsBefore) !==
      JSON.stringify(attempt.artifactsAfter);
    // When nothing was missing, the work was whole when the recovery had said so.
    const wholeAtMs = touched ? this.#lastOutputMs : attempt.phase.endedMs;
    if (this.record.recoveryMs === null && wholeAtMs !== null && wholeAtMs >= provenAtMs) {
      this.record.recoveryMs = wholeAtMs - provenAtMs;
    }
  }

  /** After the end of a command nothing may change any more; notes who changed what. */
  async quiet(
    driver: Driver,
    { isClaim = true, ...options }: StageQuiet = {},
  ): Promise<QuietResult> {
    const { journal, clock } = this.options;
    const seen = await keepQuiet({ spec: this.spec, driver, journal, clock, ...options });
    const quiet = this.record.quiet ?? { observedMs: 0, changed: [] };
    quiet.observedMs += seen.observedMs;
    if (isClaim) quiet.changed.push(...seen.changed);
    this.record.quiet = quiet;
    return seen;
  }

  /** The final look, after everything else: the time since the last attempt was quiet as well. */
  async finish(): Promise<void> {
    const look = await this.look();
    if (this.record.quiet !== null && this.#concludedAtMs !== null) {
      this.record.quiet.observedMs += this.options.journal.atMs() - this.#concludedAtMs;
    }
    this.record.artifacts = look.artifacts;
    this.record.checkpoint = look.checkpoint;
    this.record.effects = look.effects;
    if (this.disk.endMarkRepeats) this.record.endMarkRepeats = true;
    const log = this.#effectsLog;
    if (log !== null && this.disk.isLogReplaced(log)) this.record.effectsLogReplaced = true;
  }

  /** Whether the last recovery ended well, so that a second one is worth running. */
  get hasRecovered(): boolean {
    const last = this.record.attempts.at(-1);
    return last !== undefined && last.phase.exitCode === 0 && last.phase.limitHit === null &&
      this.record.fault.delivered;
  }

  /** The kill point of the contract, or of this run's options. */
  get killPoint(): number {
    const own = this.record.options.killAfterArtifacts;
    return typeof own === "number" ? own : killPointOf(this.contract);
  }
}

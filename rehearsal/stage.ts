/**
 * The stage on which one run of the user's job happens: a fresh copy, the driver, and the looks at
 * outputs, checkpoint, lock and effects. Replays are written in terms of it; it fills the record.
 *
 * @module
 */
import { dirname, join } from "@std/path";
import {
  type Artifact,
  type ArtifactGlimpse,
  artifactSignature,
  type ArtifactSpec,
  type AttemptRecord,
  type Clock,
  type Driver,
  effectKeys,
  type EffectsSpec,
  type Ending,
  type FaultRecord,
  hashFile,
  type Journal,
  type KillRecord,
  listArtifacts,
  type PhaseRecord,
  type ProcessRow,
  readArtifacts,
  readCheckpoint,
  readEffects,
  removeTree,
  type RunRecord,
  sendSignal,
  type Spawned,
  startErrorPhase,
  waitUntil,
} from "../lab/mod.ts";
import { type Contract, killPointOf } from "./contract.ts";
import { startPaced } from "./pacer.ts";
import { cloneTree } from "./project_copy.ts";

/** Commands of the job as they run in the copy. */
export interface StageCommands {
  start: string[];
  resume: string[];
  check: string[] | null;
  monitor: string[] | null;
}

/** What a stage is built from. */
export interface StageOptions {
  contract: Contract;
  commands: StageCommands;
  env: Record<string, string>;
  /** Root of the lab; everything that a stage writes is below it. */
  labRoot: string;
  /** The copy as it was made from the project; runs get clones of it. */
  pristine: string;
  /** Where the job runs. The same path for every run, so that outputs with paths are comparable. */
  workspace: string;
  driver: Driver;
  clock: Clock;
  journal: Journal;
  record: RunRecord;
  control: ControlResult | null;
}

/** What the control run showed. */
export interface ControlResult {
  record: NonNullable<RunRecord["control"]>;
  effectKeys: string[];
  elapsedMs: number;
}

/** What a look at the disk shows. */
export interface DiskLook {
  artifacts: Artifact[];
  checkpoint: RunRecord["checkpoint"];
  effects: RunRecord["effects"];
  lock: string | null;
}

/** How a start went. */
export interface StartResult {
  spawned: Spawned | null;
  ending: Ending | "not-started";
  /** The processes that were frozen when the kill point was reached. */
  frozen: ProcessRow[];
}

// Without anything left alive nobody can write, so a short look is enough; with leftovers it must
// be longer than the pause of a slow writer.
const QUIET_MS = 150;
const QUIET_WITH_LEFTOVERS_MS = 1500;
/** A job that makes an output faster than this is started stopped and let run in small steps. */
const PACE_BELOW_MS_PER_OUTPUT = 60;
const PACED_ATTEMPTS_MAX = 12;
const CHECK_LIMIT_MS = 30_000;

/** One run of the user's job. */
export class Stage {
  readonly options: StageOptions;
  readonly spec: ArtifactSpec;
  #lastOutputMs: number | null = null;

  /** @param options See {@linkcode StageOptions}. */
  constructor(options: StageOptions) {
    this.options = options;
    const { paths, minBytes, endsWith, emptyAllowed } = options.contract.artifacts;
    this.spec = { root: options.workspace, globs: paths, minBytes, endsWith, emptyAllowed };
  }

  /** The contract. */
  get contract(): Contract {
    return this.options.contract;
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

  /** Puts a fresh clone of the project in place of whatever the last run left. */
  async freshCopy(): Promise<void> {
    const { workspace, labRoot, pristine } = this.options;
    await removeTree(workspace, labRoot);
    await Deno.mkdir(dirname(workspace), { recursive: true });
    await cloneTree(pristine, workspace);
  }

  /** A full look at the disk: outputs with hashes and content checks, checkpoint, effects, lock. */
  async look(): Promise<DiskLook> {
    const artifacts = readArtifacts(this.spec);
    this.#compareWithControl(artifacts);
    await this.#runChecks(artifacts);
    const { checkpoint, effects, lock } = this.contract;
    const root = this.options.workspace;
    return {
      artifacts,
      checkpoint: checkpoint === undefined
        ? null
        : readCheckpoint({ root, ...checkpoint }, artifacts),
      effects: effects === undefined
        ? null
        : readEffects(this.effectsSpec(), this.options.control?.effectKeys ?? []),
      lock: lock === undefined ? null : fingerprint(join(root, lock.path)),
    };
  }

  /** Where effects are noted. Throws TypeError when the contract declares none. */
  effectsSpec(): EffectsSpec {
    const { effects } = this.contract;
    if (effects === undefined) throw new TypeError("The contract declares no effects");
    return { root: this.options.workspace, ...effects };
  }

  #compareWithControl(artifacts: Artifact[]): void {
    const { control } = this.options;
    if (this.contract.artifacts.sameAsControl !== true || control === null) return;
    const hashes = new Map(control.record.artifacts.map((each) => [each.path, each.sha256]));
    for (const artifact of artifacts) {
      const hash = hashes.get(artifact.path);
      if (hash === artifact.sha256) continue;
      artifact.problems.push(
        hash === undefined
          ? "the control run did not make it"
          : "it differs from the control run's",
      );
    }
  }

  async #runChecks(artifacts: Artifact[]): Promise<void> {
    const { check } = this.options.commands;
    if (check === null) return;
    for (const artifact of artifacts) {
      if (artifact.problems.length > 0) continue;
      const phase = await this.#command("check", [...check, artifact.path], CHECK_LIMIT_MS);
      if (phase.exitCode === 0) continue;
      const said = (phase.stderrTail || phase.stdoutTail).trim().split("\n").at(-1) ?? "";
      artifact.problems.push(
        `the check ${phase.startError ?? `ended with ${phase.signal ?? phase.exitCode}`}` +
          (said === "" ? "" : `: ${said.slice(0, 160)}`),
      );
    }
  }

  /** Runs a short command to its end; a limit ends it. */
  async #command(name: string, argv: string[], limitMs: number): Promise<PhaseRecord> {
    const spawned = await this.#tryStart(name, argv);
    if (!("pid" in spawned)) return spawned;
    const { driver } = this.options;
    const ending = await driver.supervise(spawned, {
      runMs: limitMs,
      idleMs: limitMs,
      signature: () => "",
    });
    if (ending !== "ended") {
      spawned.noteEnd({ limitHit: "run" });
      await driver.reap(0);
    }
    return await driver.finish(spawned);
  }

  async #tryStart(name: string, argv: string[]): Promise<Spawned | PhaseRecord> {
    const { driver, workspace, env, journal } = this.options;
    const startedMs = journal.atMs();
    try {
      return await driver.start(name, argv, workspace, env);
    } catch (error) {
      journal.add("start-failed", { name, error: String(error) });
      return startErrorPhase(argv, startedMs, error);
    }
  }

  /** Starts a command of the job and hands it over running; the phase when it cannot start. */
  async begin(name: string, argv: string[]): Promise<Spawned | PhaseRecord> {
    this.#lastOutputMs = null;
    return await this.#tryStart(name, argv);
  }

  /** Watches a running command against the contract's limits; notes a limit that it hits. */
  async watch(
    spawned: Spawned,
    until?: (outputs: readonly ArtifactGlimpse[]) => boolean,
  ): Promise<Ending> {
    const { runSeconds, idleSeconds } = this.contract.limits;
    let outputs: ArtifactGlimpse[] = [];
    let before = "";
    const ending = await this.options.driver.supervise(spawned, {
      runMs: runSeconds * 1000,
      idleMs: idleSeconds * 1000,
      signature: () => {
        outputs = listArtifacts(this.spec);
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

  /**
   * Runs `start` until so many outputs are there, and freezes it at that moment (SIGSTOP to the
   * group, which needs no look at the process table: the leader is our uncollected child).
   */
  async startUntil(outputs: number): Promise<StartResult> {
    const { control, commands, driver } = this.options;
    this.#lastOutputMs = null;
    const perOutputMs = control === null
      ? Infinity
      : control.elapsedMs / Math.max(1, this.contract.artifacts.count ?? 1);
    const paced = perOutputMs < PACE_BELOW_MS_PER_OUTPUT;
    const reached = (seen: readonly ArtifactGlimpse[]) => seen.length >= outputs;
    if (paced && outputs > 0 && outputs < Infinity) return await this.#startInSteps(reached);
    const spawned = await this.begin("start", commands.start);
    if (!("pid" in spawned)) {
      this.record.start = spawned;
      return { spawned: null, ending: "not-started", frozen: [] };
    }
    // With nothing to wait for, the job is hit in the middle of making its first output.
    const holdMs = outputs > 0 || control === null ? 0 : control.elapsedMs / 2;
    if (holdMs > 0) await this.options.clock.sleep(holdMs);
    const ending = await this.watch(spawned, reached);
    if (ending !== "until" || spawned.ended !== null) return { spawned, ending, frozen: [] };
    await sendSignal("STOP", [-spawned.pid]);
    return { spawned, ending, frozen: await driver.alive() };
  }

  /** Tries in fresh copies until the job is stopped before it has made everything. */
  async #startInSteps(
    reached: (outputs: readonly ArtifactGlimpse[]) => boolean,
  ): Promise<StartResult> {
    const { count } = this.contract.artifacts;
    for (let attempt = 0;; attempt++) {
      const start = await startPaced(this, reached, attempt);
      const made = listArtifacts(this.spec).length;
      const isMissed = start.ending === "ended" || (count !== undefined && made >= count);
      if (!isMissed || start.spawned === null || this.options.driver.aborted) return start;
      if (attempt + 1 === PACED_ATTEMPTS_MAX) {
        this.record.findings.push({
          id: "kill-point-caught",
          ok: null,
          text: `The job made all its ${made} outputs before it could be stopped, in ` +
            `${PACED_ATTEMPTS_MAX} tries. Let each output take 10 ms or more (for example ` +
            "'sleep 0.05'), or kill earlier with --kill-after",
        });
        return start;
      }
      this.options.journal.add("kill-point-missed", { attempt, made });
      await this.options.driver.reap(0);
      await this.options.driver.finish(start.spawned);
      await this.freshCopy();
    }
  }

  /** Ends the run that was started, with proof, and notes how it ended. */
  async killStart(start: StartResult, options: { graceMs?: number } = {}): Promise<KillRecord> {
    const { driver } = this.options;
    start.spawned?.noteEnd({ endedByLab: start.spawned.ended === null });
    const kill = await driver.reap(options.graceMs ?? this.graceMs);
    if (start.spawned !== null) {
      const phase = await driver.finish(start.spawned);
      // A paced start runs behind a small shell wrapper; what the user wants to read is the job.
      this.record.start = { ...phase, argv: [...this.options.commands.start] };
    }
    this.record.kill = kill;
    return kill;
  }

  /** Notes the state of the disk at the moment when the failed run was over. */
  async noteFaultState(): Promise<DiskLook> {
    const look = await this.look();
    this.record.artifactsAtFault = look.artifacts;
    this.record.finishedAtFault = this.#finished(look.artifacts);
    this.record.checkpointAtFault = look.checkpoint;
    this.record.effectsAtFault = look.effects;
    this.options.journal.add("disk", {
      outputs: look.artifacts.length,
      finished: this.record.finishedAtFault.length,
    });
    return look;
  }

  /** Which outputs are proven whole, so that a recovery has no reason to touch them. */
  #finished(artifacts: readonly Artifact[]): string[] {
    const control = new Map(
      this.options.control?.record.artifacts.map((each) => [each.path, each]) ?? [],
    );
    const { endsWith, check } = this.contract.artifacts;
    const vouched = endsWith !== undefined || check !== undefined;
    const newestMs = Math.max(...artifacts.map((artifact) => artifact.mtimeMs));
    return artifacts.filter((artifact) => {
      if (artifact.problems.length > 0) return false;
      const whole = control.get(artifact.path);
      if (whole?.sha256 === artifact.sha256 || vouched) return true;
      // Contents differ from run to run: full length, and something newer was begun after it.
      return artifact.bytes >= (whole?.bytes ?? 0) && artifact.mtimeMs < newestMs;
    }).map((artifact) => artifact.path);
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
    const before = await this.look();
    const spawned = await this.begin(purpose, this.options.commands.resume);
    if ("pid" in spawned) await this.watch(spawned);
    return await this.concludeAttempt(purpose, before, spawned);
  }

  /** Ends an attempt: quiet period, reaping with proof, a full look, the record. */
  async concludeAttempt(
    purpose: AttemptRecord["purpose"],
    before: DiskLook,
    spawned: Spawned | PhaseRecord,
  ): Promise<AttemptRecord> {
    const { driver, journal } = this.options;
    const started = "pid" in spawned;
    if (started && spawned.ended !== null) await this.#quiet();
    if (started) spawned.noteEnd({ endedByLab: spawned.ended === null });
    const kill = await driver.reap(this.graceMs);
    const phase = started ? await driver.finish(spawned) : spawned;
    const after = await this.look();
    const attempt: AttemptRecord = {
      purpose,
      phase,
      kill,
      artifactsBefore: before.artifacts,
      artifactsAfter: after.artifacts,
      effectsAfter: after.effects,
      checkpointAfter: after.checkpoint,
      lockBefore: before.lock,
      lockAfter: after.lock,
    };
    this.record.attempts.push(attempt);
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
    if (wholeAtMs !== null && wholeAtMs >= provenAtMs) {
      this.record.recoveryMs = wholeAtMs - provenAtMs;
    }
  }

  /** After the end of a command nothing may change any more; says who changed what. */
  async #quiet(): Promise<void> {
    const { driver, journal, clock } = this.options;
    const first = listArtifacts(this.spec);
    const leftovers = await driver.alive();
    const beganMs = journal.atMs();
    const limitMs = leftovers.length > 0 ? QUIET_WITH_LEFTOVERS_MS : QUIET_MS;
    const signature = artifactSignature(first);
    const changed = await waitUntil(() => {
      const now = listArtifacts(this.spec);
      return artifactSignature(now) === signature ? null : now;
    }, { limitMs, everyMs: 25, clock });
    const quiet = this.record.quiet ?? { observedMs: 0, changed: [] };
    quiet.observedMs += journal.atMs() - beganMs;
    if (changed !== null) {
      const writer = leftovers[0];
      const by = writer === undefined ? null : `${writer.name} (pid ${writer.pid})`;
      for (const path of differing(first, changed)) quiet.changed.push({ path, by });
    }
    this.record.quiet = quiet;
  }

  /** The final look, after every attempt. */
  async finish(): Promise<void> {
    const look = await this.look();
    this.record.artifacts = look.artifacts;
    this.record.checkpoint = look.checkpoint;
    this.record.effects = look.effects;
  }

  /** A run without a failure. Not part of a record by itself. */
  async control(): Promise<ControlResult> {
    const beganMs = this.options.journal.atMs();
    const spawned = await this.begin("control", this.options.commands.start);
    let endedMs = this.options.journal.atMs();
    if ("pid" in spawned) {
      await this.watch(spawned);
      endedMs = this.options.journal.atMs();
      if (spawned.ended !== null) await this.#quiet();
      this.record.quiet = null;
    }
    const kill = await this.options.driver.reap(this.graceMs);
    const phase = "pid" in spawned ? await this.options.driver.finish(spawned) : spawned;
    const look = await this.look();
    return {
      record: { phase, kill, artifacts: look.artifacts },
      effectKeys: this.contract.effects === undefined ? [] : effectKeys(this.effectsSpec()),
      elapsedMs: endedMs - beganMs,
    };
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

function differing(
  before: readonly ArtifactGlimpse[],
  after: readonly ArtifactGlimpse[],
): string[] {
  const signs = new Map(before.map((each) => [each.path, artifactSignature([each])]));
  const changed = after.filter((each) => signs.get(each.path) !== artifactSignature([each]));
  const gone = before.filter((old) => !after.some((each) => each.path === old.path));
  return [...changed, ...gone].map((each) => each.path);
}

/** Content hash of a file, names of a folder, or `null` when nothing is there. */
function fingerprint(path: string): string | null {
  try {
    const info = Deno.lstatSync(path);
    if (info.isFile) return hashFile(path).sha256;
    if (info.isSymlink) return `link:${Deno.readLinkSync(path)}`;
    if (info.isDirectory) {
      return `folder:${[...Deno.readDirSync(path)].map((each) => each.name).sort().join("/")}`;
    }
    return "special";
  } catch {
    return null;
  }
}

/**
 * The stage of one half of one drill: what happens on the ground, as the record tells it. Scenes are
 * written in terms of it.
 *
 * @module
 */
import {
  type Artifact,
  artifactSignature,
  type AttemptRecord,
  type FaultRecord,
  isKillProven,
  type KillRecord,
  listArtifacts,
  type PhaseRecord,
  type Spawned,
  waitUntil,
  type WorkerPlan,
} from "../lab/mod.ts";
import { Ground } from "./_ground.ts";
import type { DiskLook } from "./disk.ts";

export { Interrupted, type StageOptions, type Started } from "./_ground.ts";

/** How a repair that ran inside this process went. */
export interface Repaired {
  exitCode: number;
  /** What it said. */
  said?: string;
  /** What ended the job of the last attempt, when a limit did. */
  limitHit?: "run" | "idle" | null;
}

// Without anything left alive nobody can write; with leftovers the look must be longer than the
// pause of a slow writer.
const QUIET_WITH_LEFTOVERS_MS = 600;

/** One half of one drill. */
export class DrillStage extends Ground {
  #provenWallMs: number | null = null;
  #isOver = false;

  /**
   * Runs the worker until so many units are done and it waits, and ends it there with proof: the
   * common beginning of many failures.
   */
  async runToHold(afterUnits: number, plan: Partial<WorkerPlan> = {}): Promise<KillRecord> {
    const cue = { cue: "hold", cueAt: afterUnits + 1 } as const;
    const isHolding = () => this.lastLogLine().endsWith(": holding");
    const { spawned } = await this.run("start", this.plan({ ...cue, ...plan }), {
      until: isHolding,
    });
    return await this.endStart(spawned);
  }

  /** Ends the failed run with proof, and notes how it ended. */
  async endStart(spawned: Spawned, graceMs = 0): Promise<KillRecord> {
    const { driver } = this.options;
    spawned.noteEnd({ endedByLab: spawned.ended === null });
    this.record.kill = await driver.reap(graceMs);
    this.record.start = await driver.finish(spawned);
    return this.record.kill;
  }

  /** Notes the state of the disk at the moment when the failed run was over. */
  noteFaultState(): DiskLook {
    const look = this.look();
    this.record.artifactsAtFault = look.artifacts;
    this.record.finishedAtFault = look.artifacts
      .filter((artifact) => artifact.problems.length === 0).map((artifact) => artifact.path);
    this.record.checkpointAtFault = look.checkpoint;
    this.record.effectsAtFault = look.effects;
    this.options.journal.add("disk", {
      outputs: look.artifacts.length,
      finished: this.record.finishedAtFault.length,
    });
    return look;
  }

  /** Notes the proof that the failure happened; the recovery time counts from here. */
  deliver(evidence: FaultRecord["evidence"]): void {
    const { fault } = this.record;
    fault.evidence.push(...evidence);
    fault.delivered = fault.armed && fault.evidence.length > 0;
    fault.provenAtMs = fault.delivered ? this.options.journal.atMs() : null;
    this.#provenWallMs = fault.delivered ? this.options.clock.wallMs() : null;
    this.options.journal.add("fault", { delivered: fault.delivered, evidence });
  }

  /** Notes a finding that belongs to this drill. */
  find(id: string, ok: boolean | null, text: string): void {
    this.record.findings.push({ id, ok, text });
    this.options.journal.add("finding", { id, ok });
  }

  /** Runs a command as a try to recover, to its end or limit. */
  async attempt(
    plan: WorkerPlan,
    options: {
      argv?: readonly string[];
      purpose?: AttemptRecord["purpose"];
      /** @default {the drill's} */
      idleMs?: number;
    } = {},
  ): Promise<AttemptRecord> {
    const purpose = options.purpose ?? "resume";
    const before = this.look();
    const spawned = await this.start(purpose, plan, options.argv);
    await this.watch(spawned, undefined, options.idleMs);
    return await this.concludeAttempt(purpose, spawned, before);
  }

  /** Ends an attempt that was started with `run`: quiet period, end with proof, record. */
  async concludeAttempt(
    purpose: AttemptRecord["purpose"],
    spawned: Spawned,
    before: DiskLook,
  ): Promise<AttemptRecord> {
    if (spawned.ended !== null) await this.quiet();
    spawned.noteEnd({ endedByLab: spawned.ended === null });
    const kill = await this.options.driver.reap(spawned.ended === null ? this.limits.graceMs : 0);
    const phase = await this.options.driver.finish(spawned);
    return this.#note(purpose, phase, kill, before);
  }

  /** Lets a repair that runs inside this process do a recovery. */
  async repairAttempt(
    words: readonly string[],
    act: () => Promise<Repaired>,
    purpose: AttemptRecord["purpose"] = "resume",
  ): Promise<AttemptRecord> {
    const { journal, driver } = this.options;
    this.#isOver = false;
    const before = this.look();
    const startedMs = journal.atMs();
    journal.add("repair", { words: [...words] });
    const { exitCode, said = "", limitHit = null } = await act();
    const phase: PhaseRecord = {
      argv: [...words],
      startedMs,
      endedMs: journal.atMs(),
      exitCode,
      signal: null,
      limitHit,
      endedByLab: false,
      stdoutBytes: 0,
      stderrBytes: said.length,
      stdoutTail: "",
      stderrTail: said,
      startError: null,
    };
    this.checkInterrupted();
    await this.quiet();
    const kill = await driver.reap(0);
    return this.#note(purpose, phase, kill, before);
  }

  /** Whether the last thing that happened was an attempt, and its end was proven. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Starts a command in the workspace. */
  override async start(
    name: string,
    plan: WorkerPlan,
    argv?: readonly string[],
  ): Promise<Spawned> {
    this.#isOver = false;
    return await super.start(name, plan, argv);
  }

  #note(
    purpose: AttemptRecord["purpose"],
    phase: PhaseRecord,
    kill: KillRecord,
    before: DiskLook,
  ): AttemptRecord {
    const after = this.look();
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
    this.#isOver = isKillProven(kill) === true;
    this.options.journal.add("attempt", {
      purpose,
      exitCode: phase.exitCode,
      outputs: after.artifacts.length,
    });
    return attempt;
  }

  /** After the end of a recovery nothing may change any more; says who changed what. */
  async quiet(): Promise<void> {
    const { driver, journal, clock } = this.options;
    const leftovers = await driver.alive();
    const first = listArtifacts(this.spec);
    const signature = artifactSignature(first);
    const beganMs = journal.atMs();
    const limitMs = leftovers.length > 0 ? QUIET_WITH_LEFTOVERS_MS : this.limits.quietMs;
    const changed = await waitUntil(() => {
      const now = listArtifacts(this.spec);
      return artifactSignature(now) === signature ? null : now;
    }, { limitMs, everyMs: 10, clock });
    const quiet = this.record.quiet ?? { observedMs: 0, changed: [] };
    quiet.observedMs += journal.atMs() - beganMs;
    const writer = leftovers[0];
    const by = writer === undefined ? null : `${writer.name} (pid ${writer.pid})`;
    const signs = new Map(first.map((each) => [each.path, artifactSignature([each])]));
    for (const each of changed ?? []) {
      if (signs.get(each.path) !== artifactSignature([each])) {
        quiet.changed.push({ path: each.path, by });
      }
    }
    this.record.quiet = quiet;
  }

  /** The final look, and the recovery time. */
  finish(): void {
    const look = this.look();
    this.record.artifacts = look.artifacts;
    this.record.checkpoint = look.checkpoint;
    this.record.effects = look.effects;
    this.#noteRecoveryTime(look.artifacts);
  }

  #noteRecoveryTime(artifacts: readonly Artifact[]): void {
    const { provenAtMs } = this.record.fault;
    const last = this.record.attempts.filter((each) => each.purpose === "resume").at(-1);
    if (provenAtMs === null || this.#provenWallMs === null || last === undefined) return;
    const whole = artifacts.filter((artifact) => artifact.problems.length === 0);
    if (whole.length < this.units.length) return;
    const newestMs = Math.max(...whole.map((artifact) => artifact.mtimeMs));
    // When nothing was missing, the work was whole when the recovery had said so.
    const recoveryMs = newestMs > this.#provenWallMs
      ? newestMs - this.#provenWallMs
      : (last.phase.endedMs ?? provenAtMs) - provenAtMs;
    this.record.recoveryMs = Math.max(0, Math.round(recoveryMs));
  }
}

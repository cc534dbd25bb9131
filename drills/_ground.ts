/**
 * The ground on which one half of one drill happens: a fresh folder, the worker beside it, commands
 * started and watched there, and looks at what they leave.
 *
 * @module
 */
import { join } from "@std/path";
import {
  artifactSignature,
  type ArtifactSpec,
  type Clock,
  type Driver,
  END_MARK,
  type Ending,
  type Journal,
  listArtifacts,
  MARKER_NAME,
  OUTPUTS_GLOB,
  type RunRecord,
  type Spawned,
  systemTool,
  unitName,
  workerEnvironment,
  type WorkerPlan,
  writeWorker,
} from "../lab/mod.ts";
import type { StopRequest } from "../repairs/mod.ts";
import type { Mode } from "./answer_key.ts";
import { type Drill, naiveOf } from "./definition.ts";
import { Disk, type DiskLook, type SceneContract } from "./disk.ts";

/** What a stage is built from. */
export interface StageOptions {
  drill: Drill;
  mode: Mode;
  variant: string;
  /** Folder of this half, inside the lab. */
  dir: string;
  marker: string;
  contract: SceneContract;
  driver: Driver;
  /** Makes a driver with a marker of its own. */
  makeDriver: () => Driver;
  clock: Clock;
  journal: Journal;
  record: RunRecord;
  signal: AbortSignal;
}

/** How a start went. */
export interface Started {
  spawned: Spawned;
  ending: Ending;
}

/** Thrown to leave a scene when the user has interrupted the run. */
export class Interrupted extends Error {
  override name = "Interrupted";
}

/** Where one half of one drill happens: its folders, its worker, and looks at both. */
export class Ground {
  readonly options: StageOptions;
  readonly workspace: string;
  readonly spec: ArtifactSpec;
  /** Names of the units, in order. */
  readonly units: readonly string[];
  readonly #disk: Disk;
  #neighbours: Driver | null = null;
  readonly #atEnd: (() => Promise<void>)[] = [];
  /** Who counts the effects, where that is not a file. */
  countEffects: (() => RunRecord["effects"]) | null = null;

  /** @param options See {@linkcode StageOptions}. */
  constructor(options: StageOptions) {
    this.options = options;
    this.workspace = join(options.dir, "workspace");
    this.spec = { root: this.workspace, globs: [OUTPUTS_GLOB], endsWith: END_MARK };
    this.units = Array.from({ length: options.drill.units }, (_, i) => unitName(i + 1));
    this.#disk = new Disk(this.spec, this.units, options.contract);
  }

  /** The record that this half fills. */
  get record(): RunRecord {
    return this.options.record;
  }

  /** Whether the fault is done in this run. */
  get armed(): boolean {
    return this.options.mode === "broken" || this.options.mode === "repaired";
  }

  /** Which variant of the fault is done. */
  get variant(): string {
    return this.options.variant;
  }

  /** Limits of the drill. */
  get limits(): Drill["limits"] {
    return this.options.drill.limits;
  }

  /** A number among the fault's parameters. */
  parameter(name: string): number {
    const value = this.options.drill.fault.parameters[name];
    if (typeof value !== "number") {
      throw new TypeError(`The drill ${this.options.drill.id} has no number "${name}"`);
    }
    return value;
  }

  /** Path of something in the workspace. */
  path(relativePath: string): string {
    return join(this.workspace, relativePath);
  }

  /** Being asked to stop, in the words of the repairs. */
  get stop(): StopRequest {
    return { signal: this.options.signal };
  }

  /** Makes the folders and puts the worker and the naive recovery beside the workspace. */
  prepare(): void {
    const { dir, drill, variant } = this.options;
    Deno.mkdirSync(this.path("out"), { recursive: true });
    writeWorker(join(dir, "worker.sh"));
    const script = naiveOf(drill, variant).script.join("\n");
    Deno.writeTextFileSync(join(dir, "naive.sh"), `${script}\n`, { mode: 0o700 });
  }

  /** The worker's argv; it runs in the workspace. */
  get workerArgv(): string[] {
    return [systemTool("sh"), "../worker.sh"];
  }

  /** The naive recovery's argv; it runs in the workspace. */
  get naiveArgv(): string[] {
    return [systemTool("sh"), "../naive.sh"];
  }

  /** A plan for all of this drill's units, with what the scene's job keeps. */
  plan(plan: Partial<WorkerPlan> = {}): WorkerPlan {
    const { contract } = this.options;
    return {
      units: this.units.length,
      checkpoint: contract.checkpoint ?? false,
      effects: contract.effects === undefined ? "no" : "courier",
      ...plan,
    };
  }

  /** The environment of everything that runs here; a stray temporary file stays inside as well. */
  environment(plan: WorkerPlan = this.plan()): Record<string, string> {
    return { ...workerEnvironment(plan), TMPDIR: this.options.dir };
  }

  /**
   * The worker as a job for a repair that starts its own processes: with the lab's marker, so that
   * the driver sees them as well.
   */
  wrapped(plan: WorkerPlan, argv: readonly string[] = this.workerArgv) {
    const marker = `${MARKER_NAME}=${this.options.marker}`;
    return {
      argv: ["/usr/bin/env", marker, ...argv],
      cwd: this.workspace,
      env: this.environment(plan),
    };
  }

  /** Starts a command in the workspace, and watches it to its end, a limit, or `until`. */
  async run(
    name: string,
    plan: WorkerPlan,
    options: { argv?: readonly string[]; until?: (signature: string) => boolean } = {},
  ): Promise<Started> {
    const spawned = await this.start(name, plan, options.argv);
    return { spawned, ending: await this.watch(spawned, options.until) };
  }

  /** Starts a command in the workspace. */
  async start(
    name: string,
    plan: WorkerPlan,
    argv: readonly string[] = this.workerArgv,
  ): Promise<Spawned> {
    this.checkInterrupted();
    return await this.options.driver.start(name, argv, this.workspace, this.environment(plan));
  }

  /** Watches a command; notes a limit that it hits. */
  async watch(
    spawned: Spawned,
    until?: (signature: string) => boolean,
    idleMs: number = this.limits.idleMs,
  ): Promise<Ending> {
    const ending = await this.options.driver.supervise(spawned, {
      runMs: this.limits.runMs,
      idleMs,
      signature: () => artifactSignature(listArtifacts(this.spec)),
      ...(until === undefined ? {} : { until }),
    });
    if (ending === "run" || ending === "idle") spawned.noteEnd({ limitHit: ending });
    this.checkInterrupted();
    return ending;
  }

  /** Leaves the scene when the user has interrupted the run. */
  checkInterrupted(): void {
    if (this.options.signal.aborted) throw new Interrupted("it was interrupted by the user");
  }

  /** A full look at the disk. */
  look(): DiskLook {
    const look = this.#disk.look();
    return this.countEffects === null ? look : { ...look, effects: this.countEffects() };
  }

  /** What the worker said last. */
  lastLogLine(): string {
    try {
      return Deno.readTextFileSync(this.path("worker.log")).trimEnd().split("\n").at(-1) ?? "";
    } catch {
      return ""; // Not there yet.
    }
  }

  /** Whether something is at this place. */
  exists(relativePath: string): boolean {
    try {
      Deno.lstatSync(this.path(relativePath));
      return true;
    } catch {
      return false;
    }
  }

  /**
   * Drives processes that belong to the failure but not to the run: a stranger, another run, a
   * monitor. They are no part of the run's own proof of being gone.
   */
  get neighbours(): Driver {
    this.#neighbours ??= this.options.makeDriver();
    return this.#neighbours;
  }

  /** Has something taken down when this half is over, on every path. */
  atEnd(act: () => Promise<void>): void {
    this.#atEnd.push(act);
  }

  /** Takes everything down that does not belong to the run itself. */
  async takeDown(): Promise<void> {
    try {
      for (const act of this.#atEnd.splice(0).reverse()) await act();
    } finally {
      await this.endNeighbours();
    }
  }

  /** Ends every neighbour, with proof. */
  async endNeighbours(): Promise<void> {
    const driver = this.#neighbours;
    if (driver === null) return;
    this.#neighbours = null;
    const { survivors } = await driver.reap(0);
    await driver.release();
    if (survivors.length > 0) throw new Error(`A neighbour lives on: pid ${survivors[0]?.pid}`);
  }
}

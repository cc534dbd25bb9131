/**
 * Looking at what a job has on disk: outputs with hashes and content checks, checkpoint, effects,
 * lock; and which outputs are proven whole.
 *
 * @module
 */
import { join } from "@std/path";
import {
  type Artifact,
  type ArtifactGlimpse,
  artifactSignature,
  type ArtifactSpec,
  type EffectsSpec,
  hashFile,
  isMarkRepeated,
  readArtifacts,
  readCheckpoint,
  readEffects,
  type RunRecord,
  WHOLE_SHARE,
} from "../lab/mod.ts";
import type { Contract } from "./contract.ts";
import type { ControlResult, DiskLook } from "./stage_types.ts";

/** Runs the contract's check on one output; gives what is wrong with it, or `null`. */
export type OutputCheck = (path: string) => Promise<string | null>;

/** What {@linkcode Disk} works with. */
export interface DiskOptions {
  contract: Contract;
  workspace: string;
  control: ControlResult | null;
  /** `null` when the contract declares no check. */
  check: OutputCheck | null;
}

/** Outputs of one run that are searched for an end mark in their middle. */
const SEARCHED_MAX = 200;

/** The disk of one run. */
export class Disk {
  /** Which files are outputs, and how a whole one looks. */
  readonly spec: ArtifactSpec;
  readonly #options: DiskOptions;
  /** Answers of the contract's check since a command last ran; see `forgetChecks()`. */
  readonly #checked = new Map<string, string | null>();
  /** Contents that were searched for the end mark. */
  readonly #searched = new Set<string>();
  #endMarkRepeats = false;

  /** @param options See {@linkcode DiskOptions}. */
  constructor(options: DiskOptions) {
    this.#options = options;
    const { paths, minBytes, endsWith, emptyAllowed } = options.contract.artifacts;
    this.spec = { root: options.workspace, globs: paths, minBytes, endsWith, emptyAllowed };
  }

  /**
   * Forgets the answers of the contract's check. Call it whenever a command of the job may have
   * run: a check can look at more than the output itself.
   */
  forgetChecks(): void {
    this.#checked.clear();
  }

  /** A full look: outputs with hashes and content checks, checkpoint, effects, lock. */
  async look(): Promise<DiskLook> {
    const artifacts = readArtifacts(this.spec);
    this.#compareWithControl(artifacts);
    await this.#runChecks(artifacts);
    this.#searchEndMark(artifacts);
    const { effects, lock } = this.#options.contract;
    return {
      artifacts,
      checkpoint: this.readCheckpoint(artifacts),
      effects: effects === undefined
        ? null
        : readEffects(this.effectsSpec(), this.#options.control?.effectKeys ?? []),
      lock: lock === undefined ? null : fingerprint(join(this.#options.workspace, lock.path)),
    };
  }

  /** Reads the checkpoint beside these outputs; `null` when the contract declares none. */
  readCheckpoint(artifacts: readonly Artifact[]): RunRecord["checkpoint"] {
    const { contract, workspace } = this.#options;
    const { checkpoint } = contract;
    return checkpoint === undefined
      ? null
      : readCheckpoint({ root: workspace, ...checkpoint }, artifacts);
  }

  /** Where effects are noted. Throws TypeError when the contract declares none. */
  effectsSpec(): EffectsSpec {
    const { effects } = this.#options.contract;
    if (effects === undefined) throw new TypeError("The contract declares no effects");
    return { root: this.#options.workspace, ...effects };
  }

  /** Whether the end mark was seen in the middle of an output, here or in the control run. */
  get endMarkRepeats(): boolean {
    return this.#endMarkRepeats || this.#options.control?.endMarkRepeats === true;
  }

  #searchEndMark(artifacts: readonly Artifact[]): void {
    const { endsWith } = this.#options.contract.artifacts;
    if (endsWith === undefined) return;
    for (const { path, bytes, sha256 } of artifacts) {
      if (this.endMarkRepeats || this.#searched.size >= SEARCHED_MAX) return;
      if (this.#searched.has(sha256)) continue;
      this.#searched.add(sha256);
      try {
        this.#endMarkRepeats = isMarkRepeated(join(this.spec.root, path), bytes, endsWith);
      } catch {
        // It is gone or cannot be read; its problems tell.
      }
    }
  }

  #compareWithControl(artifacts: Artifact[]): void {
    const { control, contract } = this.#options;
    if (contract.artifacts.sameAsControl !== true || control === null) return;
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
    const { check } = this.#options;
    if (check === null) return;
    for (const artifact of artifacts) {
      if (artifact.problems.length > 0) continue;
      const key = `${artifactSignature([{ ...artifact, strayLink: false }])}:${artifact.sha256}`;
      const known = this.#checked.get(key);
      const problem = known === undefined ? await check(artifact.path) : known;
      this.#checked.set(key, problem);
      if (problem !== null) artifact.problems.push(problem);
    }
  }

  /** Which outputs are proven whole, so that a recovery has no reason to touch them. */
  finished(artifacts: readonly Artifact[]): string[] {
    const { control, contract } = this.#options;
    const wholes = new Map(control?.record.artifacts.map((each) => [each.path, each]) ?? []);
    const { endsWith, check } = contract.artifacts;
    const isMarked = endsWith !== undefined && !this.endMarkRepeats;
    const vouched = isMarked || check !== undefined;
    const newestMs = Math.max(...artifacts.map((artifact) => artifact.mtimeMs));
    return artifacts.filter((artifact) => {
      if (artifact.problems.length > 0) return false;
      const whole = wholes.get(artifact.path);
      if (whole?.sha256 === artifact.sha256 || vouched) return true;
      // Contents differ from run to run: full length, and something newer was begun after it.
      const share = endsWith === undefined ? 1 : WHOLE_SHARE;
      return artifact.bytes >= share * (whole?.bytes ?? 0) && artifact.mtimeMs < newestMs;
    }).map((artifact) => artifact.path);
  }
}

/** Paths of the outputs that two looks show differently. */
export function differing(
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

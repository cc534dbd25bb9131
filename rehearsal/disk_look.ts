/**
 * Looking at what a job has on disk: outputs with hashes and content checks, checkpoint, effects,
 * lock; and which outputs are proven whole.
 *
 * @module
 */
import { dirname, isGlob, join } from "@std/path";
import {
  type Artifact,
  type ArtifactGlimpse,
  artifactSignature,
  type ArtifactSpec,
  EFFECTS_BYTES_MAX,
  type EffectsSpec,
  hashBytes,
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

/** The whole lines of a log of effects, at one moment. */
export interface LogState {
  bytes: number;
  sha256: string;
  /** `null` where the file system has none. */
  inode: number | null;
}

/** What {@linkcode Disk} works with. */
export interface DiskOptions {
  contract: Contract;
  workspace: string;
  control: ControlResult | null;
  /** `null` when the contract declares no check. */
  check: OutputCheck | null;
}

const LINE_FEED = 10;

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

  /**
   * What the log of effects holds: all its whole lines, or its first `bytes`. `null` where there is
   * no such single file, or not so many bytes in it.
   */
  effectsLog(bytes?: number): LogState | null {
    const { effects } = this.#options.contract;
    if (effects === undefined || isGlob(effects.path)) return null;
    try {
      const path = join(this.#options.workspace, effects.path);
      const { isFile, size, ino } = Deno.statSync(path);
      if (!isFile || size > EFFECTS_BYTES_MAX || size < (bytes ?? 1)) return null;
      const content = Deno.readFileSync(path);
      // A last line without its end is half, and a good recovery takes it away.
      const head = content.subarray(0, bytes ?? content.lastIndexOf(LINE_FEED) + 1);
      return head.length === 0 ? null : { bytes: head.length, sha256: hashBytes(head), inode: ino };
    } catch {
      return null;
    }
  }

  /** Whether the log of effects is no longer the one that it was: other lines, or moved away. */
  isLogReplaced(old: LogState): boolean {
    const now = this.effectsLog(old.bytes);
    if (now?.sha256 !== old.sha256) return true;
    const { effects } = this.#options.contract;
    if (now.inode === old.inode || old.inode === null || effects === undefined) return false;
    // Written anew and renamed into place is fine; then the old file is not there any more.
    const folder = dirname(join(this.#options.workspace, effects.path));
    return [...Deno.readDirSync(folder)].some((entry) =>
      entry.isFile && Deno.lstatSync(join(folder, entry.name)).ino === old.inode
    );
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

  /**
   * Which outputs are proven whole, so that a recovery has no reason to touch them. Those of the
   * control run's content are. For others something must vouch, and nothing speak against it.
   */
  finished(artifacts: readonly Artifact[]): string[] {
    const wholes = this.#wholes();
    const isSame = ({ path, sha256 }: Artifact) => wholes.get(path)?.sha256 === sha256;
    const unlike = artifacts.length - artifacts.filter(isSame).length;
    const newestMs = newestOf(artifacts)?.mtimeMs ?? 0;
    return artifacts.filter((artifact) => {
      if (artifact.problems.length > 0) return false;
      if (isSame(artifact)) return true;
      // All others are the same in every run, so this one would be as well.
      if (wholes.has(artifact.path) && unlike === 1 && artifacts.length > 1) return false;
      return this.#isVouchedFor(artifact, newestMs, wholes.get(artifact.path));
    }).map((artifact) => artifact.path);
  }

  /** Contents differ from run to run, or there was no control run. */
  #isVouchedFor(
    artifact: Artifact,
    newestMs: number,
    whole: Artifact | undefined,
  ): boolean {
    const { control, contract } = this.#options;
    const { endsWith, check } = contract.artifacts;
    const isMarked = endsWith !== undefined && artifact.bytes > 0 && !this.endMarkRepeats;
    const isVouched = isMarked || check !== undefined;
    const isShort = artifact.bytes < WHOLE_SHARE * (whole?.bytes ?? 0);
    const isOlder = artifact.mtimeMs < newestMs;
    const isGrown = control?.record.grown?.includes(artifact.path) === true;
    if (isGrown && (isShort || !isOlder)) return false;
    if (isVouched) return artifact.bytes > 0 || !isShort;
    // Nobody says how a whole one looks: full length, and something newer was begun after it.
    if (whole === undefined || !isOlder) return false;
    return endsWith === undefined ? artifact.bytes >= whole.bytes : !isShort;
  }

  /**
   * Which further outputs are whole as far as their age tells: nothing was written to them since the
   * newest one was begun. Several writers at once break that rule, so it proves nothing.
   */
  likely(artifacts: readonly Artifact[], finished: readonly string[]): string[] {
    const wholes = this.#wholes();
    const newest = newestOf(artifacts);
    if (newest === null) return [];
    const isFinished = new Set(finished);
    const begunMs = birthMs(join(this.spec.root, newest.path)) ?? newest.mtimeMs;
    return artifacts.filter((artifact) =>
      artifact !== newest && artifact.problems.length === 0 && artifact.mtimeMs <= begunMs &&
      !wholes.has(artifact.path) && !isFinished.has(artifact.path)
    ).map((artifact) => artifact.path);
  }

  #wholes(): Map<string, Artifact> {
    const { control } = this.#options;
    return new Map(control?.record.artifacts.map((each) => [each.path, each]) ?? []);
  }
}

/** The output that was written last; `null` when there is none. */
export function newestOf<T extends { mtimeMs: number }>(outputs: readonly T[]): T | null {
  return outputs.reduce<T | null>(
    (last, each) => last === null || each.mtimeMs > last.mtimeMs ? each : last,
    null,
  );
}

/** When a file was made; `null` where the file system does not tell. */
function birthMs(path: string): number | null {
  try {
    return Deno.lstatSync(path).birthtime?.getTime() ?? null;
  } catch {
    return null;
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

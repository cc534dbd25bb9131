/**
 * Full looks at what a drill's job has on disk: outputs with their hashes, checkpoint, effects, lock.
 *
 * @module
 */
import { join } from "@std/path";
import {
  type Artifact,
  type ArtifactSpec,
  CHECKPOINT_NAME,
  EFFECTS_NAME,
  hashBytes,
  hashFile,
  readArtifacts,
  readCheckpoint,
  readEffects,
  type RunRecord,
  unitText,
} from "../lab/mod.ts";

/** What a scene's job keeps besides its outputs. */
export interface SceneContract {
  checkpoint?: boolean;
  /** Who counts the effects: the receiver's file, or the loopback provider. */
  effects?: "file" | "provider";
  /** Path of the lock, relative to the workspace. */
  lock?: string;
}

/** What a look at the disk shows. */
export interface DiskLook {
  artifacts: Artifact[];
  checkpoint: RunRecord["checkpoint"];
  effects: RunRecord["effects"];
  lock: string | null;
}

/** Looks at one workspace. */
export class Disk {
  readonly #spec: ArtifactSpec;
  readonly #units: readonly string[];
  readonly #contract: SceneContract;
  readonly #hashes: ReadonlyMap<string, string>;

  /** @param units Names of the units; the content of each is known. */
  constructor(spec: ArtifactSpec, units: readonly string[], contract: SceneContract) {
    this.#spec = spec;
    this.#units = units;
    this.#contract = contract;
    const encoder = new TextEncoder();
    this.#hashes = new Map(
      units.map((unit) => [`out/${unit}.txt`, hashBytes(encoder.encode(unitText(unit)))]),
    );
  }

  /** Looks once. */
  look(): DiskLook {
    const { checkpoint, effects, lock } = this.#contract;
    const { root } = this.#spec;
    const artifacts = this.#artifacts();
    return {
      artifacts,
      checkpoint: checkpoint ? readCheckpoint({ root, path: CHECKPOINT_NAME }, artifacts) : null,
      effects: effects === "file" ? readEffects({ root, path: EFFECTS_NAME }, this.#units) : null,
      lock: lock === undefined ? null : fingerprint(join(root, lock)),
    };
  }

  #artifacts(): Artifact[] {
    const artifacts = readArtifacts(this.#spec);
    for (const artifact of artifacts) {
      if (artifact.problems.length > 0) continue;
      const expected = this.#hashes.get(artifact.path);
      if (expected === undefined) artifact.problems.push("no unit of this drill has this name");
      else if (expected !== artifact.sha256) {
        artifact.problems.push("its content is not what this unit's work gives");
      }
    }
    return artifacts;
  }
}

/** Content hash of a file, names of a folder, or `null` when nothing is there. */
export function fingerprint(path: string): string | null {
  try {
    const info = Deno.lstatSync(path);
    if (info.isFile) return hashFile(path).sha256;
    if (info.isSymlink) return `link:${Deno.readLinkSync(path)}`;
    return `folder:${[...Deno.readDirSync(path)].map((each) => each.name).sort().join("/")}`;
  } catch {
    return null;
  }
}

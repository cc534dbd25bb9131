/**
 * Temporary files beside the outputs: what a job writes before it renames it into place. Between
 * the two is the one moment in which a careful job can be hit.
 *
 * @module
 */
import { isGlob, join } from "@std/path";
import { type ArtifactGlimpse, listArtifacts } from "../lab/mod.ts";
import type { Contract } from "./contract.ts";
import type { Stage } from "./stage.ts";

/** A file in a folder of outputs that is no output. */
export interface TempFile {
  path: string;
  bytes: number;
}

/** Looks for temporary files in the folders in which the outputs are. */
export class TempFiles {
  readonly #stage: Stage;
  /** What was there before the job ran, and what the contract names as something else. */
  readonly #others: ReadonlySet<string>;

  /** @param stage A stage on which nothing has run yet. */
  constructor(stage: Stage) {
    this.#stage = stage;
    const { checkpoint, lock, effects, monitor } = stage.contract;
    const named = [checkpoint?.path, lock?.path, effects?.path, monitor?.sign];
    this.#others = new Set([
      ...this.#filesBeside([]).map((file) => file.path),
      ...named.filter((path) => path !== undefined),
    ]);
  }

  /** The outputs that are there now. */
  outputs(): ArtifactGlimpse[] {
    return listArtifacts(this.#stage.spec);
  }

  /** The temporary files that are there now. */
  list(outputs: readonly ArtifactGlimpse[] = this.outputs()): TempFile[] {
    return this.#filesBeside(outputs).filter((file) => !this.#others.has(file.path));
  }

  #filesBeside(outputs: readonly ArtifactGlimpse[]): TempFile[] {
    const known = new Set(outputs.map((output) => output.path));
    return outputFolders(this.#stage.contract).flatMap((folder) => this.#filesIn(folder))
      .filter((file) => !known.has(file.path));
  }

  #filesIn(folder: string): TempFile[] {
    try {
      return [...Deno.readDirSync(this.#stage.path(folder))].filter((entry) => entry.isFile)
        .flatMap((entry) => {
          const path = join(folder, entry.name);
          try {
            return [{ path, bytes: Deno.lstatSync(this.#stage.path(path)).size }];
          } catch {
            return []; // It was renamed meanwhile.
          }
        });
    } catch {
      return []; // The folder is not there yet.
    }
  }
}

/** The folders of the outputs, as far as the globs name them. */
function outputFolders(contract: Contract): string[] {
  return [
    ...new Set(contract.artifacts.paths.map((glob) => {
      const parts = glob.replace(/^(\.\/)+/, "").split("/").slice(0, -1);
      const open = parts.findIndex((part) => isGlob(part));
      return parts.slice(0, open < 0 ? parts.length : open).join("/") || ".";
    })),
  ];
}

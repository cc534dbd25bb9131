/**
 * Fault: a job that writes where it was not allowed to.
 *
 * @module
 */
import { join } from "@std/path";
import type { FaultRecord, WorkerPlan } from "../../lab/mod.ts";

/** Ways out of a scope. */
export const ESCAPES = [
  "absolute-path",
  "dot-dot",
  "link-to-folder",
  "link-last",
  "dangling-link",
  "swapped-for-link",
  "foreign-file",
] as const;

/** See {@linkcode ESCAPES}. */
export type Escape = typeof ESCAPES[number];

/** Places of the drill: a workspace with an allowed and a foreign folder, and a neighbour. */
export interface EscapePlaces {
  /** The neighbour's folder, absolute. */
  neighbour: string;
  /** The same folder as it is reached from the workspace. */
  neighbourPath: string;
  /** The neighbour's file that is at risk. */
  ownerFile: string;
  /** A file in the workspace that is not the job's to change. */
  foreignFile: string;
}

/** What the worker has to do for an escape. */
export function escapePlan(
  escape: Escape,
  places: EscapePlaces,
): Pick<WorkerPlan, "stray" | "link"> {
  const { neighbour, neighbourPath, ownerFile, foreignFile } = places;
  // Links in a folder of the workspace begin one folder deeper.
  const fromFolder = join("..", neighbourPath);
  switch (escape) {
    case "absolute-path":
      return { stray: join(neighbour, ownerFile) };
    case "dot-dot":
      return { stray: `out/../${neighbourPath}/${ownerFile}` };
    case "link-to-folder":
      return { stray: `out/cache/${ownerFile}`, link: { name: "out/cache", to: fromFolder } };
    case "link-last":
      return {
        stray: "out/report.txt",
        link: { name: "out/report.txt", to: `${fromFolder}/${ownerFile}` },
      };
    case "dangling-link":
      return {
        stray: "out/report.txt",
        link: { name: "out/report.txt", to: `${fromFolder}/not-there-yet.txt` },
      };
    case "swapped-for-link":
      return { link: { name: foreignFile, to: `${fromFolder}/${ownerFile}` } };
    case "foreign-file":
      return { stray: foreignFile };
  }
}

/** The evidence that something outside the scope is not as it was. Gives none when all is. */
export function escapeEvidence(
  changes: readonly { path: string; change: string }[],
): FaultRecord["evidence"] {
  if (changes.length === 0) return [];
  return [{
    what: `${changes.length} path(s) outside the scope are not as they were`,
    value: changes.map(({ path, change }) => `${path}: ${change}`),
  }];
}

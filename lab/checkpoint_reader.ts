/**
 * Reads a job's checkpoint beside the disk: does it parse, what does it claim, and which claims do
 * the outputs bear out.
 *
 * @module
 */
import { basename, extname, join } from "@std/path";
import { type Claims, readClaims } from "./checkpoint_claims.ts";
import { hashBytes } from "./hash.ts";
import type { Artifact, CheckpointRecord } from "./record.ts";

export { type Claims, readClaims } from "./checkpoint_claims.ts";

/** Where the checkpoint is and where in it the finished units stand. */
export interface CheckpointSpec {
  /** Folder that `path` is relative to: the workspace copy. */
  root: string;
  /** Path of the checkpoint, relative to the root. Its ending says how it is read. */
  path: string;
  /** JSON pointer to a list, an object (its keys) or a number. */
  doneAt?: string | undefined;
}

/** Most bytes of a checkpoint that are read; a longer one counts as not readable. */
export const CHECKPOINT_BYTES_MAX = 64 * 1024 * 1024;

/** Reads the checkpoint and compares it with the outputs as they are now. Never throws. */
export function readCheckpoint(
  spec: CheckpointSpec,
  artifacts: readonly Artifact[],
): CheckpointRecord {
  const record: CheckpointRecord = {
    path: spec.path,
    present: false,
    bytes: null,
    sha256: null,
    parses: null,
    claims: null,
    claimedAbsent: [],
    unclaimedPresent: [],
    comparedBy: null,
    problem: null,
  };
  let bytes: Uint8Array;
  try {
    const path = join(spec.root, spec.path);
    const info = Deno.statSync(path);
    if (!info.isFile || info.size > CHECKPOINT_BYTES_MAX) {
      return { ...record, present: true, problem: "it is not a file that can be read as a whole" };
    }
    bytes = Deno.readFileSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return { ...record, problem: "it is not there" };
    const why = error instanceof Error ? error.message : String(error);
    return { ...record, present: true, problem: `it cannot be read: ${why}` };
  }
  const claims = readClaims(bytes, spec);
  return {
    ...record,
    present: true,
    bytes: bytes.length,
    sha256: hashBytes(bytes),
    parses: claims.parses,
    problem: claims.problem,
    ...compareClaims(claims, artifacts, spec.root),
  };
}

type Comparison = Pick<
  CheckpointRecord,
  "claims" | "claimedAbsent" | "unclaimedPresent" | "comparedBy"
>;

function compareClaims(
  { units }: Claims,
  artifacts: readonly Artifact[],
  root: string,
): Comparison {
  if (units === null) {
    return { claims: null, claimedAbsent: [], unclaimedPresent: [], comparedBy: null };
  }
  const whole = artifacts.filter((artifact) => artifact.problems.length === 0);
  if (typeof units === "number") return compareCounts(units, whole.length, "number");
  const names = [...new Set(units)];
  const outputsOf = indexNames(artifacts);
  const named = names.map((name) => outputsOf.get(cleanName(name, root)) ?? []);
  // Names that fit no output at all (row ids, offsets) can only be counted.
  const fitNothing = named.every((outputs) => outputs.length === 0);
  if (names.length > 0 && whole.length > 0 && fitNothing) {
    return compareCounts(names.length, whole.length, "entries");
  }
  const good = new Set(whole);
  const claimed = new Set(named.flat());
  return {
    claims: names.length,
    claimedAbsent: names.filter((_, i) => !named[i]?.some((output) => good.has(output))),
    unclaimedPresent: whole.filter((output) => !claimed.has(output)).map(({ path }) => path),
    comparedBy: "names",
  };
}

function compareCounts(
  claimed: number,
  present: number,
  comparedBy: Comparison["comparedBy"],
): Comparison {
  return {
    claims: claimed,
    claimedAbsent: claimed > present ? [`${claimed - present} more than the disk holds`] : [],
    unclaimedPresent: present > claimed ? [`${present - claimed} of the finished ones`] : [],
    comparedBy,
  };
}

/** Outputs by every name that may mean them: path, file name, and file name without ending. */
function indexNames(artifacts: readonly Artifact[]): Map<string, Artifact[]> {
  const index = new Map<string, Artifact[]>();
  for (const artifact of artifacts) {
    const file = basename(artifact.path);
    const stem = file.slice(0, file.length - extname(file).length);
    for (const name of new Set([artifact.path, file, stem])) {
      index.set(name, [...index.get(name) ?? [], artifact]);
    }
  }
  return index;
}

/** A unit's name without `./` and without the workspace's folder, with which some jobs write it. */
function cleanName(name: string, root: string): string {
  const relative = name.startsWith(`${root}/`) ? name.slice(root.length + 1) : name;
  return relative.replace(/^(\.\/)+/, "");
}

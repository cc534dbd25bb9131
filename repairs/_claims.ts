/**
 * What a checkpoint claims as done, whatever its format, and how the file looks once some claims
 * are taken out and others are put in.
 *
 * @module
 */
import { valueAt } from "../lab/mod.ts";
import { RepairError } from "./errors.ts";

/** One claim: this unit is done. */
export interface Claim {
  /** The unit's name. */
  unit: string;
  /** Where its artifact is, when the claim says so. */
  path: string | null;
  /** Size and hash of its artifact, when the claim says so. */
  bytes: number | null;
  /** SHA-256 of its artifact; `null` when not known. */
  sha256: string | null;
}

/** The claims of one checkpoint. */
export interface ClaimBook {
  readonly claims: readonly Claim[];
  /** The content of the file with only these of its claims, and these new ones behind them. */
  rebuild(kept: ReadonlySet<Claim>, added: readonly Claim[]): string;
}

const NAME_KEYS = ["unit", "id", "key", "name", "path", "file"];

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Reads one value as a claim, or gives `null` when it names no unit (a header line, a note). */
export function claimOf(value: unknown): Claim | null {
  if (typeof value === "string" || typeof value === "number") {
    return { unit: String(value), path: null, bytes: null, sha256: null };
  }
  if (!isObject(value)) return null;
  const named = NAME_KEYS.map((key) => value[key])
    .find((name) => typeof name === "string" || typeof name === "number");
  if (named === undefined) return null;
  const path = value["path"] ?? value["file"];
  const { bytes, sha256 } = value;
  return {
    unit: String(named),
    path: typeof path === "string" ? path : null,
    bytes: typeof bytes === "number" ? bytes : null,
    sha256: typeof sha256 === "string" ? sha256.toLowerCase() : null,
  };
}

/** A claim as a line of a log or as an element of a list. Absent parts are left out. */
export function recordOf(claim: Claim): Record<string, unknown> {
  return Object.fromEntries(Object.entries(claim).filter(([, value]) => value !== null));
}

/** One whole line of a JSONL log. */
export interface LogLine {
  /** As it stands in the file, without its line end. */
  text: string;
  /** What it says. */
  value: unknown;
}

/** The claims of an append log; lines that claim nothing stay where they are. */
export function logBook(lines: readonly LogLine[]): ClaimBook {
  const rows = lines.map((line) => ({ ...line, claim: claimOf(line.value) }));
  return {
    claims: rows.flatMap((row) => row.claim ?? []),
    rebuild: (kept, added) =>
      [
        ...rows.filter((row) => row.claim === null || kept.has(row.claim)).map((row) => row.text),
        ...added.map((claim) => JSON.stringify(recordOf(claim))),
      ].map((text) => `${text}\n`).join(""),
  };
}

/**
 * The claims of a JSON document.
 *
 * @param pointer Where the done units are: a list (of names or objects), or an object whose keys
 *     they are. Without it: the document itself, or its one member that is a list.
 * @throws {RepairError} When nothing of that kind is there.
 */
export function documentBook(document: unknown, pointer: string | undefined): ClaimBook {
  const place = pointer ?? guessPointer(document);
  const done = place === null ? undefined : valueAt(document, place);
  if (place === null || done === null || typeof done !== "object") {
    throw new RepairError(
      `Cannot compare the checkpoint with the files: there is no list or object of done units at ` +
        `${pointer === undefined ? "the top or in a single list" : `"${pointer}"`}. Say where it ` +
        "is with --done-at, for example --done-at /done",
    );
  }
  const write = (value: unknown) =>
    `${JSON.stringify(withValue(document, place, value), null, 2)}\n`;
  return Array.isArray(done)
    ? listBook(done, write)
    : mapBook(done as Record<string, unknown>, write);
}

function listBook(list: readonly unknown[], write: (value: unknown) => string): ClaimBook {
  const rows = list.map((value) => ({ value, claim: claimOf(value) }));
  const isNames = rows.every((row) => !isObject(row.value));
  return {
    claims: rows.flatMap((row) => row.claim ?? []),
    rebuild: (kept, added) =>
      write([
        ...rows.filter((row) => row.claim === null || kept.has(row.claim)).map((row) => row.value),
        ...added.map((claim) => isNames ? claim.unit : recordOf(claim)),
      ]),
  };
}

function mapBook(map: Record<string, unknown>, write: (value: unknown) => string): ClaimBook {
  const rows = Object.entries(map).map(([unit, value]) => {
    const claim = isObject(value) ? claimOf({ ...value, unit }) : claimOf(unit);
    return { unit, value, claim };
  });
  const isPlain = rows.length > 0 && rows.every((row) => !isObject(row.value));
  const newValue = (claim: Claim) => {
    const { unit: _, ...record } = recordOf(claim);
    return isPlain ? true : record;
  };
  return {
    claims: rows.flatMap((row) => row.claim ?? []),
    rebuild: (kept, added) =>
      write(Object.fromEntries([
        ...rows.filter((row) => row.claim === null || kept.has(row.claim))
          .map((row) => [row.unit, row.value]),
        ...added.map((claim) => [claim.unit, newValue(claim)]),
      ])),
  };
}

function guessPointer(document: unknown): string | null {
  if (Array.isArray(document)) return "";
  if (!isObject(document)) return null;
  const lists = Object.entries(document).filter(([, value]) => Array.isArray(value));
  const [only] = lists;
  if (lists.length !== 1 || only === undefined) return null;
  return `/${only[0].replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/** A copy of the document with another value at the pointer, which must lead to something. */
function withValue(document: unknown, pointer: string, value: unknown): unknown {
  if (pointer === "") return value;
  const copy = structuredClone(document);
  const parts = pointer.replace(/^\//, "").split("/")
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
  let parent = copy as Record<string, unknown>;
  for (const part of parts.slice(0, -1)) parent = parent[part] as Record<string, unknown>;
  parent[parts.at(-1) ?? ""] = value;
  return copy;
}

/** A claim that is not borne out, with the reason. */
export interface RemovedClaim {
  claim: Claim;
  why: string;
}

/** What the disk says about one unit. */
export interface UnitState {
  /** Whether there is anything of it. */
  present: boolean;
  /** Whether the artifact is whole; `null` when nothing tells: being there is no proof. */
  whole: boolean | null;
  /** SHA-256 of its artifact; `null` when not known. */
  sha256: string | null;
  /** Size of the artifact. */
  bytes?: number | null | undefined;
  /** Where the artifact is, relative to the job's folder. */
  path?: string | null | undefined;
  /** Why it is not whole, or not known to be. */
  problem?: string | null | undefined;
}

/** The disk, as the caller knows to read it. */
export interface UnitsOnDisk {
  /** Names of all units of which there is something on disk, whole or not. */
  list(): string[];
  /** Looks at one unit. `claim` is what the checkpoint says about it, if it says something. */
  inspect(unit: string, claim: Claim | null): UnitState;
}

/** What a comparison of claims and disk found. */
export interface Reconciliation {
  kept: Set<Claim>;
  /** Claimed, but absent, not whole, of another size or hash, or claimed twice. */
  removed: RemovedClaim[];
  /** Whole on disk, but not claimed. */
  added: Claim[];
  /** Artifacts that are there but not whole; they must not pass for finished work. */
  broken: { unit: string; path: string | null; why: string }[];
  /** Not claimed, there, and nobody knows whether they are whole. Left as they are. */
  unknown: string[];
}

/** Compares claims with the disk, in both directions. Changes nothing. */
export function reconcile(claims: readonly Claim[], disk: UnitsOnDisk): Reconciliation {
  const result: Reconciliation = {
    kept: new Set(),
    removed: [],
    added: [],
    broken: [],
    unknown: [],
  };
  const onDisk = disk.list();
  const broken = new Map<string, Reconciliation["broken"][number]>();
  const settled = new Set<string>();
  // The newest claim of a unit that the disk bears out is the one that counts.
  for (const claim of claims.toReversed()) {
    if (settled.has(claim.unit)) {
      result.removed.unshift({ claim, why: "it is claimed twice" });
      continue;
    }
    const state = disk.inspect(claim.unit, claim);
    const why = whyNotBorneOut(claim, state);
    if (why === null) {
      result.kept.add(claim);
      for (const name of [claim.unit, state.path]) if (name) settled.add(name);
      broken.delete(claim.unit);
      continue;
    }
    result.removed.unshift({ claim, why });
    if (state.present) broken.set(claim.unit, { unit: claim.unit, path: state.path ?? null, why });
  }
  for (const unit of onDisk) {
    if (settled.has(unit)) continue;
    const { present, whole, path = null, bytes = null, sha256, problem } = disk.inspect(unit, null);
    if (!present || (path !== null && settled.has(path))) continue;
    // What a claim describes with another hash is not whole, whatever a weaker rule says of it.
    const isBroken = (each: { path: string | null }) => path !== null && each.path === path;
    if (broken.has(unit) || [...broken.values()].some(isBroken)) continue;
    if (whole === true) result.added.push({ unit, path, bytes, sha256 });
    else if (whole === null) result.unknown.push(unit);
    else broken.set(unit, { unit, path, why: problem ?? "it is not whole" });
    settled.add(unit);
  }
  result.broken = [...broken.values()];
  return result;
}

function whyNotBorneOut(claim: Claim, state: UnitState): string | null {
  if (!state.present) return "there is no such file";
  if (state.whole !== true) return state.problem ?? "it is not whole";
  const { bytes = null } = state;
  if (claim.bytes !== null && bytes !== null && claim.bytes !== bytes) {
    return `it has ${bytes} bytes and not ${claim.bytes}`;
  }
  if (claim.sha256 !== null && state.sha256 !== null && claim.sha256 !== state.sha256) {
    return "it has another content (hash)";
  }
  return null;
}

/**
 * What several parts of the grader share.
 *
 * @module
 */
import type { Artifact, Check, KillRecord, RunRecord } from "./record.ts";

/** SHA-256 of no bytes at all. */
export const EMPTY_SHA256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/** A part of the contract as the user declared it; `null` when it is not declared. */
export function declaredIn(
  { declared }: RunRecord["contract"],
  key: "artifacts" | "checkpoint" | "effects",
): Record<string, unknown> | null {
  if (typeof declared !== "object" || declared === null || Array.isArray(declared)) return null;
  const part = declared[key];
  return typeof part === "object" && part !== null && !Array.isArray(part) ? part : null;
}

/** Judges one kill record. Survivors are a fail; a witness that was not heard is unproven. */
export function killCheck(id: string, whose: string, kill: KillRecord | null): Check {
  if (kill === null) {
    return { id, state: "unknown", text: `Nobody looked whether ${whose} left processes` };
  }
  const { groupEmpty, markerEmpty, pipesClosed } = kill.witnesses;
  const said = [groupEmpty, markerEmpty, pipesClosed];
  if (kill.survivors.length > 0 || said.includes(false)) {
    const names = kill.survivors.map((each) => `${each.name} (pid ${each.pid})`).join(", ");
    return {
      id,
      state: "bad",
      text: `Something of ${whose} is still alive: ${names || "somebody holds its output open"}`,
    };
  }
  return said.includes(null) || kill.processes.length === 0
    ? { id, state: "unknown", text: `Not all three signs of ${whose} being gone were seen` }
    : {
      id,
      state: "ok",
      text: `All ${kill.processes.length} process(es) of ${whose} are gone: groups empty, no ` +
        "marker left, output closed",
    };
}

/** A check out of a three-valued answer. */
export function tri(
  id: string,
  answer: boolean | null,
  okText: string,
  badText: string,
  unknownText: string,
): Check {
  if (answer === null) return { id, state: "unknown", text: unknownText };
  return answer ? { id, state: "ok", text: okText } : { id, state: "bad", text: badText };
}

/**
 * Whether a file was written again, although perhaps with the same content. Another inode counts,
 * also with the old time: `cp -p` keeps the time when it does all the work again.
 */
export function isRewritten(before: Artifact, after: Artifact | undefined): boolean {
  return after !== undefined &&
    (before.inode !== after.inode || before.mtimeMs !== after.mtimeMs);
}

/** The first output that was made, removed, changed or written again, and how many there are. */
export function firstTouched(
  before: readonly Artifact[],
  after: readonly Artifact[],
): { path: string; count: number } | null {
  const old = new Map(before.map((artifact) => [artifact.path, artifact]));
  const now = new Set(after.map((artifact) => artifact.path));
  const touched = [
    ...after.filter((artifact) => {
      const was = old.get(artifact.path);
      return was === undefined || was.sha256 !== artifact.sha256 || isRewritten(was, artifact);
    }),
    ...before.filter((artifact) => !now.has(artifact.path)),
  ];
  const [first] = touched;
  return first === undefined ? null : { path: first.path, count: touched.length };
}

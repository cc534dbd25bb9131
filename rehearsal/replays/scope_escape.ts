/**
 * scope-escape: something was changed outside the paths that the job may write to.
 *
 * The job is killed half-way, and a file outside its declared scope is changed: in place, through a
 * link that lies inside the scope, or by putting a link that leads out of the copy in its place. The
 * violation record names it; it is put back, and the hashes tell that all is as it was. That record
 * is the proof. Then the resume command must succeed, and the job itself must have stayed in scope,
 * before and after.
 *
 * @module
 */
import { dirname, join, relative } from "@std/path";
import {
  checkScope,
  type FaultRecord,
  hashFile,
  isKillProven,
  makeLinks,
  revert,
  type ScopeViolation,
  snapshotWatchList,
  type WatchSnapshot,
} from "../../lab/mod.ts";
import type { Stage } from "../stage.ts";
import { isStruck, noteNothingLeft } from "./_freeze.ts";
import type { Replay } from "./replay.ts";

const ESCAPE_TEXT = "\n# written outside the scope\n";
const LINK_NAME = ".failure-lab-scope-link";

/** Change a file outside the declared scope. */
export const scopeEscape: Replay = {
  id: "scope-escape",
  summary: "a file outside the job's declared scope was changed",
  variants: ["in-place", "through-link", "swapped-link"],
  needs: ({ scope }) =>
    scope === undefined
      ? "The contract does not say where the job may write. Add it: " +
        '"scope": {"allow": ["out/**", "state.json"]}'
      : null,
  async run(stage, variant) {
    const before = await lookAtTree(stage);
    const start = await stage.startUntil(stage.killPoint);
    if (!await isStruck(stage, start)) return;
    const kill = await stage.killStart(start, { graceMs: 0 });
    noteOwn(stage, "start-in-scope", "start", await violationsSince(stage, before));
    const { artifacts } = await stage.noteFaultState();
    if (!stage.isWorkLeft) return noteNothingLeft(stage);
    const target = findTarget(stage, before);
    if (target === null) return noteNoTarget(stage);
    const linkDir = dirname(artifacts[0]?.path ?? stage.contract.artifacts.paths[0] ?? "");
    await escape(stage, target, variant, linkDir);
    const evidence = await putBack(stage, before, target);
    await stage.noteFaultState();
    if (evidence.length === 0 || isKillProven(kill) !== true) return;
    stage.deliver(evidence);
    await stage.resume();
    noteOwn(stage, "resume-in-scope", "recovery", await violationsSince(stage, before));
  },
};

async function lookAtTree(stage: Stage): Promise<WatchSnapshot> {
  return await snapshotWatchList([{ path: stage.options.workspace, depth: "full" }]);
}

async function violationsSince(stage: Stage, before: WatchSnapshot): Promise<ScopeViolation[]> {
  return checkScope({
    root: stage.options.workspace,
    allowed: stage.contract.scope?.allow ?? [],
    before,
    after: await lookAtTree(stage),
  });
}

/** A file of the project that the job may not change: the first by name. */
function findTarget(stage: Stage, before: WatchSnapshot): string | null {
  const { workspace } = stage.options;
  const files = [...before.entries].filter(([, entry]) => entry.kind === "file")
    .map(([path]) => path).sort();
  // Asked as if each had been changed: the rules decide, and not a second reading of them here.
  const after = { ...before, entries: new Map(before.entries) };
  for (const path of files) {
    const entry = before.entries.get(path);
    if (entry !== undefined) after.entries.set(path, { ...entry, sha256: null });
  }
  const allowed = stage.contract.scope?.allow ?? [];
  const [first] = checkScope({ root: workspace, allowed, before, after });
  return first?.path ?? null;
}

/** Does what a job does that leaves its scope. */
async function escape(
  stage: Stage,
  target: string,
  variant: string,
  linkDir: string,
): Promise<void> {
  const path = stage.path(target);
  if (variant === "swapped-link") {
    const outside = join(stage.options.logDir, "outside.txt");
    await Deno.writeTextFile(outside, "outside of the copy\n");
    await Deno.remove(path);
    await makeLinks([{ path, target: outside }]);
    return;
  }
  if (variant === "in-place") {
    await Deno.writeTextFile(path, ESCAPE_TEXT, { append: true });
    return;
  }
  const link = stage.path(join(linkDir, LINK_NAME));
  await Deno.mkdir(dirname(link), { recursive: true });
  await makeLinks([{ path: link, target: relative(dirname(link), path) }]);
  await Deno.writeTextFile(link, ESCAPE_TEXT, { append: true });
  // The link itself lies where the job may write, so putting things back would leave it there.
  await Deno.remove(link);
}

/** Finds the violation, puts everything back, and gives the proof; empty when there is none. */
async function putBack(
  stage: Stage,
  before: WatchSnapshot,
  target: string,
): Promise<FaultRecord["evidence"]> {
  const { workspace, copy } = stage.options;
  const violations = await violationsSince(stage, before);
  const ours = violations.find(({ path }) => path === target);
  if (ours === undefined) return [];
  await revert({ root: workspace, backupDir: await copy.backup(), before, violations });
  const left = await violationsSince(stage, before);
  const sha256 = hashFile(stage.path(target)).sha256;
  if (left.length > 0 || sha256 !== before.entries.get(join(workspace, target))?.sha256) return [];
  return [
    { what: "changed outside the scope", value: `${target} (${ours.kind})` },
    { what: "put back, with the hash that it had before", value: sha256 },
  ];
}

/** What the job itself did outside its scope. */
function noteOwn(
  stage: Stage,
  id: string,
  what: string,
  violations: readonly ScopeViolation[],
): void {
  const [first] = violations;
  stage.record.findings.push({
    id,
    ok: first === undefined,
    text: first === undefined
      ? `The ${what} changed nothing outside the declared scope`
      : `The ${what} changed ${violations.length} path(s) outside the declared scope, the first ` +
        `is "${first.path}" (${first.kind}). Declare it in "scope", or keep the job away from it`,
  });
}

function noteNoTarget(stage: Stage): void {
  stage.record.notApplicable = "The declared scope covers every file of the project, so there is " +
    'nothing outside of it to change. Name only what the job writes to in "scope"';
}

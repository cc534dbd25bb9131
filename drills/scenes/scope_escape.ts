/**
 * 08: a job that writes where it was not allowed to.
 *
 * @module
 */
import { relative } from "@std/path";
import {
  CHECKPOINT_NAME,
  compareSnapshots,
  type ContainmentChange,
  snapshotWatchList,
  type WatchRoot,
  type WatchSnapshot,
} from "../../lab/mod.ts";
import { describeFindings, type ScopeFindings, ScopeGuard } from "../../repairs/mod.ts";
import {
  type Escape,
  escapeEvidence,
  type EscapePlaces,
  escapePlan,
  ESCAPES,
} from "../faults/escape_scope.ts";
import type { Scene } from "../scene.ts";
import type { DrillStage } from "../stage.ts";

/** What the job may change in its folder. */
const ALLOWED = ["out", CHECKPOINT_NAME, "worker.log", "writes.log"];
const FOREIGN_FILE = "notes/keep.txt";
const OWNER_FILE = "owner.txt";
/** A person has edited this one since the last backup. */
const EDITED_FILE = "draft.txt";

/** What goes wrong in the broken half: most checks miss the escape, two reverts do harm themselves. */
const MISSED = {
  id: "escape-missed",
  file: "",
  text: 'The check says "in scope", and this is not as it was',
};
const HARMS: Readonly<Record<string, typeof MISSED>> = {
  "swapped-for-link": {
    id: "revert-followed-link",
    file: OWNER_FILE,
    text: "The revert wrote through the link, and changed what the job had left alone",
  },
  "foreign-file": {
    id: "revert-lost-edits",
    file: EDITED_FILE,
    text: "The revert put back more than the job had changed, and a person's edits are gone",
  },
};

/** See the module's text. */
export const scopeEscape: Scene = {
  id: "08-scope-escape",
  contract: { checkpoint: true },

  async fail(stage) {
    furnish(stage);
    if (stage.options.mode === "broken") await runJob(stage);
  },

  async naive(stage) {
    await stage.attempt(stage.plan(), { argv: stage.naiveArgv });
    const left = await changesIn(stage);
    const { id, file, text } = HARMS[stage.variant] ?? MISSED;
    const first = left.find((each) => each.path.endsWith(file));
    stage.find(
      id,
      first === undefined,
      first === undefined
        ? "Nothing outside the scope is changed"
        : `${text}: "${shown(stage, first.path)}" (${first.change})`,
    );
  },

  async repair(stage) {
    const findings = await guarded(stage);
    if (!stage.armed) return;
    const left = await changesIn(stage);
    const isRestored = findings.outcome === "reverted" && left.length === 0;
    stage.find(
      "scope-restored",
      isRestored,
      isRestored
        ? "Everything outside the scope is as it was, byte for byte; the job's own work was kept"
        : `The repair ended with "${findings.outcome}", ${left.length} path(s) are not as they were`,
    );
  },

  async control(stage) {
    furnish(stage);
    const findings = await guarded(stage);
    const touched = findings.parts.flatMap((part) => [...part.restored, ...part.removed]);
    const wasLeft = findings.outcome === "clean" && touched.length === 0;
    stage.find(
      "left-alone",
      wasLeft,
      wasLeft
        ? "The job kept to its scope, and the repair touched nothing"
        : `The repair touched ${touched.join(", ") || findings.outcome}`,
    );
  },
};

const before = new WeakMap<DrillStage, WatchSnapshot>();

function placesOf(stage: DrillStage): EscapePlaces {
  return {
    neighbour: stage.path("../neighbour"),
    neighbourPath: "../neighbour",
    ownerFile: OWNER_FILE,
    foreignFile: FOREIGN_FILE,
  };
}

/** A file in the workspace that is not the job's, a neighbour with a file of its own, a backup. */
function furnish(stage: DrillStage): void {
  Deno.mkdirSync(stage.path("notes"));
  Deno.writeTextFileSync(stage.path(FOREIGN_FILE), "a person's notes\n");
  Deno.writeTextFileSync(stage.path(`notes/${EDITED_FILE}`), "with this evening's edits\n");
  for (
    const [folder, file, text] of [
      ["neighbour", OWNER_FILE, "the owner's own edits\n"],
      ["backup", "keep.txt", "a person's notes\n"],
      ["backup", EDITED_FILE, "as it was yesterday\n"],
    ] as const
  ) {
    Deno.mkdirSync(stage.path(`../${folder}`), { recursive: true });
    Deno.writeTextFileSync(stage.path(`../${folder}/${file}`), text);
  }
}

async function look(stage: DrillStage): Promise<WatchSnapshot> {
  const roots = ["notes", "../neighbour"].map((path): WatchRoot => {
    return { path: stage.path(path), depth: "full" };
  });
  return await snapshotWatchList(roots);
}

/** What outside the scope is not as it was before the job. */
async function changesIn(stage: DrillStage): Promise<ContainmentChange[]> {
  const then = before.get(stage);
  if (then === undefined) throw new TypeError("Nobody looked before the job");
  return compareSnapshots(then, await look(stage));
}

function shown(stage: DrillStage, path: string): string {
  return relative(stage.options.dir, path);
}

/** Runs the whole job; in the middle of it, it writes where it should not. */
async function runJob(stage: DrillStage): Promise<void> {
  before.set(stage, await look(stage));
  await Deno.writeTextFile(stage.path("../started"), "");
  const escape = ESCAPES.find((each) => each === stage.variant);
  if (escape === undefined) throw new RangeError(`Unknown variant "${stage.variant}"`);
  const plan = stage.armed
    ? {
      cue: "stray" as const,
      cueAt: stage.parameter("afterUnits") + 1,
      ...escapePlan(escape satisfies Escape, placesOf(stage)),
    }
    : {};
  const { spawned } = await stage.run("start", stage.plan(plan));
  await stage.endStart(spawned);
  stage.noteFaultState();
  if (!stage.armed) return;
  const changes = await changesIn(stage);
  stage.deliver(
    escapeEvidence(changes.map((each) => ({ ...each, path: shown(stage, each.path) }))),
  );
}

/** Runs the job with its scope guarded, then lets the repair settle what it did. */
async function guarded(stage: DrillStage): Promise<ScopeFindings> {
  await using guard = await ScopeGuard.open({
    root: stage.workspace,
    allow: ALLOWED,
    protect: [stage.path("../neighbour")],
  });
  await runJob(stage);
  let findings: ScopeFindings | null = null;
  const allow = ALLOWED.flatMap((path) => ["--allow", path]);
  const words = [...allow, "--protect", "../neighbour", "--", "sh", "worker.sh"];
  await stage.repairAttempt(["failure-lab", "repair", "allowlist", ...words], async () => {
    findings = await guard.settle();
    const isSettled = findings.outcome === "reverted" || findings.outcome === "clean";
    return { exitCode: isSettled ? 0 : 3, said: describeFindings(findings).join("\n") };
  });
  if (findings === null) throw new Error("The repair gave no result");
  return findings;
}

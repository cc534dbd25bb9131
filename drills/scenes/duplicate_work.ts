/**
 * 09: two take the same unit; a message goes out twice.
 *
 * @module
 */
import {
  CHECKPOINT_NAME,
  isStopped,
  listArtifacts,
  readClaims,
  readProcessTable,
  sendSignal,
  type Spawned,
  systemTool,
  waitUntil,
  WORKER_STOOD_DOWN_EXIT,
  type WorkerPlan,
} from "../../lab/mod.ts";
import type { CourierHandler } from "../courier.ts";
import { lateOwnerEvidence, splitEvidence, togetherEvidence } from "../faults/double_work.ts";
import type { Scene } from "../scene.ts";
import type { DrillStage } from "../stage.ts";
import { hasReceived, outboxPost, plainPost, withCourier } from "./_post.ts";

/** Two starts at once; the job is done when one of them did it. */
const TWO_STARTS = [
  "sh ../worker.sh & first=$!",
  "sh ../worker.sh & second=$!",
  "wait $first; a=$?; wait $second; b=$?",
  "[ $a -eq 0 ] || [ $b -eq 0 ]",
].join("\n");

/** See the module's text. */
export const duplicateWork: Scene = {
  id: "09-duplicate-work",
  contract: { checkpoint: true, effects: "file" },

  async fail(stage) {
    await withCourier(stage, plainPost(stage), () => failWith(stage));
    stage.noteFaultState();
  },

  async naive(stage) {
    await withCourier(stage, plainPost(stage), () => recover(stage, stage.naiveArgv));
  },

  async repair(stage) {
    await withCourier(stage, outboxPost(stage), () => recover(stage, stage.workerArgv));
  },

  async control(stage) {
    const outcomes = new Map<string, string>();
    const handler: CourierHandler = outboxPost(stage, {
      onDelivery: (unit, { outcome, attempts }) => outcomes.set(unit, `${outcome} ${attempts}`),
    });
    await withCourier(stage, handler, async () => {
      await stage.runToHold(stage.parameter("afterUnits"));
      stage.noteFaultState();
      await stage.attempt(stage.plan());
    });
    const wasLeft = outcomes.size === stage.units.length &&
      [...outcomes.values()].every((outcome) => outcome === "done 1");
    stage.find(
      "left-alone",
      wasLeft,
      wasLeft
        ? "The repair sent every message once, with its first attempt, and asked nobody to stand down"
        : `The repair did not let every message through: ${[...outcomes.values()].join(", ")}`,
    );
  },
};

function unitAt(stage: DrillStage): string {
  return stage.units[stage.parameter("afterUnits")] ?? "";
}

async function failWith(stage: DrillStage): Promise<void> {
  const after = stage.parameter("afterUnits");
  const unit = unitAt(stage);
  if (stage.armed && stage.variant === "resume-after-send") {
    await stage.runToHold(after, { cue: "hold-after-send" });
    const claims = readClaims(await Deno.readFile(stage.path(CHECKPOINT_NAME)), {
      path: CHECKPOINT_NAME,
    }).units;
    const isClaimed = Array.isArray(claims) && claims.some((claim) => claim.includes(unit));
    stage.deliver(splitEvidence({ unit, isReceived: hasReceived(stage, unit), isClaimed }));
    return;
  }
  await stage.runToHold(after);
  if (stage.armed && stage.variant === "late-owner") await startLateOwner(stage);
}

/** A run of somebody else's, which stands still in the middle of a unit. */
async function startLateOwner(stage: DrillStage): Promise<void> {
  const { clock, signal } = stage.options;
  const plan = stage.plan({ cue: "stop-before-send", cueAt: stage.parameter("afterUnits") + 1 });
  const { neighbours } = stage;
  const spawned = await neighbours.start(
    "late-owner",
    stage.workerArgv,
    stage.workspace,
    stage.environment(plan),
  );
  const owner = await waitUntil(
    async () => (await neighbours.alive()).find((row) => row.pid === spawned.pid && isStopped(row)),
    { limitMs: stage.limits.runMs, everyMs: 5, signal, clock },
  );
  const unit = unitAt(stage);
  stage.deliver(lateOwnerEvidence(unit, owner ?? undefined, hasReceived(stage, unit)));
  lateOwners.set(stage, spawned);
}

const lateOwners = new WeakMap<DrillStage, Spawned>();

async function recover(stage: DrillStage, argv: readonly string[]): Promise<void> {
  if (!stage.armed || stage.variant === "resume-after-send") {
    await stage.attempt(stage.plan(), { argv });
    return;
  }
  const before = stage.look();
  if (stage.variant === "two-claims") {
    const spawned = await stage.start("resume", togetherPlan(stage), [
      systemTool("sh"),
      "-c",
      TWO_STARTS,
    ]);
    await proveTogether(stage);
    await stage.watch(spawned);
    await stage.concludeAttempt("resume", spawned, before);
    return;
  }
  const { spawned } = await stage.run("resume", stage.plan(), { argv });
  await wakeLateOwner(stage);
  await stage.concludeAttempt("resume", spawned, before);
}

function togetherPlan(stage: DrillStage): WorkerPlan {
  return stage.plan({ cue: "together", cueAt: stage.parameter("afterUnits") + 1 });
}

/** Both leave a sign with their pid where they meet. */
async function proveTogether(stage: DrillStage): Promise<void> {
  const { clock, signal } = stage.options;
  const unit = unitAt(stage);
  const sign = `at-${unit}.`;
  const pids = await waitUntil(() => {
    const found = [...Deno.readDirSync(stage.options.dir)].map(({ name }) => name)
      .filter((name) => name.startsWith(sign)).map((name) => Number(name.slice(sign.length)));
    return found.length > 1 ? found : null;
  }, { limitMs: stage.limits.idleMs, everyMs: 2, signal, clock });
  stage.deliver(togetherEvidence(unit, pids ?? [], await readProcessTable()));
  await Deno.writeTextFile(stage.path("../go"), "");
}

/** The late owner goes on, and does what it was about to do. */
async function wakeLateOwner(stage: DrillStage): Promise<void> {
  const spawned = lateOwners.get(stage);
  if (spawned === undefined) return;
  await sendSignal("CONT", [spawned.pid]);
  const ending = await stage.neighbours.supervise(spawned, {
    runMs: stage.limits.runMs,
    idleMs: stage.limits.idleMs,
    signature: () => String(listArtifacts(stage.spec).length),
  });
  if (stage.options.mode !== "repaired") return;
  const hasStoodDown = ending === "ended" && spawned.ended?.exitCode === WORKER_STOOD_DOWN_EXIT;
  stage.find(
    "late-owner-stood-down",
    hasStoodDown,
    hasStoodDown
      ? "The late owner heard that its message had been sent and its unit claimed, and stood down"
      : `The late owner went on (${spawned.ended?.exitCode ?? ending})`,
  );
}

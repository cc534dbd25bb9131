/**
 * 10: a death between an effect and its record, and a note that did not arrive whole.
 *
 * @module
 */
import { join } from "@std/path";
import { CHECKPOINT_NAME, EFFECTS_NAME, readClaims, readEffects } from "../../lab/mod.ts";
import { effectKey, Outbox } from "../../repairs/mod.ts";
import { splitEvidence } from "../faults/double_work.ts";
import { tearCheckpoint } from "../faults/tear_checkpoint.ts";
import type { Scene } from "../scene.ts";
import type { DrillStage } from "../stage.ts";
import { mend } from "./_mend.ts";
import { hasReceived, outboxPost, plainPost, receive, withCourier } from "./_post.ts";

/** See the module's text. */
export const lostHandoff: Scene = {
  id: "10-lost-handoff",
  contract: { checkpoint: true, effects: "file" },

  async fail(stage) {
    await withCourier(stage, plainPost(stage), () => failWith(stage));
    stage.noteFaultState();
  },

  async naive(stage) {
    await withCourier(
      stage,
      plainPost(stage),
      () => stage.attempt(stage.plan(), { argv: stage.naiveArgv }),
    );
  },

  async repair(stage) {
    if (stage.armed && stage.variant === "cannot-tell") await askAPerson(stage);
    if (stage.armed && stage.variant === "note-cut") await mend(stage);
    await reconcile(stage);
    await withCourier(stage, outboxPost(stage), () => stage.attempt(stage.plan()));
  },

  async control(stage) {
    await withCourier(stage, plainPost(stage), () => stage.runToHold(afterUnits(stage)));
    stage.noteFaultState();
    const before = sent(stage);
    const outcomes = await reconcile(stage);
    const wasLeft = outcomes.length === 0 && sent(stage) === before;
    stage.find(
      "left-alone",
      wasLeft,
      wasLeft
        ? "The repair found record and receiver in step, and sent nothing"
        : "The repair sent something although record and receiver were in step",
    );
    await withCourier(stage, outboxPost(stage), () => stage.attempt(stage.plan()));
  },
};

function afterUnits(stage: DrillStage): number {
  return stage.parameter("afterUnits");
}

function unitAt(stage: DrillStage): string {
  return stage.units[afterUnits(stage)] ?? "";
}

function sent(stage: DrillStage): number {
  return readEffects({ root: stage.workspace, path: EFFECTS_NAME }).total;
}

function claimed(stage: DrillStage): string[] {
  const { units } = readClaims(Deno.readFileSync(stage.path(CHECKPOINT_NAME)), {
    path: CHECKPOINT_NAME,
  });
  return Array.isArray(units) ? units : [];
}

async function failWith(stage: DrillStage): Promise<void> {
  const unit = unitAt(stage);
  const variant = stage.armed ? stage.variant : "none";
  switch (variant) {
    case "effect-without-record":
    case "cannot-tell":
      await stage.runToHold(afterUnits(stage), { cue: "hold-after-send" });
      break;
    case "record-without-effect":
      await stage.runToHold(afterUnits(stage), { cue: "hold-after-claim", order: "record-first" });
      break;
    default:
      await stage.runToHold(afterUnits(stage));
  }
  if (!stage.armed) return;
  if (variant === "note-cut") {
    stage.deliver(tearCheckpoint(stage.path(CHECKPOINT_NAME), "prefix").evidence);
    return;
  }
  const isClaimed = claimed(stage).some((claim) => claim.includes(unit));
  stage.deliver(splitEvidence({ unit, isReceived: hasReceived(stage, unit), isClaimed }));
}

/** Compares record and receiver: what is claimed and was not received is sent, once. */
async function reconcile(stage: DrillStage): Promise<string[]> {
  const outcomes: string[] = [];
  const post = outboxPost(stage, {
    onDelivery: (_unit, { outcome }) => outcomes.push(outcome),
  });
  for (const unit of stage.units) {
    const isClaimed = claimed(stage).some((claim) => claim.includes(unit));
    if (isClaimed && !hasReceived(stage, unit)) await post(unit, stage.options.signal);
  }
  return outcomes;
}

/**
 * The sender died between the effect and its record, and the receiver cannot be asked. The repair
 * must not send, and must not call it done; it says that it does not know, and a person answers.
 */
async function askAPerson(stage: DrillStage): Promise<void> {
  const unit = unitAt(stage);
  const key = effectKey(unit);
  const { clock, dir, journal } = stage.options;
  const outbox = new Outbox(join(dir, "outbox"), { clock });
  outbox.store.write({
    schema: "failure-lab/effect",
    version: 1,
    key,
    state: "intent",
    attempts: 1,
    notBeforeMs: null,
    waitMs: 0,
    changedAt: clock.wallIso(),
    note: "begun",
  });
  const before = sent(stage);
  const delivery = await outbox.deliver({
    key,
    send: async () => {
      await receive(stage, unit);
      return { sent: true };
    },
    wasSent: () => Promise.resolve("unknown"),
    signal: stage.options.signal,
  });
  const saysUnknown = delivery.outcome === "unknown" && sent(stage) === before;
  stage.find(
    "says-unknown",
    saysUnknown,
    saysUnknown
      ? `Nobody can tell whether the message of ${unit} went out; the repair says "unknown", and ` +
        "neither sends it again nor calls it done"
      : `The repair should have said "unknown", and said "${delivery.outcome}"`,
  );
  // A person has looked at the receiver.
  outbox.settle(key, hasReceived(stage, unit));
  journal.add("settled", { unit, wasSent: hasReceived(stage, unit) });
}

/**
 * Ways to bring a job's messages, for several scenes: straight, or through an outbox.
 *
 * @module
 */
import { join } from "@std/path";
import { effectKeys, EFFECTS_NAME } from "../../lab/mod.ts";
import {
  type Delivery,
  effectKey,
  Outbox,
  type OutboxPolicy,
  type SendAnswer,
  type WasSent,
} from "../../repairs/mod.ts";
import { Courier, type CourierAnswer, type CourierHandler } from "../courier.ts";
import type { DrillStage } from "../stage.ts";

/** Runs `act` with a courier at the job's service. */
export async function withCourier<T>(
  stage: DrillStage,
  handler: CourierHandler,
  act: () => Promise<T>,
): Promise<T> {
  const courier = new Courier(join(stage.options.dir, "courier"), stage.options.clock, handler);
  courier.start();
  try {
    return await act();
  } finally {
    await courier.stop();
  }
}

/** The receiver: notes each message in a file. */
export async function receive(stage: DrillStage, unit: string): Promise<void> {
  await Deno.writeTextFile(stage.path(EFFECTS_NAME), `${unit}\n`, { append: true });
}

/** Just sends. */
export function plainPost(stage: DrillStage): CourierHandler {
  return async (unit) => {
    await receive(stage, unit);
    return "sent";
  };
}

/** How an outbox of a scene works. */
export interface OutboxPost {
  send?: (unit: string, key: string) => Promise<SendAnswer>;
  /** Asks the receiver. @default {by its file} */
  wasSent?: (unit: string) => Promise<WasSent>;
  policy?: OutboxPolicy;
  /** Called with each delivery. */
  onDelivery?: (unit: string, delivery: Delivery) => void;
}

/** Sends through an outbox: a stable key for each unit, intent before and done after. */
export function outboxPost(stage: DrillStage, post: OutboxPost = {}): CourierHandler {
  const outbox = new Outbox(join(stage.options.dir, "outbox"), { clock: stage.options.clock });
  return async (unit) => {
    const key = effectKey(unit);
    const delivery = await outbox.deliver({
      key,
      send: async () => {
        if (post.send !== undefined) return await post.send(unit, key);
        await receive(stage, unit);
        return { sent: true };
      },
      wasSent: () => post.wasSent?.(unit) ?? Promise.resolve(hasReceived(stage, unit)),
      policy: post.policy,
      signal: stage.options.signal,
    });
    stage.options.journal.add("delivery", { unit, outcome: delivery.outcome, why: delivery.why });
    post.onDelivery?.(unit, delivery);
    return answerOf(delivery);
  };
}

/** Whether the receiver has noted a message. */
export function hasReceived(stage: DrillStage, unit: string): boolean {
  return effectKeys({ root: stage.workspace, path: EFFECTS_NAME }).includes(unit);
}

function answerOf({ outcome, why }: Delivery): CourierAnswer {
  switch (outcome) {
    case "done":
      return "sent";
    case "already-done":
      return "already";
    case "busy":
      return "busy";
    default:
      return `not: ${outcome}: ${why}`;
  }
}

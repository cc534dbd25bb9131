/**
 * 11: the provider is down for longer than the client's patience.
 *
 * @module
 */
import { systemTool, waitUntil, type WorkerPlan } from "../../lab/mod.ts";
import {
  attemptGaps,
  type LogEntry,
  type Provider,
  startProvider,
} from "../../lab/provider/mod.ts";
import { type Delivery, effectKey, Outbox, type OutboxPolicy } from "../../repairs/mod.ts";
import type { CourierHandler } from "../courier.ts";
import {
  hasGrowingGaps,
  type Outage,
  outageEvidence,
  outageOf,
  OUTAGES,
  providerEffects,
} from "../faults/provider_outage.ts";
import type { Scene } from "../scene.ts";
import type { DrillStage } from "../stage.ts";
import { askCarefully, askNaively } from "./_client.ts";
import { outboxPost, withCourier } from "./_post.ts";

const STALLS: readonly string[] = ["stalled", "stalled-with-pings"];
const STORMS: readonly string[] = ["overloaded-529", "error-500", "quota"];

/** A runner that starts the job again when its message could not be sent, but only when it is told
 * that the time has come: as a timer of the system does. */
const PATIENT_RUNNER = [
  "until sh ../worker.sh; do",
  "  [ $? -eq 69 ] || exit 1",
  "  : >../waiting",
  "  while [ ! -e ../go-on ]; do sleep 0.005 2>/dev/null || sleep 1; done",
  "  rm -f ../go-on",
  "done",
].join("\n");

/** See the module's text. */
export const providerOutage: Scene = {
  id: "11-provider-outage",
  contract: { checkpoint: true, effects: "provider" },

  async fail(stage) {
    const provider = await open(stage);
    const post = carefulPost(stage, provider);
    await withCourier(stage, post, async () => {
      const { spawned } = await stage.run("start", planOf(stage));
      await stage.endStart(spawned);
    });
    stage.noteFaultState();
    if (stage.armed) stage.deliver(outageEvidence(provider.outage(), outageIn(stage)));
  },

  async naive(stage) {
    const provider = providerOf(stage);
    const before = provider.log().entries.length;
    let attempts = 0;
    const post: CourierHandler = async (unit, signal) =>
      await askNaively(provider, unit, ++attempts, signal) ? "sent" : "not: the provider failed";
    await withCourier(stage, post, async () => {
      const idleMs = STALLS.includes(stage.variant)
        ? stage.parameter("stallSeenAfterMs")
        : undefined;
      await stage.attempt(planOf(stage), {
        argv: stage.naiveArgv,
        ...(idleMs === undefined ? {} : { idleMs }),
      });
    });
    judgeNaive(stage, provider.log().entries.slice(before));
  },

  async repair(stage) {
    const provider = providerOf(stage);
    const before = provider.log().entries.length;
    const deliveries: Delivery[] = [];
    const post = outboxPost(stage, {
      send: (unit, key) => askCarefully(provider, unit, key, limitsOf(stage, unit)),
      wasSent: () => Promise.resolve(false),
      policy: policyOf(stage),
      onDelivery: (_unit, delivery) => deliveries.push(delivery),
    });
    await withCourier(stage, post, () => patientAttempt(stage, provider, deliveries));
    if (stage.armed) judgeRepair(stage, provider.log().entries.slice(before), deliveries);
  },

  async control(stage) {
    await open(stage);
    stage.noteFaultState();
    await this.repair(stage);
    const { entries, effects } = providerOf(stage).log();
    const isOnce = entries.length === stage.units.length &&
      effects.every((each) => each.effects === 1);
    stage.find(
      "left-alone",
      isOnce,
      isOnce
        ? "With a healthy provider the repair made one request for each unit, and waited for none"
        : `The repair made ${entries.length} requests for ${stage.units.length} units`,
    );
    stage.record.kill ??= stage.record.attempts.at(-1)?.kill ?? null;
  },
};

const providers = new WeakMap<DrillStage, Provider>();

/** Starts the provider; the outage begins in the middle of the job. */
async function open(stage: DrillStage): Promise<Provider> {
  const outage = outageIn(stage);
  const isEndless = stage.options.mode === "broken" && STORMS.includes(outage) ||
    outage === "quota";
  const count = isEndless ? null : stage.parameter(
    outage === "cut-stream"
      ? "cutRequests"
      : STORMS.includes(outage)
      ? "stormRequests"
      : "requests",
  );
  const provider = await startProvider({
    schedule: stage.armed ? outageOf(outage, stage.parameter("afterUnits") + 1, count) : [],
  });
  stage.atEnd(() => provider.stop());
  stage.countEffects = () => providerEffects(provider, stage.units);
  providers.set(stage, provider);
  return provider;
}

function providerOf(stage: DrillStage): Provider {
  const provider = providers.get(stage);
  if (provider === undefined) throw new TypeError("The provider was not started");
  return provider;
}

function outageIn(stage: DrillStage): Outage {
  const outage = OUTAGES.find((each) => each === stage.variant);
  if (outage === undefined) throw new RangeError(`Unknown variant "${stage.variant}"`);
  return outage;
}

/** The output is made out of the answer. */
function planOf(stage: DrillStage): WorkerPlan {
  return stage.plan({ order: "answer-first" });
}

/** The limit is short where the provider is to be silent, and only there: machines can be busy. */
function limitsOf(stage: DrillStage, unit: string) {
  const isSilent = stage.armed && STALLS.includes(stage.variant) &&
    stage.units.indexOf(unit) >= stage.parameter("afterUnits");
  return {
    eventLimitMs: stage.parameter(isSilent ? "eventLimitMs" : "longEventLimitMs"),
    signal: stage.options.signal,
  };
}

function policyOf(stage: DrillStage): OutboxPolicy {
  return {
    baseWaitMs: stage.parameter("baseWaitMs"),
    capWaitMs: 60_000,
    runWaitMs: stage.parameter(stage.variant === "rate-limit-429" ? "longRunWaitMs" : "runWaitMs"),
    attemptsMax: 20,
  };
}

/** One careful request for each unit and no second one: the job as it meets the outage. */
function carefulPost(stage: DrillStage, provider: Provider): CourierHandler {
  return async (unit) => {
    const answer = await askCarefully(provider, unit, effectKey(unit), limitsOf(stage, unit));
    return answer.sent === true ? "sent" : `not: ${answer.why}`;
  };
}

/** Runs the job under the patient runner, and tells that the time has come when it has. */
async function patientAttempt(
  stage: DrillStage,
  provider: Provider,
  deliveries: readonly Delivery[],
): Promise<void> {
  const { clock, signal } = stage.options;
  const before = stage.look();
  const spawned = await stage.start("resume", planOf(stage), [
    systemTool("sh"),
    "-c",
    PATIENT_RUNNER,
  ]);
  let isOver = false;
  const telling = (async () => {
    while (!isOver) {
      const isWaiting = await waitUntil(() => isOver || stage.exists("../waiting"), {
        limitMs: stage.limits.runMs,
        everyMs: 3,
        signal,
        clock,
      });
      if (isOver || isWaiting === null) return;
      await Deno.remove(stage.path("../waiting"));
      await untilDue(stage, provider, deliveries.at(-1));
      await Deno.writeTextFile(stage.path("../go-on"), "");
    }
  })();
  try {
    await stage.watch(spawned);
  } finally {
    isOver = true;
    await telling;
  }
  await stage.concludeAttempt("resume", spawned, before);
}

/** Waits for the time that the outbox has noted; a quota is bought anew, and a person says so. */
async function untilDue(
  stage: DrillStage,
  provider: Provider,
  last: Delivery | undefined,
): Promise<void> {
  const { clock, signal, dir } = stage.options;
  const record = last?.record ?? null;
  if (record === null) return;
  if (stage.variant === "quota") {
    provider.setSchedule([]);
    new Outbox(`${dir}/outbox`, { clock }).settle(record.key, false);
    return;
  }
  await clock.sleep(Math.max(0, (record.notBeforeMs ?? 0) - clock.wallMs()), signal);
}

function judgeNaive(stage: DrillStage, entries: readonly LogEntry[]): void {
  const { variant } = stage;
  const failed = entries.filter((entry) => entry.fault !== null);
  if (STORMS.includes(variant)) {
    const grows = hasGrowingGaps(failed, stage.parameter("baseWaitMs"), 4);
    stage.find(
      "attempts-without-growing-gaps",
      grows,
      grows === false
        ? `${failed.length} attempts, one right after the other, while the provider was down: the ` +
          "attempts themselves are part of the load"
        : "The waits between the attempts grew",
    );
  } else if (variant === "rate-limit-429") {
    const [first, second] = entries;
    const gapMs = (second?.atMs ?? Infinity) - (first?.endMs ?? 0);
    const isIgnored = gapMs < (first?.retryAfterMs ?? 0) - 50;
    stage.find(
      "retry-after-ignored",
      !isIgnored,
      isIgnored
        ? `The provider asked for ${first?.retryAfterMs} ms; the next attempt came after ` +
          `${Math.round(gapMs)} ms`
        : "The wait that the provider asked for was kept",
    );
  } else if (STALLS.includes(variant)) {
    const isHanging = stage.record.attempts.at(-1)?.phase.limitHit !== null;
    stage.find(
      "waits-for-ever",
      !isHanging,
      isHanging
        ? "The client waits for an answer that does not come" +
          (variant === "stalled" ? "" : "; the provider's pings keep it waiting")
        : "The client did not wait for ever",
    );
  }
}

function judgeRepair(
  stage: DrillStage,
  entries: readonly LogEntry[],
  deliveries: readonly Delivery[],
): void {
  if (stage.variant === "quota") {
    const refused = entries.filter((entry) => entry.fault !== null).length;
    const hasParked = deliveries[0]?.outcome === "parked" && refused === 1;
    stage.find(
      "parks",
      hasParked,
      hasParked
        ? "After one refusal that asks for an hour, the repair parked and asked no more"
        : `The repair made ${refused} requests against a quota that outlasts the run`,
    );
    return;
  }
  if (stage.variant === "rate-limit-429") {
    const kept = attemptGaps({ entries }).honoursRetryAfter;
    stage.find(
      "retry-after-kept",
      kept === "unknown" ? null : kept,
      kept === true
        ? "The wait that the provider asked for was kept"
        : "The provider asked for a wait, and was asked again before it was over",
    );
    return;
  }
  if (!STORMS.includes(stage.variant)) return;
  const failed = entries.filter((entry) => entry.fault !== null);
  const upTo = failed.at(-1) === undefined ? 0 : entries.indexOf(failed.at(-1) as LogEntry) + 2;
  const grows = hasGrowingGaps(entries.slice(0, upTo), stage.parameter("baseWaitMs"), 4);
  const parked = deliveries.filter((delivery) => delivery.outcome === "parked").length;
  stage.find(
    "gaps-grow-over-restarts",
    grows === null ? null : grows && parked > 0,
    grows && parked > 0
      ? `The waits between ${failed.length} failed attempts doubled, over ${parked} restart(s)`
      : "The waits between the attempts did not grow over the restarts",
  );
}

/**
 * The self-test of `outbox`.
 *
 * @module
 */
import { type Clock, systemClock } from "../lab/mod.ts";
import { Outbox, type SendAnswer } from "./outbox.ts";
import { expect, runSelfTest, type SelfTestResult } from "./self_testing.ts";

/** Sleeping takes no time but counts, so that an outage of hours is over at once. */
function quickClock(): Clock & { sleptMs: number[] } {
  let aheadMs = 0;
  const sleptMs: number[] = [];
  return {
    ...systemClock,
    sleptMs,
    wallMs: () => systemClock.wallMs() + aheadMs,
    sleep(ms) {
      aheadMs += ms;
      sleptMs.push(ms);
      return Promise.resolve();
    },
  };
}

/** The other side: notes what arrived, and answers from a list. */
function receiver(...answers: SendAnswer[]) {
  const arrived: string[] = [];
  let calls = 0;
  return {
    arrived,
    get calls() {
      return calls;
    },
    send({ key }: { key: string }): Promise<SendAnswer> {
      const answer = answers[calls++] ?? { sent: true };
      if (answer.sent === true) arrived.push(key);
      return Promise.resolve(answer);
    },
  };
}

async function onceIsOnce(dir: string): Promise<string> {
  const there = receiver();
  for (let run = 1; run <= 3; run++) {
    await new Outbox(dir).deliver({ key: "a", send: (each) => there.send(each) });
  }
  expect(there.arrived.length === 1, `${there.arrived.length} arrived`);
  return "three runs, one effect";
}

async function deathInBetween(dir: string): Promise<string> {
  const there = receiver();
  const outbox = new Outbox(dir);
  const send = async (each: { key: string }) => {
    await there.send(each);
    throw new Error("died after the effect, before its record");
  };
  for (const key of ["seen", "unseen"]) await outbox.deliver({ key, send });
  const wasSent = (key: string) => Promise.resolve(key === "seen" ? true : "unknown" as const);
  const seen = await outbox.deliver({ key: "seen", send, wasSent });
  const unseen = await outbox.deliver({ key: "unseen", send, wasSent });
  expect(seen.outcome === "already-done", `found, but ${seen.outcome}`);
  expect(unseen.outcome === "unknown", `nobody can tell, but ${unseen.outcome}`);
  expect(there.arrived.length === 2, `${there.arrived.length} arrived of 2`);
  return "what was found is done, what nobody knows is unknown, and nothing went out twice";
}

async function deathBeforeTheEffect(dir: string): Promise<string> {
  const there = receiver();
  const outbox = new Outbox(dir);
  await outbox.deliver({ key: "a", send: () => Promise.reject(new Error("died")) });
  const wasSent = () => Promise.resolve(false);
  const again = await outbox.deliver({ key: "a", send: (each) => there.send(each), wasSent });
  expect(again.outcome === "done" && there.arrived.length === 1, again.outcome);
  return "an intent without its effect was made good";
}

async function outageIsParked(dir: string): Promise<string> {
  const clock = quickClock();
  const no: SendAnswer = { sent: false, why: "429" };
  const there = receiver(no, no, { ...no, retryAfterMs: 7_200_000 });
  const policy = { runWaitMs: 60_000 };
  const send = (each: { key: string }) => there.send(each);
  const first = await new Outbox(dir, { clock }).deliver({ key: "a", send, policy });
  const waits = clock.sleptMs.join(", ");
  expect(first.outcome === "parked" && there.calls === 3, `${first.outcome}, ${there.calls} calls`);
  expect((clock.sleptMs[1] ?? 0) > (clock.sleptMs[0] ?? 0) * 1.5, `waits ${waits}`);
  const second = await new Outbox(dir, { clock }).deliver({ key: "a", send, policy });
  expect(second.outcome === "parked" && there.calls === 3, "a restart tried again too early");
  await clock.sleep((second.record?.notBeforeMs ?? 0) - clock.wallMs());
  const third = await new Outbox(dir, { clock }).deliver({ key: "a", send, policy });
  expect(third.outcome === "done" && third.record?.attempts === 4, JSON.stringify(third.record));
  return `waits grew (${waits} ms), Retry-After outlasted the run and a restart, sent at attempt 4`;
}

/** Tries `outbox` in a small folder. Takes about a second. Requires `ps` and `sh`. */
export function selfTestOutbox(options: { dir?: string } = {}): Promise<SelfTestResult> {
  return runSelfTest("outbox", {
    "one key, one effect": onceIsOnce,
    "a death between effect and record": deathInBetween,
    "a death between record and effect": deathBeforeTheEffect,
    "an outage that outlasts the run is parked": outageIsParked,
  }, options);
}

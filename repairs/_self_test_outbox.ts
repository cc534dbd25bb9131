/**
 * The self-test of `outbox`.
 *
 * @module
 */
import { type Clock, createRandom, drawToken, systemClock } from "../lab/mod.ts";
import { RepairError } from "./errors.ts";
import { nextWaitMs, Outbox, type SendAnswer } from "./outbox.ts";
import { sendByJob, sentLogProbe } from "./outbox_job.ts";
import { expect, runSelfTest, type SelfTestOptions, type SelfTestResult } from "./self_testing.ts";

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
  const outbox = new Outbox(dir);
  let during = "";
  for (let run = 1; run <= 3; run++) {
    await outbox.deliver({
      key: "a",
      send: (each) => {
        during = outbox.store.read("a")?.state ?? "nothing";
        return there.send(each);
      },
    });
  }
  expect(during === "intent", `while it was sent, the record said ${during}`);
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

async function twoRunsAtOnce(dir: string): Promise<string> {
  const there = receiver();
  const gate = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const first = new Outbox(dir).deliver({
    key: "a",
    send: async (each) => {
      begun.resolve();
      await gate.promise;
      return await there.send(each);
    },
  });
  await begun.promise;
  const second = await new Outbox(dir).deliver({ key: "a", send: (each) => there.send(each) });
  gate.resolve();
  expect((await first).outcome === "done" && second.outcome === "busy", second.outcome);
  expect(there.arrived.length === 1, `${there.arrived.length} arrived`);
  return "the second run stood back";
}

async function attemptsEnd(dir: string): Promise<string> {
  const clock = quickClock();
  const no: SendAnswer = { sent: false, why: "500" };
  const there = receiver(no, no, no);
  const outbox = new Outbox(dir, { clock });
  const options = {
    key: "a",
    send: (each: { key: string }) => there.send(each),
    policy: { attemptsMax: 3, capWaitMs: 1500 },
  };
  const last = await outbox.deliver(options);
  expect(last.outcome === "given-up" && there.calls === 3, `${last.outcome}, ${there.calls} calls`);
  expect(
    (clock.sleptMs[1] ?? 0) <= 1500 * 1.25 + 1,
    `waited ${clock.sleptMs[1]} ms beyond the cap`,
  );
  const late = { ...createRandom(1), next: () => 1 };
  expect(
    nextWaitMs(1, 0, {}, late) > nextWaitMs(1, 0, {}, { ...late, next: () => 0 }),
    "no jitter",
  );
  // A clock that is set back must not make a wait longer.
  outbox.store.write({
    ...outbox.settle("a", false),
    notBeforeMs: clock.wallMs() + 9e9,
    waitMs: 1000,
  });
  const again = await outbox.deliver(options);
  expect(again.outcome === "done", `after the clock was set back: ${again.outcome}`);
  return "given up after 3 attempts, tried afresh when told to";
}

async function damageIsUnknown(dir: string): Promise<string> {
  const outbox = new Outbox(dir);
  await Deno.writeTextFile(outbox.store.pathOf("a"), '{"schema":');
  const there = receiver();
  const refused = await outbox.deliver({ key: "a", send: (each) => there.send(each) })
    .then(() => false, (error) => error instanceof RepairError);
  expect(refused && there.calls === 0, "sent although its record is damaged");
  const log = `${dir}/sent.log`;
  const probe = (mayBeAbsent: boolean) => sentLogProbe(log, undefined, mayBeAbsent)("b");
  await Deno.writeTextFile(log, "a\n");
  expect(await probe(false) === "unknown", "absence in a log counts as proof");
  expect(await probe(true) === false, "absence in a log that may be believed is not believed");
  await Deno.writeTextFile(log, "a\nunit-");
  expect(await probe(true) === "unknown", "a log that was cut is believed");
  return "a damaged record and a cut log prove nothing";
}

async function exitCodesAreNotGuessedAt(dir: string): Promise<string> {
  const send = (script: string) =>
    sendByJob({
      job: { argv: ["sh", "-c", script], cwd: dir, stdin: "null" },
      clock: systemClock,
      scratchDir: dir,
      notSentCodes: [75],
      refusedCodes: [65],
    }).send({ key: script, number: 1, token: drawToken() });
  const answers = await Promise.all(["exit 0", "exit 75", "exit 1", "kill -9 $$"].map(send));
  const sent = answers.map((answer) => answer.sent).join();
  expect(sent === "true,false,unknown,unknown", `got ${sent}`);
  return "0 sent, 75 not sent, anything else not known";
}

/** Tries `outbox` in a small folder. Takes about a second. Requires `ps` and `sh`. */
export function selfTestOutbox(options: SelfTestOptions = {}): Promise<SelfTestResult> {
  return runSelfTest(
    "outbox",
    {
      "one key, one effect": onceIsOnce,
      "a death between effect and record": deathInBetween,
      "a death between record and effect": deathBeforeTheEffect,
      "two runs at once": twoRunsAtOnce,
      "attempts and waits have an end": attemptsEnd,
      "what is damaged proves nothing": damageIsUnknown,
      "exit codes mean what was declared": exitCodesAreNotGuessedAt,
      "an outage that outlasts the run is parked": outageIsParked,
    },
    options,
    3,
  );
}

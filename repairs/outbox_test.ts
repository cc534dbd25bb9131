import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { type Clock, createRandom } from "../lab/mod.ts";
import { inFolder, namesIn, write } from "./_test_tools.ts";
import { RepairError } from "./errors.ts";
import {
  type DeliverOptions,
  nextWaitMs,
  Outbox,
  parseRetryAfterMs,
  type SendAnswer,
} from "./outbox.ts";

/** A clock on which sleeping takes no time but counts. */
function fakeClock(startMs = 1_000_000): Clock & { slept: number[]; setWall(ms: number): void } {
  let nowMs = 0;
  let wallMs = startMs;
  const slept: number[] = [];
  return {
    slept,
    setWall: (ms) => void (wallMs = ms),
    nowMs: () => nowMs,
    wallMs: () => wallMs,
    wallIso: () => new Date(wallMs).toISOString(),
    sleep(ms) {
      slept.push(ms);
      nowMs += ms;
      wallMs += ms;
      return Promise.resolve();
    },
  };
}

/** A sender that gives these answers one after the other, and counts what really went out. */
function sender(...answers: (SendAnswer | "effect then death" | "death")[]) {
  const calls: number[] = [];
  const state = { effects: 0, calls };
  const send: DeliverOptions["send"] = ({ number }) => {
    calls.push(number);
    const answer = answers[calls.length - 1] ?? { sent: true };
    if (answer === "effect then death") state.effects++;
    if (typeof answer === "string") return Promise.reject(new Error("died"));
    if (answer.sent === true) state.effects++;
    return Promise.resolve(answer);
  };
  return Object.assign(state, { send });
}

const random = createRandom(1);
const policy = { baseWaitMs: 1000, capWaitMs: 8000, runWaitMs: 100_000, attemptsMax: 6 };
const NOT_YET: SendAnswer = { sent: false, why: "429" };

Deno.test("deliver sends once, and never again for the same key", () =>
  inFolder(async (dir) => {
    const out = sender();
    for (const outcome of ["done", "already-done", "already-done"]) {
      assertEquals((await new Outbox(dir).deliver({ key: "a", send: out.send })).outcome, outcome);
    }
    assertEquals([out.effects, out.calls], [1, [1]]);
    assertEquals(namesIn(dir).length, 1, "only the record stays");
  }));

Deno.test("deliver has the intent on disk before it sends, and done after", () =>
  inFolder(async (dir) => {
    const outbox = new Outbox(dir);
    let during = "";
    const delivery = await outbox.deliver({
      key: "a",
      send: () => {
        during = outbox.store.read("a")?.state ?? "nothing";
        return Promise.resolve({ sent: true });
      },
    });
    assertEquals([during, delivery.record?.state, outbox.store.read("a")?.state], [
      "intent",
      "done",
      "done",
    ]);
  }));

Deno.test("deliver tries again with a growing, capped wait and counts attempts over runs", () =>
  inFolder(async (dir) => {
    const clock = fakeClock();
    const out = sender(NOT_YET, NOT_YET, NOT_YET, NOT_YET, NOT_YET);
    const delivery = await new Outbox(dir, { clock, random }).deliver({
      key: "a",
      send: out.send,
      policy,
    });
    assertEquals([delivery.outcome, delivery.attempts, out.effects], ["done", 6, 1]);
    assertEquals(clock.slept.length, 5);
    for (const [i, least] of [1000, 2000, 4000, 8000, 8000].entries()) {
      const ms = clock.slept[i] ?? 0;
      assert(ms >= least && ms <= least * 1.25 + 1, `wait ${i} was ${ms}`);
    }
  }));

Deno.test("deliver parks instead of looping when the wait outlasts the run, and a restart goes on", () =>
  inFolder(async (dir) => {
    const clock = fakeClock();
    const out = sender(NOT_YET, { ...NOT_YET, retryAfterMs: 3_600_000 });
    const first = await new Outbox(dir, { clock, random }).deliver({
      key: "a",
      send: out.send,
      policy,
    });
    assertEquals([first.outcome, first.attempts], ["parked", 2]);
    // A restart neither resets the counter nor the wait, and does not even try.
    const second = await new Outbox(dir, { clock, random }).deliver({
      key: "a",
      send: out.send,
      policy,
    });
    assertEquals([second.outcome, second.attempts, second.record?.attempts], ["parked", 0, 2]);
    assert((second.record?.notBeforeMs ?? 0) - clock.wallMs() >= 3_600_000);
    clock.setWall(second.record?.notBeforeMs ?? 0);
    const third = await new Outbox(dir, { clock, random }).deliver({
      key: "a",
      send: out.send,
      policy,
    });
    assertEquals([third.outcome, out.calls, out.effects], ["done", [1, 2, 3], 1]);
  }));

Deno.test("deliver never waits longer than was meant, also when the clock was set back", () =>
  inFolder(async (dir) => {
    const clock = fakeClock(1e12);
    const out = sender({ ...NOT_YET, endsRun: true });
    await new Outbox(dir, { clock, random }).deliver({ key: "a", send: out.send, policy });
    clock.setWall(1000);
    const again = await new Outbox(dir, { clock, random }).deliver({
      key: "a",
      send: out.send,
      policy,
    });
    assertEquals(again.outcome, "done");
    assert((clock.slept[0] ?? 0) <= 1250, `waited ${clock.slept}`);
  }));

Deno.test("deliver gives up after the attempts of all runs, and a person can start it afresh", () =>
  inFolder(async (dir) => {
    const clock = fakeClock();
    const outbox = new Outbox(dir, { clock, random });
    const out = sender(NOT_YET, NOT_YET, NOT_YET);
    const options = { key: "a", send: out.send, policy: { ...policy, attemptsMax: 3 } };
    assertEquals((await outbox.deliver(options)).outcome, "given-up");
    assertEquals((await outbox.deliver(options)).outcome, "given-up");
    assertEquals(out.calls.length, 3);
    outbox.settle("a", false);
    assertEquals((await outbox.deliver(options)).outcome, "done");
  }));

Deno.test("deliver does not try again what was refused", () =>
  inFolder(async (dir) => {
    const out = sender({ sent: false, isRefused: true, why: "no such address" });
    const delivery = await new Outbox(dir).deliver({ key: "a", send: out.send });
    assertEquals([delivery.outcome, out.calls.length], ["given-up", 1]);
    assertStringIncludes(delivery.why, "no such address");
  }));

for (
  const [name, wasSent, outcome, effects] of [
    ["was sent, marks it done and sends nothing", true, "already-done", 1],
    ["was not sent, sends it", false, "done", 2],
    ["cannot tell, says unknown and sends nothing", "unknown", "unknown", 1],
  ] as const
) {
  Deno.test(`deliver, after a death between effect and record, when the probe says it ${name}`, () =>
    inFolder(async (dir) => {
      const outbox = new Outbox(dir);
      const out = sender("effect then death");
      assertEquals((await outbox.deliver({ key: "a", send: out.send })).outcome, "unknown");
      const delivery = await outbox.deliver({
        key: "a",
        send: out.send,
        wasSent: () => Promise.resolve(wasSent),
      });
      assertEquals([delivery.outcome, out.effects], [outcome, effects]);
    }));
}

Deno.test("deliver leaves an unknown effect unknown without a probe, and when the probe fails", () =>
  inFolder(async (dir) => {
    const outbox = new Outbox(dir);
    const out = sender("death");
    const said: string[] = [];
    assertEquals((await outbox.deliver({ key: "a", send: out.send })).outcome, "unknown");
    const delivery = await outbox.deliver({
      key: "a",
      send: out.send,
      wasSent: () => Promise.reject(new Error("log is locked")),
      say: (text) => said.push(text),
    });
    assertEquals([delivery.outcome, out.calls.length, outbox.store.read("a")?.state], [
      "unknown",
      1,
      "unknown",
    ]);
    assertStringIncludes(said.join(), "log is locked");
    outbox.settle("a", true);
    assertEquals((await outbox.deliver({ key: "a", send: out.send })).outcome, "already-done");
  }));

Deno.test("deliver takes an intent without an end, as a killed run leaves it, for unknown", () =>
  inFolder(async (dir) => {
    const outbox = new Outbox(dir);
    outbox.store.write({ ...outbox.settle("a", false), state: "intent", attempts: 4 });
    const out = sender();
    const delivery = await outbox.deliver({ key: "a", send: out.send });
    assertEquals([delivery.outcome, delivery.record?.attempts, out.calls], ["unknown", 4, []]);
  }));

Deno.test("deliver asks about an effect of which the box knows nothing, before it sends", () =>
  inFolder(async (dir) => {
    const out = sender();
    const sent = new Set(["a"]);
    const wasSent = (key: string) => Promise.resolve(sent.has(key) ? true : "unknown" as const);
    const outbox = new Outbox(dir);
    assertEquals(
      (await outbox.deliver({ key: "a", send: out.send, wasSent })).outcome,
      "already-done",
    );
    assertEquals((await outbox.deliver({ key: "b", send: out.send, wasSent })).outcome, "done");
    assertEquals(out.effects, 1);
  }));

Deno.test("deliver lets one of two runs send, and the other stand back", () =>
  inFolder(async (dir) => {
    const gate = Promise.withResolvers<SendAnswer>();
    const begun = Promise.withResolvers<void>();
    const send = () => (begun.resolve(), gate.promise);
    const first = new Outbox(dir).deliver({ key: "a", send });
    await begun.promise;
    const second = await new Outbox(dir).deliver({
      key: "a",
      send: () => Promise.reject(new Error("sent twice")),
    });
    gate.resolve({ sent: true });
    assertEquals([second.outcome, (await first).outcome], ["busy", "done"]);
  }));

Deno.test("deliver stops between attempts when it is asked to", () =>
  inFolder(async (dir) => {
    const stop = new AbortController();
    const out = sender(NOT_YET);
    const delivery = await new Outbox(dir).deliver({
      key: "a",
      send: (attempt) => (stop.abort(), out.send(attempt)),
      policy,
      signal: stop.signal,
    });
    assertEquals([delivery.outcome, delivery.record?.state], ["stopped", "waiting"]);
  }));

Deno.test("deliver sends nothing when the record of the key cannot be read", () =>
  inFolder(async (dir) => {
    const outbox = new Outbox(dir);
    write(outbox.store.pathOf("a"), '{"schema":"failure-lab/eff');
    const out = sender();
    const error = await assertRejects(
      () => outbox.deliver({ key: "a", send: out.send }),
      RepairError,
    );
    assertEquals([error.exitCode, out.calls], [3, []]);
    assertEquals(outbox.store.list().damaged, [outbox.store.pathOf("a")]);
  }));

Deno.test("nextWaitMs doubles, stops at the cap, and never ends before Retry-After", () => {
  const none = { ...createRandom(1), next: () => 0 };
  const waits = [1, 2, 3, 4, 5, 60].map((attempts) => nextWaitMs(attempts, 0, policy, none));
  assertEquals(waits, [1000, 2000, 4000, 8000, 8000, 8000]);
  assertEquals(nextWaitMs(1, 30_000, policy, none), 30_000);
  assertEquals(nextWaitMs(1, 30_000, policy, { ...none, next: () => 1 }), 37_500);
});

Deno.test("parseRetryAfterMs reads seconds and dates", () => {
  const nowMs = Date.parse("2026-11-30T12:00:00Z");
  assertEquals(parseRetryAfterMs("120\n", nowMs), 120_000);
  assertEquals(parseRetryAfterMs("Mon, 30 Nov 2026 12:00:30 GMT", nowMs), 30_000);
  assertEquals(parseRetryAfterMs("Mon, 30 Nov 2020 12:00:30 GMT", nowMs), 0);
  for (const text of ["", "soon", "-5", "12 minutes"]) {
    assertEquals(parseRetryAfterMs(text, nowMs), null);
  }
});

import { assertEquals, assertThrows } from "@std/assert";
import {
  checkSchedule,
  decideFault,
  type FaultKind,
  noHits,
  outageSchedule,
  type RequestFacts,
  type Schedule,
} from "./fault_schedule.ts";

function play(schedule: Schedule, facts: readonly Partial<RequestFacts>[]): (FaultKind | null)[] {
  let hits = noHits(schedule);
  let workNumber = 1;
  return facts.map((some) => {
    const request = { work: true, workNumber, atMs: 0, unit: null, ...some };
    if (request.work) workNumber++;
    const decision = decideFault(schedule, hits, request);
    hits = decision.hits;
    return decision.fault?.kind ?? null;
  });
}

const FIVE = [{}, {}, {}, {}, {}];

Deno.test("a schedule without rules is a healthy provider", () => {
  assertEquals(play([], FIVE), [null, null, null, null, null]);
});

Deno.test("a rule from request n on for a count hits exactly those", () => {
  const schedule: Schedule = [{ fault: { kind: "429" }, fromRequest: 2, count: 2 }];
  assertEquals(play(schedule, FIVE), [null, "429", "429", null, null]);
});

Deno.test("a rule without an end goes on for ever", () => {
  const schedule: Schedule = [{ fault: { kind: "529" }, fromRequest: 3 }];
  assertEquals(play(schedule, FIVE), [null, null, "529", "529", "529"]);
});

Deno.test("a time window includes its start and excludes its end", () => {
  const schedule: Schedule = [{ fault: { kind: "503" }, fromMs: 100, untilMs: 200 }];
  const times = [99.9, 100, 199.9, 200].map((atMs) => ({ atMs }));
  assertEquals(play(schedule, times), [null, "503", "503", null]);
});

Deno.test("the first rule that applies wins, and a used-up rule lets the next one through", () => {
  const schedule: Schedule = [
    { fault: { kind: "429" }, count: 1 },
    { fault: { kind: "500" }, count: 2 },
  ];
  assertEquals(play(schedule, FIVE), ["429", "500", "500", null, null]);
});

Deno.test("side requests are spared and use nothing up, unless a rule takes all", () => {
  const side = { work: false };
  const schedule: Schedule = [{ fault: { kind: "529" }, count: 1 }];
  assertEquals(play(schedule, [side, {}, side, {}]), [null, "529", null, null]);
  const all: Schedule = [{ fault: { kind: "529" }, count: 2, requests: "all" }];
  assertEquals(play(all, [side, {}, {}]), ["529", "529", null]);
});

Deno.test("a rule for some units spares others", () => {
  const schedule: Schedule = [{ fault: { kind: "500" }, units: ["b"] }];
  assertEquals(play(schedule, [{ unit: "a" }, { unit: "b" }, {}]), [null, "500", null]);
});

Deno.test("the same schedule and requests give the same faults again", () => {
  const schedule: Schedule = [{ fault: { kind: "429" }, fromRequest: 2, count: 2 }];
  assertEquals(play(schedule, FIVE), play(schedule, FIVE));
});

Deno.test("outageSchedule() ends by time or by count, or never", () => {
  const late = (atMs: number) => ({ atMs });
  const byTime = outageSchedule({ fromMs: 10, forMs: 20 });
  assertEquals(play(byTime, [late(9), late(10), late(29), late(30)]), [null, "529", "529", null]);
  const byCount = outageSchedule({ fault: { kind: "503" }, fromRequest: 2, count: 1 });
  assertEquals(play(byCount, FIVE), [null, "503", null, null, null]);
  assertEquals(play(outageSchedule(), FIVE), ["529", "529", "529", "529", "529"]);
});

Deno.test("outageSchedule() spares side requests only when it counts", () => {
  const side = [{ work: false }];
  assertEquals(play(outageSchedule(), side), ["529"]);
  assertEquals(play(outageSchedule({ count: 3 }), side), [null]);
});

Deno.test("checkSchedule() refuses numbers out of bounds and says the rule", () => {
  const fault = { kind: "429" } as const;
  const refused: [Schedule, string][] = [
    [[{ fault, fromRequest: 0 }], "'fromRequest' must be at least 1: current value is 0"],
    [[{ fault, count: 1.5 }], "'count' must be a whole number: current value is 1.5"],
    [[{ fault, count: NaN }], "'count' must be at least 1: current value is NaN"],
    [[{ fault, fromMs: -1 }], "'fromMs' must be at least 0: current value is -1"],
    [[{ fault, fromMs: 5, untilMs: 5 }], "'untilMs' must be after 'fromMs'"],
    [[{ fault: { kind: "cut-tool-json", cutAt: 1 } }], "'cutAt' must be between 0 and 1"],
    [[{ fault: { kind: "stall-with-pings", pingEveryMs: 0 } }], "'pingEveryMs' must be at least 1"],
  ];
  for (const [schedule, message] of refused) {
    assertThrows(() => checkSchedule(schedule), RangeError, message);
  }
});

Deno.test("checkSchedule() refuses unknown kinds and fields of another kind", () => {
  assertThrows(
    () => checkSchedule([{ fault: { kind: "418" as FaultKind } }]),
    TypeError,
    'Cannot schedule the fault "418": no such kind',
  );
  assertThrows(
    () => checkSchedule([{ fault: { kind: "500", retryAfterSeconds: 1 } }]),
    TypeError,
    'Cannot schedule the fault "500": "retryAfterSeconds" belongs to 429, 529, 503, quota',
  );
});

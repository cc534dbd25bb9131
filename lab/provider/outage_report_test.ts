import { assertEquals } from "@std/assert";
import { outageReport } from "./outage_report.ts";
import { type LogEntry, RequestLog } from "./request_log.ts";
import { outageSchedule } from "./fault_schedule.ts";
import { startProvider } from "./server.ts";
import { makeEntry, post } from "./_testing.ts";

function makeLog(entries: LogEntry[], dropped = 0) {
  const counters = { requests: 0, work: 0, faulted: 2, answered: 0, refused: 0 };
  return { entries, dropped, counters, effects: [], effectsNotCounted: 0 };
}

Deno.test("outageReport() of a provider that was never down proves nothing", () => {
  const { requests, firstMs, lastMs, recoveredMs } = outageReport(new RequestLog().snapshot());
  assertEquals([requests, firstMs, lastMs, recoveredMs], [0, null, null, null]);
});

Deno.test("outageReport() finds the first, the last and the request that got through", () => {
  const report = outageReport(makeLog([
    makeEntry({ atMs: 1 }),
    makeEntry({ atMs: 2, fault: "529", status: 529 }),
    makeEntry({ atMs: 3 }),
    makeEntry({ atMs: 4, fault: "503", status: 503 }),
    makeEntry({ atMs: 5, work: false }),
    makeEntry({ atMs: 6, outcome: "client-left" }),
    makeEntry({ atMs: 7 }),
  ]));
  assertEquals([report.firstMs, report.lastMs, report.recoveredMs], [2, 4, 7]);
  assertEquals([report.requests, report.complete], [2, true]);
});

Deno.test("outageReport() says when the log is not complete, and that nobody got through", () => {
  const report = outageReport(makeLog([makeEntry({ atMs: 1 }), makeEntry({ fault: "529" })], 3));
  assertEquals([report.recoveredMs, report.complete], [null, false]);
});

Deno.test("a provider reports its own outage", async () => {
  await using provider = await startProvider({ schedule: outageSchedule({ count: 2 }) });
  for (let attempt = 1; attempt <= 3; attempt++) {
    await (await post(provider, "/lab/unit/a", {})).text();
  }
  const { requests, recoveredMs, gaps } = provider.outage();
  assertEquals(requests, 2);
  assertEquals(recoveredMs, provider.log().entries[2]?.atMs);
  assertEquals(gaps.keys[0]?.gapsMs.length, 2);
});

// With the failure switched off, nothing is done to the job and nothing is proven.

import { assertEquals } from "@std/assert";
import { inShort, SessionBench } from "../../tests/support/session.ts";
import { cleanUpAfterEach } from "../../tests/support/processes.ts";
import { CAREFUL, contractOf } from "./_test_jobs.ts";
import { REPLAYS } from "./mod.ts";

cleanUpAfterEach();

Deno.test("a disarmed replay lets the job run to its end, and is unproven", async () => {
  await using bench = await SessionBench.make("disarmed");
  await bench.write("run.sh", `${CAREFUL}echo all >state.txt\n`);
  const contract = contractOf({
    checkpoint: { path: "state.txt" },
    lock: { path: "run.lock", content: "{pid}\n" },
    scope: { allow: ["out/**", "state.txt"] },
  });
  const all = await bench.run(
    contract,
    REPLAYS.map(({ id }) => ({ subject: id, armed: false, resumeTwice: false })),
  );
  assertEquals(all.map(inShort), REPLAYS.map(() => "unproven fault-delivered"));
  for (const { record } of all) {
    assertEquals([record.start?.exitCode, record.fault.evidence.length], [0, 0], record.subject);
    assertEquals(record.kill?.signals, []);
    assertEquals(record.options.tries, undefined);
  }
});

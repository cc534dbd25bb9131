import { assertEquals, assertStringIncludes } from "@std/assert";
import * as repairs from "./mod.ts";
import { expect, runSelfTest, type SelfTestResult } from "./self_testing.ts";
import { inFolder, isThere, namesIn, write } from "./_test_tools.ts";

Deno.test("runSelfTest runs every step in a folder of its own, also after one that failed", () =>
  inFolder(async (dir) => {
    const seen: string[] = [];
    const step = (own: string) => {
      seen.push(own);
      assertEquals(namesIn(own), []);
      write(`${own}/left`, "behind");
      return "fine";
    };
    const result = await runSelfTest("x", {
      one: step,
      two: () => expect(false, "it is broken") as never,
      three: (own) => Promise.resolve(step(own)),
    }, { dir });
    assertEquals(result.steps.map((each) => [each.name, each.ok]), [["one", true], ["two", false], [
      "three",
      true,
    ]]);
    assertStringIncludes(result.steps[1]?.detail ?? "", "it is broken");
    assertEquals([result.ok, seen.some(isThere), namesIn(dir)], [false, false, []]);
  }));

Deno.test("a self-test without steps proves nothing", () =>
  inFolder(async (dir) => {
    assertEquals((await runSelfTest("x", {}, { dir })).ok, false);
  }));

const SELF_TESTS: Record<string, () => Promise<SelfTestResult>> = {
  allowlist: repairs.selfTestAllowlist,
  checkpoint: repairs.selfTestCheckpoint,
  deadline: repairs.selfTestDeadline,
  evidence: repairs.selfTestEvidence,
  heartbeat: repairs.selfTestHeartbeat,
  lease: repairs.selfTestLease,
  outbox: repairs.selfTestOutbox,
};

for (const [module, selfTest] of Object.entries(SELF_TESTS)) {
  Deno.test(`the self-test of ${module} holds on this machine`, async () => {
    const result = await selfTest();
    assertEquals(result.steps.filter((step) => !step.ok), []);
    assertEquals([result.module, result.ok], [module, true]);
  });
}

// Something was changed outside the paths that a job may write to.

import { assertEquals, assertStringIncludes } from "@std/assert";
import { evidence, finding, inShort, SessionBench } from "../../tests/support/session.ts";
import { cleanUpAfterEach } from "../../tests/support/processes.ts";
import { CAREFUL, contractOf } from "./_test_jobs.ts";
import { scopeEscape } from "./scope_escape.ts";

cleanUpAfterEach();

const SCOPE = { scope: { allow: ["out/**"] } };
const replay = { subject: "scope-escape", variant: "in-place" };

Deno.test("scope-escape changes a file in every way, puts it back, and passes a job that stays in scope", async () => {
  await using bench = await SessionBench.make("scope");
  await bench.write("run.sh", CAREFUL);
  await bench.write("config/settings.json", '{"keep": true}\n');
  const all = await bench.run(
    contractOf(SCOPE),
    scopeEscape.variants.map((variant) => ({ subject: "scope-escape", variant })),
  );
  assertEquals(
    all.map(inShort),
    ["pass", "pass", "pass"],
    all.map((each) => each.grade.reason).join(),
  );
  assertEquals(all.map((each) => evidence(each)["changed outside the scope"]), [
    "config/settings.json (outside-allowlist)",
    "config/settings.json (outside-allowlist)",
    "config/settings.json (swapped-for-link)",
  ]);
  for (const graded of all) {
    assertEquals(String(evidence(graded)["put back, with the hash that it had before"]).length, 64);
    assertStringIncludes(finding(graded, "resume-in-scope") ?? "", "changed nothing outside");
  }
});

Deno.test("scope-escape fails a job that itself leaves its scope, before or after", async () => {
  await using bench = await SessionBench.make("scope-bad");
  await bench.write("run.sh", `echo started >>job.log\n${CAREFUL}`);
  const start = await bench.one(contractOf(SCOPE), replay);
  assertEquals(inShort(start), "fail start-in-scope", start.grade.reason);
  assertStringIncludes(start.grade.reason, '"job.log" (outside-allowlist)');
  await bench.write("run.sh", `[ ! -d out ] || ln -s /etc out/link\n${CAREFUL}`);
  const resume = await bench.one(contractOf(SCOPE), replay);
  assertEquals(inShort(resume), "fail resume-in-scope", resume.grade.reason);
  assertStringIncludes(resume.grade.reason, '"out/link" (link-out)');
});

Deno.test("scope-escape says what the contract lacks, or that its scope is too wide", async () => {
  await using bench = await SessionBench.make("scope-none");
  await bench.write("run.sh", CAREFUL);
  const missing = await bench.one(contractOf({}), replay);
  assertEquals(inShort(missing), "not-applicable not-applicable");
  assertStringIncludes(missing.grade.reason, '"scope": {"allow": ["out/**", "state.json"]}');
  const wide = await bench.one(contractOf({ scope: { allow: ["**"] } }), replay);
  assertEquals(inShort(wide), "not-applicable not-applicable");
  assertStringIncludes(wide.grade.reason, "covers every file");
});

import { assertEquals } from "@std/assert";
import { goodRecord } from "./_grader_fixtures.ts";
import { runRecordSchema } from "./record.ts";
import { newRecord, toolInfo } from "./run_record.ts";
import { VERSION } from "./version.ts";

Deno.test("newRecord() is a record from the first moment, in which nothing was observed", () => {
  const good = goodRecord();
  const record = newRecord({
    id: good.id,
    kind: good.kind,
    subject: good.subject,
    half: good.half,
    label: good.label,
    rerun: good.rerun,
    seed: good.seed,
    options: good.options,
    git: good.git,
    scope: good.scope,
    contract: good.contract,
    startedAt: good.startedAt,
    fault: { name: "kill", variant: "half-way", armed: true },
  });
  assertEquals(runRecordSchema.parse(record), record);
  assertEquals(Object.keys(record).sort(), Object.keys(good).sort());
  assertEquals(record.fault, {
    name: "kill",
    variant: "half-way",
    armed: true,
    delivered: false,
    evidence: [],
    provenAtMs: null,
  });
  for (
    const name of [
      "endedAt",
      "interrupted",
      "notApplicable",
      "control",
      "controlSkipped",
      "start",
      "kill",
      "checkpoint",
      "effects",
      "quiet",
      "recoveryMs",
      "containment",
      "project",
    ] as const
  ) assertEquals(record[name], null, name);
  for (const name of ["artifacts", "artifactsAtFault", "attempts", "findings"] as const) {
    assertEquals(record[name], [], name);
  }
});

Deno.test("toolInfo() says which program this is", () => {
  assertEquals(toolInfo(), {
    version: VERSION,
    deno: Deno.version.deno,
    os: Deno.build.os,
    arch: Deno.build.arch,
    compiled: Deno.build.standalone,
  });
});

/**
 * The report as JUnit XML, for machines that colour a build.
 *
 * What becomes what: `pass` is a passed test, `fail` a `<failure>`, `unproven` an `<error
 * type="unproven">` (the test did not come to an answer, so a build must not go green), and
 * `not-applicable` is `<skipped>`. A drill run has an expectation from the answer key, and that
 * decides: a broken half that fails as it should is a passed test. A set without a single run, or
 * one that was interrupted, holds one more test that is an error.
 *
 * @module
 */
import type { RunSet } from "../record.ts";
import { factsOf, type Run, setSentence } from "./facts.ts";
import { type Markup, markup, multiline } from "./markup.ts";

interface Case {
  outcome: "passed" | "failed" | "error" | "skipped";
  text: Markup;
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(3);
}

function outcomeOf(run: Run): { outcome: Case["outcome"]; type: string; message: string } {
  const { grade, expected } = run;
  const { reason, unexpected } = factsOf(run);
  if (grade.containmentBroken) return { outcome: "failed", type: "containment", message: reason };
  if (expected !== null) {
    return unexpected === null
      ? { outcome: "passed", type: "", message: "" }
      : { outcome: "failed", type: "unexpected", message: `${unexpected}. ${reason}` };
  }
  switch (grade.verdict) {
    case "pass":
      return { outcome: "passed", type: "", message: "" };
    case "fail":
      return { outcome: "failed", type: grade.reasonId ?? "fail", message: reason };
    case "unproven":
      return { outcome: "error", type: "unproven", message: reason };
    case "not-applicable":
      return { outcome: "skipped", type: "", message: reason };
  }
}

function details(run: Run): string {
  const checks = run.grade.checks.map((check) =>
    `${check.state.padEnd(7)} ${check.id}: ${check.text}`
  );
  return [...checks, "", `Run it again: ${run.record.rerun}`].join("\n");
}

function element(
  outcome: Case["outcome"],
  type: string,
  message: string,
  text: Markup,
): Markup | null {
  switch (outcome) {
    case "passed":
      return null;
    case "failed":
      return markup`<failure type="${type}" message="${message}">${text}</failure>`;
    case "error":
      return markup`<error type="${type}" message="${message}">${text}</error>`;
    case "skipped":
      return markup`<skipped message="${message}"/>`;
  }
}

function runCase(run: Run, command: string): Case {
  const { record } = run;
  const { outcome, type, message } = outcomeOf(run);
  const text = multiline(details(run));
  return {
    outcome,
    text: markup`  <testcase classname="failure-lab.${command}" name="${
      factsOf(run).title
    }" time="${seconds(record.cost.wallMs)}">
    <properties>
      <property name="id" value="${record.id}"/>
      <property name="seed" value="${record.seed}"/>
      <property name="verdict" value="${run.grade.verdict}"/>
      <property name="rerun" value="${record.rerun}"/>
    </properties>
    ${element(outcome, type, message, text) ?? markup`<system-out>${text}</system-out>`}
  </testcase>
`,
  };
}

function wholenessCases(runSet: RunSet): Case[] {
  const problem = runSet.interrupted !== null
    ? `Not complete: ${runSet.interrupted}`
    : runSet.runs.length === 0
    ? setSentence(runSet)
    : null;
  if (problem === null) return [];
  return [{
    outcome: "error",
    text:
      markup`  <testcase classname="failure-lab.${runSet.command}" name="all runs were done" time="0">
    <error type="unproven" message="${problem}"/>
  </testcase>
`,
  }];
}

/** A set of runs as JUnit XML. */
export function junitReport(runSet: RunSet): string {
  const cases = [
    ...runSet.runs.map((run) => runCase(run, runSet.command)),
    ...wholenessCases(runSet),
  ];
  const count = (outcome: Case["outcome"]) =>
    cases.filter((each) => each.outcome === outcome).length;
  const time = seconds(runSet.runs.reduce((sum, run) => sum + run.record.cost.wallMs, 0));
  const numbers = markup`tests="${cases.length}" failures="${count("failed")}" errors="${
    count("error")
  }" skipped="${count("skipped")}" time="${time}"`;
  return markup`<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="failure-lab" ${numbers}>
 <testsuite name="failure-lab ${runSet.command}" ${numbers} timestamp="${
    runSet.startedAt.replace(/(\.\d+)?Z$/, "")
  }">
${cases.map((each) => each.text)} </testsuite>
</testsuites>
`.text;
}

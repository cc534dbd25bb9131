/**
 * `failure-lab self-test [MODULE]`.
 *
 * @module
 */
import {
  type DrillRun,
  kitPath,
  loadAnswerKey,
  loadDrills,
  planRuns,
  runDrills,
} from "../../../drills/mod.ts";
import {
  selfTestAllowlist,
  selfTestCheckpoint,
  selfTestDeadline,
  selfTestEvidence,
  selfTestHeartbeat,
  selfTestLease,
  selfTestOutbox,
  type SelfTestResult,
} from "../../../repairs/mod.ts";
import type { RunSet } from "../../record.ts";
import { EXIT_CODES } from "../../verdict.ts";
import type { Command, CommandContext } from "../command.ts";
import { UsageError } from "../errors.ts";
import { visible } from "../output.ts";
import { didYouMean } from "../suggest.ts";
import { LAB_MODULES, selfTestLab } from "./_lab_self_testing.ts";

const DRILLS = "drills";

/** The repairs' own tests, by name. */
const SELF_TESTS: Readonly<Record<string, () => Promise<SelfTestResult>>> = {
  deadline: selfTestDeadline,
  checkpoint: selfTestCheckpoint,
  lease: selfTestLease,
  evidence: selfTestEvidence,
  heartbeat: selfTestHeartbeat,
  allowlist: selfTestAllowlist,
  outbox: selfTestOutbox,
};

function modules(): string[] {
  return [...LAB_MODULES, ...Object.keys(SELF_TESTS), DRILLS];
}

/** Shows that this machine can be trusted to grade. */
export const command: Command = {
  name: "self-test",
  summary: "Check on this machine every module, every repair and every drill",
  usage: "self-test [MODULE] [flags]",
  description:
    "Tests the lab's modules, the seven repairs and all drills: the broken halves must " +
    "fail for their own reasons, the repaired ones pass, and those with the failure switched off " +
    "be unproven. If anything differs, it says what, and ends with 4: on this machine nothing " +
    "should be graded.",
  flags: [{ kind: "boolean", name: "json", summary: "Print the results as JSON" }],
  positionals: [{
    name: "MODULE",
    summary: "only this one: a repair (lease), a part of the lab (reaper), or drills",
  }],
  examples: [
    { line: "failure-lab self-test", does: "Everything" },
    { line: "failure-lab self-test lease", does: "One repair" },
    { line: "failure-lab self-test drills", does: "Only the drills against their answer key" },
  ],
  async run(context) {
    const { positionals, flags, out } = context;
    const [asked] = positionals;
    if (asked !== undefined && !modules().includes(asked)) {
      throw new UsageError(
        `There is no module "${visible(asked).slice(0, 60)}".${didYouMean(asked, modules())} ` +
          `They are: ${modules().join(", ")}.`,
      );
    }
    const isJson = flags.boolean("json");
    const results: SelfTestResult[] = [];
    for (const module of asked === undefined ? modules() : [asked]) {
      if (context.signal.aborted) break;
      out.progress(`self-test: ${module}`);
      const result = await testModule(module, context);
      results.push(result);
      if (!isJson) printResult(context, result);
    }
    const bad = results.filter((result) => !result.ok);
    const isOk = bad.length === 0 && !context.signal.aborted;
    if (isJson) out.out(JSON.stringify({ ok: isOk, results }, null, 2));
    else out.out(isOk ? "All well: this machine can be trusted to grade." : refusal(bad));
    return isOk ? EXIT_CODES.pass : EXIT_CODES.environment;
  },
};

function refusal(bad: readonly SelfTestResult[]): string {
  const names = bad.map((result) => result.module).join(", ");
  return names === ""
    ? "Interrupted: not everything was tested, so nothing is said."
    : `NOT WELL: ${names}. On this machine nothing should be graded.`;
}

async function testModule(module: string, context: CommandContext): Promise<SelfTestResult> {
  if (module === DRILLS) return await testDrills(context);
  const repair = Object.hasOwn(SELF_TESTS, module) ? SELF_TESTS[module] : undefined;
  if (repair === undefined) return await selfTestLab(module);
  try {
    return await repair();
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    return { module, ok: false, steps: [{ name: "it runs", ok: false, detail }] };
  }
}

function printResult({ out }: CommandContext, { module, ok, steps }: SelfTestResult): void {
  const word = ok ? out.style.green("ok ") : out.style.red("BAD");
  out.out(`${word}  ${module.padEnd(12)} ${steps.length} ${steps.length === 1 ? "step" : "steps"}`);
  for (const step of steps.filter((each) => !each.ok)) {
    out.out(`     ${visible(step.name)}: ${visible(step.detail)}`);
  }
}

/** All drills, three ways, each with its first variant, against the answer key. */
async function testDrills(context: CommandContext): Promise<SelfTestResult> {
  const { clock, signal, out, rerun } = context;
  const runs = planRuns(loadDrills(), {
    modes: ["broken", "repaired", "disarmed"],
    variants: "first",
  });
  const { runSet } = await runDrills({
    command: "self-test",
    runs,
    key: loadAnswerKey(),
    rerun,
    seed: 0,
    label: null,
    git: null,
    kitPath: kitPath(),
    home: Deno.env.get("HOME") ?? null,
    keep: false,
    clock,
    signal,
    onBegin: ({ drill, mode }, index) =>
      out.progress(`self-test: drills ${index + 1}/${runs.length}: ${drill.id}, ${mode}`),
  });
  const steps = runSet.runs.map((run, index) => stepOf(run, runs[index]));
  return {
    module: DRILLS,
    ok: steps.length === runs.length && steps.every((step) => step.ok) && runSet.exitCode === 0,
    steps,
  };
}

function stepOf(run: RunSet["runs"][number], plan: DrillRun | undefined) {
  const { grade, expected, record } = run;
  const name = `${record.subject}, ${plan?.variant}, ${plan?.mode}`;
  if (expected === null) return { name, ok: true, detail: record.notApplicable ?? "" };
  const words = (verdict: string, reasonId: string | null) =>
    reasonId === null ? verdict : `${verdict} (${reasonId})`;
  const wanted = words(expected.verdict, expected.reasonId);
  const got = words(grade.verdict, grade.reasonId);
  return {
    name,
    ok: expected.met,
    detail: expected.met ? got : `expected ${wanted}, got ${got}: ${grade.reason}`,
  };
}

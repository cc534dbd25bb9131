/**
 * Running a drill's job under the repair `deadline`, for several scenes.
 *
 * @module
 */
import { OUTPUTS_GLOB, systemTool, type WorkerPlan } from "../../lab/mod.ts";
import { type DeadlineResult, runWithDeadline } from "../../repairs/mod.ts";
import type { DrillStage } from "../stage.ts";

/** A job that ran under the repair. */
export interface Deadline {
  result: DeadlineResult;
  startedMs: number;
  said: string;
}

/** The command that does the same. */
export function deadlineWords(stage: DrillStage, retries: number): string[] {
  const { idleMs, runMs } = stage.limits;
  const limits = ["--idle", `${idleMs}ms`, "--total", `${runMs}ms`, "--retries", String(retries)];
  const progress = ["--progress", OUTPUTS_GLOB];
  return ["failure-lab", "repair", "deadline", ...limits, ...progress, "--", "sh", "worker.sh"];
}

/** Runs the job under the repair. */
export async function runUnderDeadline(
  stage: DrillStage,
  plan: WorkerPlan,
  options: { argv?: readonly string[]; retries: number; settleMs?: number; idleMs?: number },
): Promise<Deadline> {
  const { runMs, graceMs, quietMs } = stage.limits;
  const startedMs = stage.options.journal.atMs();
  const said: string[] = [];
  const result = await runWithDeadline({
    ...stage.wrapped(plan, options.argv),
    idleMs: options.idleMs ?? stage.limits.idleMs,
    totalMs: runMs,
    progress: [OUTPUTS_GLOB],
    retries: options.retries,
    // Through us, so that their end can be seen; the worker prints into its own log anyway.
    output: "hold",
    graceMs,
    quietMs,
    settleMs: options.settleMs ?? graceMs,
    say: (text) => said.push(text),
    stop: stage.stop,
    clock: stage.options.clock,
  });
  return { result, startedMs, said: said.join("\n") };
}

/**
 * On a busy machine the repair can be faster than the lab's own look. Then what it saw and ended is
 * the evidence: who was alive when the limit was over, or after the leader's death.
 */
export function deliverLate(stage: DrillStage, { result }: Deadline): void {
  const [first] = result.attempts;
  const targets = first?.kill?.signals[0]?.targets ?? 0;
  if (!stage.armed || stage.record.fault.delivered || first === undefined || targets === 0) return;
  stage.deliver([
    first.limit === null
      ? { what: "the leader was killed", value: first.end.signal }
      : { what: `no new output for the ${first.limit} limit`, value: stage.limits.idleMs },
    { what: `and ${targets} process(es) of the job were alive`, value: targets },
  ]);
}

/** The first attempt is the run that failed, and how the repair ended it is the kill. */
export function noteFirstAttempt(stage: DrillStage, { result, startedMs }: Deadline): void {
  const [first] = result.attempts;
  if (first === undefined) return;
  stage.record.start = {
    argv: [systemTool("sh"), "../worker.sh"],
    startedMs,
    endedMs: startedMs + first.elapsedMs,
    exitCode: first.end.exitCode,
    signal: first.end.signal,
    limitHit: first.limit === null ? null : first.limit === "idle" ? "idle" : "run",
    endedByLab: first.kill !== null,
    stdoutBytes: 0,
    stderrBytes: 0,
    stdoutTail: "",
    stderrTail: "",
    startError: null,
  };
  if (first.kill === null) return;
  const signals = first.kill.signals.map((each) => ({ ...each, atMs: each.atMs + startedMs }));
  stage.record.kill = { ...first.kill, signals };
}

/** Whether the repair let the job run to its own end. */
export function findLeftAlone(stage: DrillStage, { result }: Deadline): void {
  const [first] = result.attempts;
  const wasLeft = result.attempts.length === 1 && first?.limit === null && first.kill === null;
  stage.find(
    "left-alone",
    wasLeft,
    wasLeft
      ? "The repair let a healthy job run to its own end: no signal, no second start"
      : "The repair ended or restarted a healthy job",
  );
}

/**
 * Starts a job stopped and lets it run in very small steps, so that a job that makes all its
 * outputs within a few milliseconds can still be struck after the k-th one.
 *
 * @module
 */
import { listArtifacts, SYSTEM_PATH, systemTool } from "../lab/mod.ts";
import type { Stage } from "./stage.ts";
import type { StartResult } from "./stage_types.ts";
import type { RunUntil } from "./strike.ts";

// The job's shell stops itself before it becomes the job, so nothing runs before the first step.
const WRAPPER = 'kill -s STOP $$; exec "$@"';
// One long-lived shell sends the signals: its built-in kill takes microseconds, a process 3 ms.
// Nothing stands between CONT and STOP but the counting: a redirection would cost 20 microseconds.
const STEPPER = `
while read -r spins group; do
  kill -s CONT -- -$group
  while [ $spins -gt 0 ]; do spins=$((spins - 1)); done
  kill -s STOP -- -$group
  echo done
done
`;
// A step begins with nothing between its two signals. While nothing new appears it grows, up to
// about a millisecond, because a job that only starts up needs no care.
const QUIET_STEPS_BEFORE_GROWTH = 50;
const GROWTH = 1.3;
const SPINS_MAX = 1000;

/** The command, stopped before its first instruction. */
export function stoppedAtFirst(argv: readonly string[]): string[] {
  return [systemTool("sh"), "-c", WRAPPER, "sh", ...argv];
}

/**
 * Runs a command in steps until its condition holds; it is stopped then.
 *
 * @param run What to run; its condition is asked with the outputs after every step.
 * @param attempt Counts from 0; each further try goes in smaller steps.
 */
export async function startPaced(
  stage: Stage,
  { name, argv, reached }: RunUntil,
  attempt: number,
): Promise<StartResult> {
  const spinsMax = SPINS_MAX / 2 ** attempt;
  const { driver, clock } = stage.options;
  const spawned = await stage.begin(name, stoppedAtFirst(argv));
  if (!("pid" in spawned)) {
    if (name === "start") stage.record.start = spawned;
    return { spawned: null, ending: "not-started", frozen: [] };
  }
  await using stepper = startStepper(spawned.pid);
  const endMs = clock.nowMs() + stage.contract.limits.runSeconds * 1000;
  let quietSteps = 0;
  let spins = 0;
  let seen = -1;
  while (true) {
    const outputs = listArtifacts(stage.spec);
    stage.onOutputs?.(outputs);
    if (reached(outputs)) {
      const ending = spawned.ended === null ? "until" : "ended";
      return { spawned, ending, frozen: ending === "until" ? await driver.alive() : [] };
    }
    if (spawned.ended !== null) return { spawned, ending: "ended", frozen: [] };
    if (driver.aborted) return { spawned, ending: "aborted", frozen: [] };
    if (clock.nowMs() >= endMs) {
      spawned.noteEnd({ limitHit: "run" });
      return { spawned, ending: "run", frozen: [] };
    }
    quietSteps = outputs.length === seen ? quietSteps + 1 : 0;
    if (outputs.length !== seen) spins = 0;
    else if (quietSteps > QUIET_STEPS_BEFORE_GROWTH) {
      spins = Math.min(spinsMax, (spins + 1) * GROWTH);
    }
    seen = outputs.length;
    await stepper.step(Math.floor(spins));
  }
}

function startStepper(group: number) {
  const child = new Deno.Command(systemTool("sh"), {
    args: ["-c", STEPPER],
    env: { PATH: SYSTEM_PATH },
    clearEnv: true,
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const writer = child.stdin.getWriter();
  const reader = child.stdout.getReader();
  const encoder = new TextEncoder();
  return {
    async step(spins: number): Promise<void> {
      await writer.write(encoder.encode(`${spins} ${group}\n`));
      await reader.read();
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await writer.close().catch(() => {});
      await reader.cancel().catch(() => {});
      await child.status;
    },
  };
}

// Running drills with the built program, and seeing that they leave nothing behind.

import { assertEquals } from "@std/assert";
import type { RunSet } from "../../lab/record.ts";
import { waitUntil } from "../../lab/clock.ts";
import type { Bench } from "./binary.ts";

/** Everything that a drill starts has this in its environment: its temp dir is inside the lab. */
async function strays(bench: Bench): Promise<string[]> {
  const args = Deno.build.os === "darwin" ? ["-A", "-E", "-ww"] : ["axeww"];
  const { stdout } = await new Deno.Command("ps", { args: [...args, "-o", "pid=,stat=,args="] })
    .output();
  return new TextDecoder().decode(stdout).split("\n")
    .filter((line) => line.includes(`TMPDIR=${bench.temp}/failure-lab-`))
    .filter((line) => !/^\s*\d+\s+Z/.test(line))
    .map((line) => line.slice(0, 80));
}

/** Asserts that no process and no folder of a drill is left. */
export async function assertNoStrays(bench: Bench, limitMs = 3000): Promise<void> {
  await waitUntil(async () => (await strays(bench)).length === 0, { limitMs });
  assertEquals(await strays(bench), []);
  await bench.assertNothingLeft(limitMs);
}

/** Runs drills to their end. A long set may take its time on a busy machine. */
export async function drills(
  bench: Bench,
  args: readonly string[],
): Promise<{ code: number; set: RunSet; stderr: string }> {
  const { code, set, stderr } = await bench.runJson(["drills", ...args], {
    limitMs: 600_000,
    cwd: bench.path,
  });
  await assertNoStrays(bench);
  return { code, set, stderr };
}

/** One line for each run that is not as the answer key says. */
export function unmet(set: RunSet): string[] {
  return set.runs.filter((run) => run.expected !== null && !run.expected.met).map((run) => {
    const { record, grade, expected } = run;
    return `${record.id}: expected ${expected?.verdict} (${expected?.reasonId}), got ` +
      `${grade.verdict} (${grade.reasonId}): ${grade.reason}`;
  });
}

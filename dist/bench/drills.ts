// How long all eleven drills take, in both halves, and how much memory that needs at most.

import { type Bench, type BenchContext, median, type Row } from "./bench.ts";

const RUNS = 3;
const SAMPLE_EVERY_MS = 40;

/** The demo and all drills: time and memory of the program itself. */
export const drills: Bench = {
  name: "drills",
  measure: async (context) => [
    ...await measured(context, "demo", ["demo"], { seconds: 4, megabytes: 150 }),
    ...await measured(context, "all 22 halves", ["drills"], { seconds: 10, megabytes: 200 }),
  ],
};

async function measured(
  { binary, dir }: BenchContext,
  name: string,
  args: string[],
  bars: { seconds: number; megabytes: number },
): Promise<Row[]> {
  const times: number[] = [];
  let peakMegabytes = 0;
  for (let run = 0; run < RUNS; run++) {
    const startMs = performance.now();
    const child = new Deno.Command(binary, {
      args: [...args, "--report", `${dir}/${args[0]}-${run}`],
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).spawn();
    let isOver = false;
    const status = child.status.finally(() => isOver = true);
    while (!isOver) {
      peakMegabytes = Math.max(peakMegabytes, await residentMegabytes(child.pid));
      await new Promise((resolve) => setTimeout(resolve, SAMPLE_EVERY_MS));
    }
    if (!(await status).success) throw new Error(`${args.join(" ")} failed`);
    times.push((performance.now() - startMs) / 1000);
  }
  const seconds = median(times);
  const row = (what: string, figure: number, unit: string, bar: number): Row => ({
    name: `${name}: ${what}`,
    ours: `${figure.toFixed(1)} ${unit}`,
    reference: "-",
    figure,
    bar,
  });
  return [
    row("time", seconds, "s", bars.seconds),
    row("most memory", peakMegabytes, "MB", bars.megabytes),
  ];
}

/** Memory of one process in MB, as ps tells it; 0 when it is gone. */
async function residentMegabytes(pid: number): Promise<number> {
  const { stdout } = await new Deno.Command("ps", {
    args: ["-o", "rss=", "-p", String(pid)],
    stderr: "null",
  }).output();
  return Number(new TextDecoder().decode(stdout).trim() || 0) * 1024 / 1_000_000;
}

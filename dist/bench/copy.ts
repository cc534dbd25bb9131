// How long the copy of a project of 10,000 files takes, hashing included, against `cp -a`.

import { fileWorkMs, makeManyFiles, takeTurns, timeOf } from "./_many_files.ts";
import type { Bench } from "./bench.ts";

const TURNS = 5;

/** Copying 10,000 files. */
export const copy: Bench = {
  name: "copy",
  measure: async (context) => {
    const from = `${context.dir}/from`;
    const lab = `${context.dir}/failure-lab-bench`;
    await makeManyFiles(from);
    await Deno.mkdir(lab);
    const ours = (how: string) => (turn: number) =>
      fileWorkMs(context, ["copy", how, from, `${lab}/${how}-${turn}`]);
    const [cpMs = NaN, helpedMs = NaN, aloneMs = NaN] = await takeTurns([
      (turn) => timeOf("cp", ["-a", from, `${lab}/cp-${turn}`]),
      ours("helped"),
      ours("alone"),
    ], TURNS);
    const row = (name: string, tookMs: number, bar: number | undefined) => ({
      name: `copy of 10,000 files${name} / cp -a (ratio)`,
      ours: `${tookMs.toFixed(0)} ms`,
      reference: `${cpMs.toFixed(0)} ms`,
      figure: tookMs / cpMs,
      bar,
    });
    return [row("", helpedMs, 1.5), row(" on one thread", aloneMs, undefined)];
  },
};

// How long the copy of a project of 10,000 files takes against `cp -a`, with rights narrowed to it.

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
    const ours = (what: string, how: string) => (turn: number) =>
      fileWorkMs(context, [what, how, from, `${lab}/${what}-${how}-${turn}`]);
    const [cpMs = NaN, copyMs = NaN, aloneMs = NaN, hashedMs = NaN] = await takeTurns([
      (turn) => timeOf("cp", ["-a", from, `${lab}/cp-${turn}`]),
      ours("copy", "helped"),
      ours("copy", "alone"),
      ours("copy-hashed", "helped"),
    ], TURNS);
    const row = (how: string, tookMs: number, bar: number | undefined) => ({
      name: `copy of 10,000 files${how} / cp -a (ratio)`,
      ours: `${tookMs.toFixed(0)} ms`,
      reference: `${cpMs.toFixed(0)} ms`,
      figure: tookMs / cpMs,
      bar,
    });
    return [
      row("", copyMs, 1.5),
      row(", one thread", aloneMs, undefined),
      row(", with hashes", hashedMs, undefined),
    ];
  },
};

// How long the look at a watch list of 10,000 files takes against `find | xargs sha256sum`. A run
// looks before and after: the figure is the mean of the two, in one program.

import { fileWorkMs, makeManyFiles, takeTurns, timeOf } from "./_many_files.ts";
import type { Bench } from "./bench.ts";

const TURNS = 9;

/** Hashing 10,000 files. */
export const hash: Bench = {
  name: "hash",
  measure: async (context) => {
    const from = `${context.dir}/from`;
    await makeManyFiles(from);
    const pipeline = 'find "$1" -type f -print0 | xargs -0 sha256sum';
    const [shaMs = NaN, helpedMs = NaN, aloneMs = NaN] = await takeTurns([
      () => timeOf("sh", ["-c", pipeline, "sh", from]),
      async () => await fileWorkMs(context, ["looks", "helped", from]) / 2,
      async () => await fileWorkMs(context, ["looks", "alone", from]) / 2,
    ], TURNS);
    const row = (how: string, tookMs: number, bar: number | undefined) => ({
      name: `hashes of 10,000 files${how} / find | xargs sha256sum (ratio)`,
      ours: `${tookMs.toFixed(0)} ms`,
      reference: `${shaMs.toFixed(0)} ms`,
      figure: tookMs / shaMs,
      bar,
    });
    return [row("", helpedMs, 1), row(", one thread", aloneMs, undefined)];
  },
};

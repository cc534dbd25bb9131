// How long the binary takes to say its version, next to a bare program of the same Deno.

import { type Bench, interleavedMs } from "./bench.ts";

const RUNS = 40;

/** Start-up time against a compiled hello world. */
export const startup: Bench = {
  name: "startup",
  measure: async ({ binary, compileBare }) => {
    const hello = await compileBare(`console.log("hello");\n`);
    const [oursMs = NaN, bareMs = NaN] = await interleavedMs([
      { program: binary, args: ["--version"] },
      { program: hello, args: [] },
    ], RUNS);
    return [{
      name: "start: failure-lab --version / hello world (ratio)",
      ours: `${oursMs.toFixed(1)} ms`,
      reference: `${bareMs.toFixed(1)} ms`,
      figure: oursMs / bareMs,
      bar: 1.3,
    }];
  },
};

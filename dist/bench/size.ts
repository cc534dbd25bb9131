// How large the one file is that people download.

import type { Bench } from "./bench.ts";

const MEGABYTE = 1_000_000;

/** Size of the binary. */
export const size: Bench = {
  name: "size",
  measure: async ({ binary, compileBare }) => {
    const ours = (await Deno.stat(binary)).size / MEGABYTE;
    const bare = (await Deno.stat(await compileBare("export {};\n"))).size / MEGABYTE;
    return [{
      name: "size of the binary (MB)",
      ours: `${ours.toFixed(1)} MB`,
      reference: `${bare.toFixed(1)} MB`,
      figure: ours,
      bar: 100,
    }];
  },
};

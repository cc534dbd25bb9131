// The Deno that runs this task, with the import source it was told to use.

import { chooseSource, importArgs, type ImportSource, probeJsr } from "./import_source.ts";
import { PROGRAM_FLAGS } from "./flags.ts";
import { CACHE_DIR, ROOT } from "./paths.ts";
import { note } from "./say.ts";

/** How to call Deno so that @std and zod resolve. */
export interface Toolchain {
  /** The running Deno. */
  deno: string;
  /** Where @std comes from. */
  source: ImportSource;
  /** `--config`, `--lock` and, for npm, `--import-map`. */
  importArgs: string[];
  /** Added to the environment of each child. */
  env: Record<string, string>;
}

/** Chooses the import source and prints which one was taken. */
export async function makeToolchain(): Promise<Toolchain> {
  const { source, reason } = await chooseSource({
    wanted: Deno.env.get("FAILURE_LAB_IMPORTS"),
    probe: probeJsr,
    cacheFile: `${CACHE_DIR}/import_source.json`,
    nowMs: Date.now(),
  });
  note(`imports: ${source} (${reason})`);
  const args = await importArgs(source);
  const env: Record<string, string> = {
    // A program that runs from source and must start itself again reads this: what stands
    // between the path of Deno and the program's own arguments.
    FAILURE_LAB_SELF_ARGS: JSON.stringify(["run", ...PROGRAM_FLAGS, ...args, `${ROOT}/main.ts`]),
  };
  // deno.json names JSR also when the map replaces it: make a look-up there fail at once.
  if (source === "npm") env["JSR_URL"] = "http://127.0.0.1:1";
  return { deno: Deno.execPath(), source, importArgs: args, env };
}

/** The arguments that start the program from source. */
export function programArgs(tools: Toolchain): string[] {
  return ["run", ...PROGRAM_FLAGS, ...tools.importArgs, `${ROOT}/main.ts`];
}

// The binary in dist/, built anew whenever it no longer stands for the sources.

import { compile, readRecord } from "./compile.ts";
import { BINARY, ROOT } from "./paths.ts";
import { sourceStamp } from "./stamp.ts";
import { TaskError } from "./task_error.ts";
import type { Toolchain } from "./toolchain.ts";

/** Builds the binary unless it stands for the sources as they are. Returns what went wrong. */
export async function freshBinary(tools: Toolchain): Promise<string | undefined> {
  const record = await readRecord("failure-lab");
  if (record?.stamp === await sourceStamp(ROOT, tools.source)) return undefined;
  // An old binary must never be tested in place of the new one.
  await Deno.remove(BINARY).catch(() => {});
  try {
    const code = await compile(tools, []);
    return code === 0 ? undefined : `deno task compile ended with exit code ${code}`;
  } catch (error) {
    if (error instanceof TaskError) return error.message;
    throw error;
  }
}

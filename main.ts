/**
 * failure-lab: shows how unattended jobs recover from failures, and tests whether yours does.
 *
 * This file maps a command line to an exit code. `--version` is answered from here, so that it
 * loads nothing else; everything else is loaded when it is wanted.
 *
 * @module
 */
import { VERSION } from "./lab/version.ts";

/** Exit code for a defect of this program; see `EXIT_CODES` in lab/verdict.ts. */
const INTERNAL_ERROR = 70;

function isVersionOnly(args: readonly string[]): boolean {
  return args.length === 1 && (args[0] === "--version" || args[0] === "-V");
}

async function main(args: string[]): Promise<number> {
  if (isVersionOnly(args)) {
    // deno-lint-ignore no-console
    console.log(`failure-lab ${VERSION}`);
    return 0;
  }
  const { run } = await import("./lab/cli/mod.ts");
  return await run(args);
}

async function printDefect(error: unknown): Promise<void> {
  const { printUnexpectedError } = await import("./lab/cli/output.ts");
  printUnexpectedError(error);
}

if (import.meta.main) {
  let code = INTERNAL_ERROR;
  try {
    code = await main(Deno.args);
  } catch (error) {
    await printDefect(error);
  }
  // Not only Deno.exitCode: something that still waits must not keep a finished program alive.
  Deno.exit(code);
}

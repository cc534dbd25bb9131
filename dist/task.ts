// The one entry of all tasks: deno.json starts this file with the name of the task. It imports
// nothing remote, so it also starts where no registry can be reached.
//
// Exit code: that of the command it ran · 2 called wrongly · 4 this machine lacks something.

import { bench } from "./bench.ts";
import { check } from "./check_task.ts";
import { run } from "./child.ts";
import { compile } from "./compile.ts";
import { ROOT } from "./paths.ts";
import { note } from "./say.ts";
import { EXIT_USAGE, nearest, TaskError } from "./task_error.ts";
import { test } from "./test_task.ts";
import { makeToolchain, programArgs, type Toolchain } from "./toolchain.ts";

type Task = (tools: Toolchain, args: string[]) => Promise<number>;

const TASKS: Record<string, Task> = {
  demo: (tools, args) => fromSource(tools, ["demo", ...args]),
  run: fromSource,
  bench,
  check,
  compile,
  test,
  ok: async (tools, args) => {
    const code = await check(tools, []);
    return code === 0 ? await test(tools, args) : code;
  },
};

/** The names after `deno task`. */
export const TASK_NAMES: readonly string[] = Object.keys(TASKS);

function fromSource(tools: Toolchain, args: string[]): Promise<number> {
  // deno task changes to the root of the checkout; paths that a person typed are relative to
  // where the person stands.
  const cwd = Deno.env.get("INIT_CWD") ?? Deno.cwd();
  return run(tools.deno, [...programArgs(tools), ...args], { cwd, env: tools.env });
}

async function main(args: string[]): Promise<number> {
  const [name = "", ...rest] = args;
  const task = Object.hasOwn(TASKS, name) ? TASKS[name] : undefined;
  if (task === undefined) {
    const guess = nearest(name, TASK_NAMES);
    throw new TaskError(
      `Cannot run the task "${name}": the tasks are ${TASK_NAMES.join(", ")}` +
        (guess === undefined ? "" : `. Did you mean "deno task ${guess}"?`),
      EXIT_USAGE,
    );
  }
  Deno.chdir(ROOT);
  return await task(await makeToolchain(), rest);
}

if (import.meta.main) {
  try {
    Deno.exitCode = await main(Deno.args);
  } catch (error) {
    if (!(error instanceof TaskError)) throw error;
    note(`error: ${error.message}`);
    Deno.exitCode = error.exitCode;
  }
}

// `deno task check`: everything that can be judged without running the program.

import { run } from "./child.ts";
import { listFiles } from "./files.ts";
import { CACHE_DIR, ROOT } from "./paths.ts";
import { note } from "./say.ts";
import type { Toolchain } from "./toolchain.ts";

interface Step {
  name: string;
  args: string[];
  fix: string;
}

/** Runs all steps, also after one has failed, and says at the end which ones did. */
export async function check(tools: Toolchain, _args: string[]): Promise<number> {
  const doors = (await listFiles(ROOT)).filter((path) =>
    path === "main.ts" || path === "mod.ts" || path.endsWith("/mod.ts")
  );
  const steps: Step[] = [
    { name: "fmt", args: ["fmt", "--check"], fix: "run: deno fmt" },
    { name: "lint", args: ["lint"], fix: "correct the lines above" },
    { name: "types", args: ["check", ...tools.importArgs, "."], fix: "correct the lines above" },
  ];
  if (doors.length > 0) {
    steps.push({
      name: "docs",
      args: ["doc", "--lint", ...tools.importArgs, ...doors],
      fix: "give each exported symbol a comment and an explicit type",
    });
  }
  const failed: string[] = [];
  // deno lint takes no --lock: whatever it adds to the committed lock is taken back.
  const lockText = await Deno.readTextFile(`${ROOT}/deno.lock`);
  for (const step of steps) {
    note(`check: ${step.name}`);
    const code = await run(tools.deno, step.args, { cwd: ROOT, env: tools.env });
    if (code !== 0) failed.push(`${step.name} (${step.fix})`);
  }
  if (await Deno.readTextFile(`${ROOT}/deno.lock`) !== lockText) {
    await Deno.writeTextFile(`${ROOT}/deno.lock`, lockText);
  }
  const lockProblem = await staleLock(tools);
  if (lockProblem !== undefined) failed.push(lockProblem);
  note(failed.length === 0 ? "check: all steps passed" : `check failed: ${failed.join("; ")}`);
  return failed.length === 0 ? 0 : 1;
}

/** The committed npm lock must name every package in use, else a clone resolves it anew. */
async function staleLock(tools: Toolchain): Promise<string | undefined> {
  if (tools.source !== "npm") return undefined;
  const used = packages(await Deno.readTextFile(`${CACHE_DIR}/npm.lock`));
  const locked = packages(await Deno.readTextFile(`${ROOT}/dist/npm.lock`));
  const missing = used.filter((name) => !locked.includes(name));
  return missing.length === 0
    ? undefined
    : `lock (not in dist/npm.lock: ${
      missing.join(", ")
    }; run: cp dist/.cache/npm.lock dist/npm.lock)`;
}

function packages(lockText: string): string[] {
  const lock = JSON.parse(lockText) as { npm?: Record<string, unknown> };
  return Object.keys(lock.npm ?? {});
}

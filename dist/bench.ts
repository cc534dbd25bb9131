// `deno task bench [NAME…]`: all *_bench.ts files, then the measurements of dist/bench/list.ts,
// taken in one run on one machine. Figures are ratios wherever there is something to compare with.
//
// Exit code: 0 each bar kept · 1 a bar missed or a measurement broke · 2 unknown name.

import type { Bench, Row } from "./bench/bench.ts";
import { benchTable } from "./bench/bench.ts";
import { BENCHES } from "./bench/list.ts";
import { run } from "./child.ts";
import { chooseCompiler, compilerOptions } from "./compiler.ts";
import { listFiles } from "./files.ts";
import { PROGRAM_FLAGS } from "./flags.ts";
import { freshBinary } from "./fresh_binary.ts";
import { BINARY, ROOT } from "./paths.ts";
import { note, say } from "./say.ts";
import { hostTarget } from "./targets.ts";
import { EXIT_ENVIRONMENT, EXIT_USAGE, nearest, TaskError } from "./task_error.ts";
import type { Toolchain } from "./toolchain.ts";

/** Runs the chosen measurements, all without arguments. */
export async function bench(tools: Toolchain, names: string[]): Promise<number> {
  const chosen = choose(names);
  const problem = await freshBinary(tools);
  if (problem !== undefined) throw new TaskError(problem, 1);
  let code = 0;
  const files = (await listFiles(ROOT)).filter((path) => path.endsWith("_bench.ts"));
  if (names.length === 0 && files.length > 0) {
    code = await run(
      tools.deno,
      ["bench", ...PROGRAM_FLAGS, ...tools.importArgs, ...files],
      { cwd: ROOT, env: { ...tools.env, FAILURE_LAB_BINARY: BINARY } },
    );
  }
  const { text, overBar } = benchTable(await measureAll(tools, chosen));
  say(text);
  if (overBar.length > 0) note(`error: over the bar: ${overBar.join("; ")}`);
  return code !== 0 || overBar.length > 0 ? 1 : 0;
}

function choose(names: readonly string[]): readonly Bench[] {
  const known = BENCHES.map((one) => one.name);
  for (const name of names) {
    if (known.includes(name)) continue;
    const guess = nearest(name, known);
    throw new TaskError(
      `Cannot run the bench "${name}": the benches are ${known.join(", ")}` +
        (guess === undefined ? "" : `. Did you mean "${guess}"?`),
      EXIT_USAGE,
    );
  }
  return names.length === 0 ? BENCHES : BENCHES.filter((one) => names.includes(one.name));
}

async function measureAll(tools: Toolchain, benches: readonly Bench[]): Promise<Row[]> {
  const root = await Deno.makeTempDir({ prefix: "failure-lab-bench-" });
  const rows: Row[] = [];
  try {
    for (const one of benches) {
      note(`bench: ${one.name}`);
      const dir = `${root}/${one.name}`;
      await Deno.mkdir(dir);
      rows.push(
        ...await one.measure({
          binary: BINARY,
          dir,
          compileBare: (source) => compileBare(tools, `${dir}/bare`, source),
          fromSource: (module, args) => fromSource(tools, module, args),
        }),
      );
    }
  } finally {
    await Deno.remove(root, { recursive: true });
  }
  return rows;
}

async function fromSource(tools: Toolchain, module: string, args: string[]): Promise<string> {
  const { success, code, stdout } = await new Deno.Command(tools.deno, {
    args: ["run", ...PROGRAM_FLAGS, ...tools.importArgs, `${ROOT}/${module}`, ...args],
    env: tools.env,
    stderr: "inherit",
  }).output();
  if (!success) throw new TaskError(`Cannot run ${module} from source: exit code ${code}`, 1);
  return new TextDecoder().decode(stdout);
}

/** Same Deno, same runtime, nothing of ours. */
async function compileBare(tools: Toolchain, output: string, source: string): Promise<string> {
  const compiler = await chooseCompiler(hostTarget(), compilerOptions(tools.deno));
  if (compiler === undefined) {
    throw new TaskError("Cannot compile the bare program: no runtime for it", EXIT_ENVIRONMENT);
  }
  await Deno.writeTextFile(`${output}.ts`, source);
  const args = ["compile", "--no-check", "--quiet", "--no-config", "--no-prompt"];
  const code = await run(compiler.deno, [...args, `--output=${output}`, `${output}.ts`], {
    cwd: ROOT,
    env: compiler.env,
    without: compiler.without,
  });
  if (code !== 0) throw new TaskError(`Cannot compile the bare program: exit code ${code}`, 1);
  return output;
}

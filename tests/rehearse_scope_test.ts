// The permission scope of a rehearsal: enforced by the runtime, printed, and usable from source.

import { assert, assertEquals } from "@std/assert";
import { ROOT } from "../dist/paths.ts";
import { systemClock } from "../lab/clock.ts";
import { parseContract, runSession } from "../rehearsal/mod.ts";
import { Bench, binaryPath, onlyRun } from "./support/binary.ts";
import { denoRunArgs } from "./support/child_deno.ts";
import { cleanUpAfterEach } from "./support/processes.ts";

cleanUpAfterEach();

const JOB = { start: "true", resume: "true", artifacts: { paths: ["out/*"], count: 1 } };

async function probe(bench: Bench, path: string): Promise<{ refused: boolean; detail: string }> {
  const { probe } = await runSession({
    contract: parseContract({ ...JOB, watch: [`${bench.path}/watched`] }, "the test"),
    projectDir: bench.project,
    env: bench.env(),
    reportDir: `${bench.path}/state`,
    kitPath: ROOT,
    plan: [],
    rerun: "",
    seed: 0,
    label: null,
    git: () => Promise.resolve(null),
    keep: false,
    clock: systemClock,
    signal: new AbortController().signal,
    onRecord: () => {},
    probeWrite: path,
    tempDir: bench.temp,
  });
  assert(probe !== null);
  return probe;
}

Deno.test("from inside, a write to a watched path is refused by the runtime", async () => {
  await using bench = await Bench.make("probe");
  await Deno.writeTextFile(`${bench.path}/watched`, "before\n");
  for (const path of [`${bench.path}/watched`, `${bench.project}/new`, `${bench.path}/home/x`]) {
    const answer = await probe(bench, path);
    assertEquals(answer.refused, true, `${path}: ${answer.detail}`);
  }
  assertEquals(await Deno.readTextFile(`${bench.path}/watched`), "before\n");
  // The same probe writes where the scope allows it: so it was the scope that refused above.
  const allowed = await probe(bench, `${bench.path}/state/allowed`);
  assertEquals(allowed.refused, false, allowed.detail);
});

Deno.test("the program runs from source with exactly the flags that it prints", async () => {
  await using bench = await Bench.make("flags");
  const project = `${ROOT}/rehearsal/runners/good`;
  const printed = await bench.run(["permissions", "--project", project, "--json"]);
  assertEquals(printed.code, 0, printed.stderr);
  const own = JSON.parse(printed.stdout) as string[];
  // The binary prints itself as the kit; from source the kit is the folder of the source.
  const flags = own.map((flag) => flag.replaceAll(binaryPath(), ROOT));
  const [, ...rest] = denoRunArgs(`${ROOT}/main.ts`);
  const imports = rest.filter((arg) => !/^(--allow-|--no-prompt|--unstable-|-A$)/.test(arg));
  const output = await new Deno.Command(Deno.execPath(), {
    args: ["run", ...flags, ...imports, "rehearse", "--project", project, "--json"],
    env: { ...bench.env(), DENO_DIR: Deno.env.get("DENO_DIR") ?? await denoDir() },
    clearEnv: true,
    stdin: "null",
  }).output();
  const text = new TextDecoder().decode(output.stdout);
  assertEquals(output.code, 0, text.slice(0, 500) + new TextDecoder().decode(output.stderr));
  const { record, grade } = onlyRun(JSON.parse(text));
  assertEquals(grade.verdict, "pass");
  assert(record.scope.some((flag) => flag.startsWith("--deny-write=")));
});

async function denoDir(): Promise<string> {
  const { stdout } = await new Deno.Command(Deno.execPath(), { args: ["info", "--json"] }).output();
  return JSON.parse(new TextDecoder().decode(stdout)).denoDir;
}

// `deno task compile`: dist/failure-lab, its checksums and its manifest.
//
// Exit code: 0 built · 1 the compiler or the first start failed · 2 usage · 4 a runtime could not
// be had (whatever else was asked for has been built).

import { capture, run } from "./child.ts";
import { chooseCompiler, type Compiler, compilerOptions } from "./compiler.ts";
import { embeddedFiles } from "./embedded.ts";
import { listFiles } from "./files.ts";
import { PROGRAM_FLAGS } from "./flags.ts";
import { type BuildRecord, checksumText, type ManifestFile, manifestText } from "./manifest.ts";
import { CACHE_DIR, CONFIG, ROOT } from "./paths.ts";
import { note, say } from "./say.ts";
import { sha256File } from "./sha256.ts";
import { STAGED_MAP, stageTree } from "./stage.ts";
import { sourceStamp } from "./stamp.ts";
import { type Build, hostTarget, parseBuilds, TARGETS } from "./targets.ts";
import { EXIT_ENVIRONMENT, TaskError } from "./task_error.ts";
import type { Toolchain } from "./toolchain.ts";
import { vendorModules } from "./vendor.ts";

/** Builds what the arguments ask for, as far as runtimes can be had. */
export async function compile(tools: Toolchain, args: string[]): Promise<number> {
  const builds = parseBuilds(args);
  const options = compilerOptions(tools.deno);
  const missing: string[] = [];
  for (const build of builds) {
    const compiler = await chooseCompiler(build.target, options);
    if (compiler === undefined) {
      missing.push(build.target);
      continue;
    }
    const record = await buildOne(tools, build, compiler);
    say(`${record.sha256}  dist/${record.output}  (${record.target}, ${record.sizeBytes} bytes)`);
  }
  await writeLists();
  if (missing.length === 0) return 0;
  note(
    `error: Cannot build for ${
      missing.join(", ")
    }: no runtime of Deno ${options.denoVersion} could ` +
      "be fetched from dl.deno.land. Build where that host can be reached, or set DENORT_BIN to " +
      "build for this machine",
  );
  return EXIT_ENVIRONMENT;
}

async function buildOne(tools: Toolchain, build: Build, compiler: Compiler): Promise<BuildRecord> {
  const dir = `${CACHE_DIR}/build-${Deno.pid}`;
  const stage = `${dir}/tree`;
  const draft = `${dir}/failure-lab`;
  await Deno.mkdir(stage, { recursive: true });
  try {
    note(`compile: ${build.target} with Deno ${compiler.denoVersion}, runtime ${compiler.origin}`);
    const vendored = await vendorModules(tools);
    const licences = await stageTree(ROOT, vendored, stage);
    const files = await embeddedFiles(stage);
    await callCompiler(compiler, tools.env, stage, [
      `--lock=${vendored.lock}`,
      ...[...files, ...licences].map((path) => `--include=${path}`),
      `--target=${TARGETS[build.target]}`,
      `--output=${draft}`,
    ]);
    if (build.target === hostTarget()) await startOnce(draft);
    const record: BuildRecord = {
      output: build.output,
      stamp: await sourceStamp(stage, tools.source),
      version: (JSON.parse(await Deno.readTextFile(CONFIG)) as { version: string }).version,
      gitHead: await gitHead(),
      target: build.target,
      sizeBytes: (await Deno.stat(draft)).size,
      sha256: await sha256File(draft),
      denoVersion: compiler.denoVersion,
      runtimeOrigin: compiler.origin,
      runtimeSha256: await sha256File(compiler.runtimeFile).catch(() => "unknown"),
      importSource: tools.source,
      modules: await vendored.versions(),
      flags: PROGRAM_FLAGS,
      files: await describe(stage, files),
    };
    // Renamed and not overwritten: a test of another run may be executing the old one.
    await Deno.rename(draft, `${ROOT}/dist/${build.output}`);
    await Deno.writeTextFile(recordFile(build.output), JSON.stringify(record, null, 2) + "\n");
    return record;
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
}

async function callCompiler(
  compiler: Compiler,
  env: Record<string, string>,
  stage: string,
  args: readonly string[],
): Promise<void> {
  const code = await run(compiler.deno, [
    "compile",
    "--no-check", // `deno task check` has checked, with the Deno that this project is written for
    // The cache would be a file with machine code at a known place in the shared temp folder.
    "--no-code-cache",
    "--no-config",
    "--quiet",
    `--import-map=${STAGED_MAP}`,
    ...PROGRAM_FLAGS,
    ...args,
    "main.ts",
  ], { cwd: stage, env: { ...env, ...compiler.env }, without: compiler.without });
  if (code !== 0) {
    throw new TaskError(
      `Cannot compile: deno compile ended with exit code ${code}; its own message is above`,
      1,
    );
  }
}

/** A binary that cannot print its version is not a build. */
async function startOnce(binary: string): Promise<void> {
  const started = await capture(binary, ["--version"], { cwd: ROOT, env: {} });
  if (started.code === 0 && started.stdout.trim() !== "") return;
  throw new TaskError(
    `Cannot keep the binary: "failure-lab --version" ended with exit code ${started.code} and ` +
      `must print a version and end with 0. It wrote: ${
        started.stderr.trim().slice(-600) || "nothing"
      }`,
    1,
  );
}

async function gitHead(): Promise<string> {
  try {
    const head = await capture("git", ["rev-parse", "HEAD"], { cwd: ROOT, env: {} });
    if (head.code !== 0) return "unknown (not a git checkout)";
    const state = await capture("git", ["status", "--porcelain"], { cwd: ROOT, env: {} });
    return head.stdout.trim() + (state.stdout.trim() === "" ? "" : " with uncommitted changes");
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return "unknown (git is not installed)";
    throw error;
  }
}

function describe(root: string, files: readonly string[]): Promise<ManifestFile[]> {
  return Promise.all(files.map(async (path) => ({
    path,
    sizeBytes: (await Deno.stat(`${root}/${path}`)).size,
    sha256: await sha256File(`${root}/${path}`),
  })));
}

function recordFile(output: string): string {
  return `${CACHE_DIR}/${output}.build.json`;
}

/** What is known about a binary in dist/, or undefined when it is absent or has been replaced. */
export async function readRecord(output: string): Promise<BuildRecord | undefined> {
  try {
    const record = JSON.parse(await Deno.readTextFile(recordFile(output))) as BuildRecord;
    return await sha256File(`${ROOT}/dist/${output}`) === record.sha256 ? record : undefined;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** The lists cover every binary in dist/ that is still the one that was built. */
async function writeLists(): Promise<void> {
  const outputs = (await listFiles(`${ROOT}/dist`)).filter((path) => /^failure-lab/.test(path));
  const records: BuildRecord[] = [];
  for (const output of outputs) {
    const record = await readRecord(output);
    if (record !== undefined) records.push(record);
  }
  await Deno.writeTextFile(`${ROOT}/dist/SHA256SUMS`, checksumText(records));
  await Deno.writeTextFile(`${ROOT}/dist/MANIFEST.txt`, manifestText(records));
}

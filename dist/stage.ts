// A copy of exactly what goes into the binary, with fixed times.
//
// A binary records the time of each of its files. From a copy with one fixed time the same sources
// give the same bytes, wherever and whenever they are built; and a file that is edited during the
// build is in it either before or after the edit.

import { listFiles } from "./files.ts";
import { entersBinary } from "./stamp.ts";
import type { Vendored } from "./vendor.ts";

const FIXED_TIME = new Date("2026-01-01T00:00:00Z");

/** The import map of a staged tree, relative to its root. */
export const STAGED_MAP = "import_map.json";

/** Copies sources, third-party modules and import map to `stage`; returns the licence files. */
export async function stageTree(
  root: string,
  vendored: Pick<Vendored, "dir" | "imports">,
  stage: string,
): Promise<string[]> {
  for (const path of await listFiles(root)) {
    if (entersBinary(path)) await copyFile(`${root}/${path}`, `${stage}/${path}`);
  }
  const licences: string[] = [];
  for (const path of await listFiles(vendored.dir)) {
    await copyFile(`${vendored.dir}/${path}`, `${stage}/vendor/${path}`);
    if (/\/LICEN[CS]E[^/]*$/i.test(path)) licences.push(`vendor/${path}`);
  }
  const map = JSON.stringify({ imports: vendored.imports }, null, 2) + "\n";
  await Deno.writeTextFile(`${stage}/${STAGED_MAP}`, map);
  return licences;
}

async function copyFile(from: string, to: string): Promise<void> {
  await Deno.mkdir(to.slice(0, to.lastIndexOf("/")), { recursive: true });
  await Deno.copyFile(from, to);
  await Deno.utime(to, FIXED_TIME, FIXED_TIME);
}

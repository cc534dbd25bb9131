// Whether a binary still stands for the sources: one hash over everything that goes into it.

import { listFiles } from "./files.ts";
import type { ImportSource } from "./import_source.ts";
import { sha256File, sha256Text } from "./sha256.ts";

const SOURCES = /^(main\.ts|deno\.json|deno\.lock|(lab|drills|repairs|rehearsal|dist)\/)/;
const NOT_BUILT_IN =
  /(_test|_bench)\.ts$|^rehearsal\/examples\/|^dist\/bench|^dist\/(failure-lab|SHA256SUMS|MANIFEST)/;

/** Whether a change of this file changes the binary. */
export function entersBinary(path: string): boolean {
  return SOURCES.test(path) && !NOT_BUILT_IN.test(path);
}

/** The hash over the names and contents of all files that go into the binary. */
export async function sourceStamp(root: string, source: ImportSource): Promise<string> {
  const lines = [`imports ${source}`];
  for (const path of await listFiles(root)) {
    if (entersBinary(path)) lines.push(`${await sha256File(`${root}/${path}`)} ${path}`);
  }
  return sha256Text(lines.join("\n"));
}

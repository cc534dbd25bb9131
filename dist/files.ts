// The files of a checkout, in a fixed order.

const SKIPPED_DIRS = new Set([".git", "node_modules", "coverage"]);

/** All files under `dir` as paths relative to it, sorted, without what is never source. */
export async function listFiles(dir: string, prefix = ""): Promise<string[]> {
  const found: string[] = [];
  for await (const entry of Deno.readDir(prefix === "" ? dir : `${dir}/${prefix}`)) {
    const path = prefix === "" ? entry.name : `${prefix}/${entry.name}`;
    if (entry.isDirectory) {
      if (SKIPPED_DIRS.has(entry.name) || path === "dist/.cache") continue;
      found.push(...await listFiles(dir, path));
    } else if (entry.isFile) found.push(path);
  }
  return prefix === "" ? found.sort() : found;
}

/** Whether something exists at `path`. */
export async function isThere(path: string): Promise<boolean> {
  try {
    await Deno.lstat(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

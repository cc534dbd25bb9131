// A fresh folder for one test, gone at its end.

/** A folder that removes itself: `await using dir = await makeTestDir("reap")`. */
export interface TestDir extends AsyncDisposable {
  /** Absolute path with all links resolved. */
  readonly path: string;
}

/**
 * Makes a fresh folder under the system temp dir. Its name does not begin like a lab's, so that no
 * sweep takes it for one.
 *
 * @param name Short word for the test; part of the folder's name.
 */
export async function makeTestDir(name: string): Promise<TestDir> {
  const path = await Deno.realPath(await Deno.makeTempDir({ prefix: `fl-test-${name}-` }));
  dirs.add(path);
  return {
    path,
    async [Symbol.asyncDispose]() {
      dirs.delete(path);
      await removeTestDir(path);
    },
  };
}

const dirs = new Set<string>();

/** Removes folders whose test was given up before it could do so; for `afterEach`. */
export async function removeLeftDirs(): Promise<void> {
  const left = [...dirs];
  dirs.clear();
  for (const path of left) await removeTestDir(path);
}

async function removeTestDir(path: string): Promise<void> {
  try {
    await Deno.remove(path, { recursive: true });
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return;
    // A test may leave folders that cannot be written to.
    for await (const dir of foldersIn(path)) await Deno.chmod(dir, 0o700);
    await Deno.remove(path, { recursive: true });
  }
}

async function* foldersIn(path: string): AsyncGenerator<string> {
  await Deno.chmod(path, 0o700);
  yield path;
  for await (const entry of Deno.readDir(path)) {
    if (entry.isDirectory) yield* foldersIn(`${path}/${entry.name}`);
  }
}

/**
 * Finds the two system programs that the lab needs (`ps` and `kill`) and programs in general.
 *
 * @module
 */

/**
 * Where system programs live; the lab's own helpers must not depend on the user's PATH. The last
 * one is the place of NixOS, which has next to nothing in the others.
 */
export const SYSTEM_PATH = "/usr/bin:/bin:/usr/sbin:/sbin:/run/current-system/sw/bin";

/** Something that a run needs is not there; the command ends with exit code 4. */
export class EnvironmentError extends Error {
  /** Name of the class. */
  override name = "EnvironmentError";
  /** The environment lacks something. */
  readonly exitCode = 4;
}

const found = new Map<string, string>();

/**
 * Finds an executable the way a shell does.
 *
 * @param name A bare name, or a path (which is only checked).
 * @param path Directories separated by `:`.
 * @param cwd Base of a relative path. Relative directories in `path` are taken from it as well.
 * @returns The absolute path, or `null`. Requires `--allow-read` for the places it looks at.
 */
export function findProgram(name: string, path: string, cwd: string): string | null {
  const places = name.includes("/")
    ? [name.startsWith("/") ? name : `${cwd}/${name}`]
    : path.split(":").map((dir) => `${dir.startsWith("/") ? dir : `${cwd}/${dir}`}/${name}`);
  for (const place of places) {
    try {
      const info = Deno.statSync(place);
      if (info.isFile && ((info.mode ?? 0o111) & 0o111) !== 0) return place;
    } catch {
      // Not here, or not ours to look at: the next place.
    }
  }
  return null;
}

/**
 * The absolute path of a system program such as `ps`. The answer is kept.
 *
 * @throws {EnvironmentError} When the machine does not have it.
 */
export function systemTool(name: string): string {
  const known = found.get(name);
  if (known !== undefined) return known;
  const place = findProgram(name, SYSTEM_PATH, "/");
  if (place === null) {
    throw new EnvironmentError(
      `Cannot find the program '${name}' in ${SYSTEM_PATH}: the lab needs it to see and end ` +
        "processes. Install it (Debian: apt-get install procps) and try again",
    );
  }
  found.set(name, place);
  return place;
}

/** Hands over places that were found elsewhere, for code that may not look itself (a worker). */
export function rememberSystemTools(tools: Readonly<Record<string, string>>): void {
  for (const [name, place] of Object.entries(tools)) found.set(name, place);
}

/** Ends one of our own helpers at once; no error when it is over already. */
export function killQuietly(child: Deno.ChildProcess): void {
  try {
    child.kill("SIGKILL");
  } catch {
    // It has ended meanwhile.
  }
}

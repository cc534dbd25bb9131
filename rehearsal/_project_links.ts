/**
 * Links of a project as they must be in a copy: those that lead out are not copied, because the job
 * would write through them into what it was copied from.
 *
 * @module
 */
import { dirname, relative } from "@std/path";
import { resolveInside } from "../lab/resolve_inside.ts";

/**
 * The text of a link's copy; `null` when the link leads out of the project.
 *
 * A relative link that stays inside all the way is kept as it is, also when it dangles. One that is
 * absolute, or goes out and in again, would lead back into the real project: it becomes a relative
 * link to the same place of the copy.
 *
 * @param root The project, absolute.
 * @param path The link, relative to the project, parts separated by `/`.
 */
export function linkInCopy(root: string, path: string, target: string): string | null {
  const folder = dirname(path);
  const here = resolveInside(root, folder).realPath;
  const written = target.startsWith("/") ? target : `${here}/${target}`;
  const led = resolveInside(root, written);
  // A circle leads nowhere; as long as it is written inside it does no harm.
  if (led.loop) return staysInside(folder, target) ? target : null;
  if (!led.inside) return null;
  if (staysInside(folder, target)) return target;
  return relative(here, led.realPath) || ".";
}

/** Whether a relative target, as it is written, never goes above the root. */
function staysInside(folder: string, target: string): boolean {
  if (target.startsWith("/")) return false;
  let depth = folder === "." ? 0 : folder.split("/").length;
  for (const part of target.split("/")) {
    if (part === "" || part === ".") continue;
    depth += part === ".." ? -1 : 1;
    if (depth < 0) return false;
  }
  return true;
}

/** What becomes of a `.git` file, with which a worktree or submodule names its real folder. */
export type GitFileFate = "keep" | "link-out" | { rewritten: string };

const GIT_FILE_REGEXP = /^gitdir: (.+?)\r?\n?$/;

/**
 * A `.git` file is a link in another form: git would write into the folder that it names. One that
 * leads out stays behind; an absolute one to inside is rewritten.
 *
 * @param path Relative to the project.
 */
export function gitFileFate(root: string, path: string): GitFileFate {
  const named = GIT_FILE_REGEXP.exec(readShort(`${root}/${path}`))?.[1];
  if (named === undefined) return "keep";
  const target = linkInCopy(root, path, named);
  if (target === null) return "link-out";
  return target === named ? "keep" : { rewritten: `gitdir: ${target}\n` };
}

function readShort(path: string): string {
  try {
    return Deno.statSync(path).size > 8192 ? "" : Deno.readTextFileSync(path);
  } catch {
    return "";
  }
}

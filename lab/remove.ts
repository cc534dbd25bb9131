/**
 * Removing a folder of ours with everything in it.
 *
 * @module
 */
import { basename, dirname } from "@std/path";
import { isWithin, resolveInside } from "./resolve_inside.ts";
import { walkTree } from "./walk.ts";

/** Tries while something else still writes into the folder, or takes rights away again. */
const ATTEMPTS_MAX = 5;
const OWNER_ALL = 0o700;

/**
 * Removes `path`, which must lie under `root`. Nothing there is fine. A link is removed, never what
 * it points to; folders without write right are given it first.
 *
 * Requires read and write for `path`.
 *
 * @throws {RangeError} When the path is the root itself or, with links resolved, outside it.
 * @throws What the last try threw, when it cannot be removed.
 */
export async function removeTree(path: string, root: string): Promise<void> {
  const place = placeOf(path, root);
  if (place === null) return;
  for (let attempt = 1;; attempt++) {
    try {
      await Deno.remove(place, { recursive: true });
      return;
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return;
      if (attempt === ATTEMPTS_MAX) throw error;
      await openFolders(place);
    }
  }
}

/** The real path of what is to be removed; only its last part may be a link. */
function placeOf(path: string, root: string): string | null {
  const name = basename(path);
  const isName = name !== "" && name !== "." && name !== ".." && name !== "/";
  let parent;
  try {
    parent = resolveInside(root, dirname(path));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
  const place = `${parent.realPath === "/" ? "" : parent.realPath}/${name}`;
  const isBelow = parent.inside && path.startsWith("/") && !path.split("/").includes("..");
  if (!isName || !isBelow || isWithin(place, parent.realPath)) {
    throw new RangeError(
      `Cannot remove "${path}": it must lie under "${root}" after links are resolved, and it leads ` +
        `to "${place}"`,
    );
  }
  return place;
}

/** Gives the owner all rights to every folder; a folder that we may not even list is in the way. */
async function openFolders(place: string): Promise<void> {
  openFolder(place);
  // Again for as long as it helps: what is below a closed folder is seen only once that is open.
  let opened = 1;
  while (opened > 0) {
    opened = 0;
    await walkTree(place, ({ kind, path }) => {
      if (kind === "directory" && openFolder(path)) opened++;
    });
  }
}

function openFolder(path: string): boolean {
  try {
    const info = Deno.lstatSync(path);
    const mode = info.mode ?? OWNER_ALL;
    if (!info.isDirectory || (mode & OWNER_ALL) === OWNER_ALL) return false;
    Deno.chmodSync(path, (mode & 0o7777) | OWNER_ALL);
    return true;
  } catch {
    return false; // Gone meanwhile, or not ours; the removal will say which.
  }
}

/**
 * A copy of a folder, or of one file in it, to put things back from.
 *
 * @module
 */
import { addToPlan, carryOut, emptyPlan } from "../lab/tree_copy.ts";
import { lookAt, walkTree } from "../lab/walk.ts";
import { RepairError } from "./errors.ts";

/**
 * Copies `root` to `to`, where nothing is yet.
 *
 * @param only A name in the root: then nothing else is copied.
 * @param rules Names, and absolute paths, that are left out with all below them.
 * @throws {RepairError} When a file cannot be read: then it could not be put back either.
 */
export async function copyPlace(
  root: string,
  to: string,
  only: string | null,
  rules: { ignore: readonly string[]; exclude: readonly string[] },
): Promise<void> {
  const plan = emptyPlan(root);
  const targetOf = (path: string, kind: string) =>
    kind === "symlink" ? Deno.readLinkSync(path) : "";
  if (only !== null) {
    const entry = { ...lookAt(`${root}/${only}`), relative: only };
    addToPlan(plan, entry, targetOf(entry.path, entry.kind));
  } else {
    const problem = await walkTree(
      root,
      (entry) => addToPlan(plan, entry, targetOf(entry.path, entry.kind)),
      {
        skip: (relative, name) =>
          rules.ignore.includes(name) || rules.exclude.includes(`${root}/${relative}`),
      },
    );
    if (problem !== null) throw refusal(root, problem);
  }
  await carryOut(plan, root, to, { wantsHash: false });
  const unread = plan.skipped.find((entry) => entry.reason === "unreadable");
  if (unread !== undefined) throw refusal(`${root}/${unread.path}`, unread.detail ?? "no right");
}

function refusal(path: string, why: string): RepairError {
  return new RepairError(
    `Cannot guard the scope: "${path}" cannot be copied (${why}), so it could not be put back. ` +
      "Nothing was started. Give yourself the right to read it, or run in a folder without it",
  );
}

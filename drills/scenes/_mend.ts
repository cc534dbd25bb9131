/**
 * Mending a checkpoint beside the disk, as the repair's command does it; for several scenes.
 *
 * @module
 */
import { relative } from "@std/path";
import { CHECKPOINT_NAME, END_MARK, hashFile, OUTPUTS_GLOB } from "../../lab/mod.ts";
import { artifactDisk, mendCheckpoint, type MendReport } from "../../repairs/mod.ts";
import type { DrillStage } from "../stage.ts";

/** Mends the checkpoint of the stage's job. */
export async function mend(stage: DrillStage): Promise<MendReport> {
  const report = await mendCheckpoint({
    path: stage.path(CHECKPOINT_NAME),
    cwd: stage.workspace,
    disk: artifactDisk({
      cwd: stage.workspace,
      globs: [OUTPUTS_GLOB],
      unitName: "name",
      endsWith: END_MARK,
    }),
    quietMs: stage.limits.quietMs,
    clock: stage.options.clock,
  });
  const { base, damage, removed, added, broken, setAside } = report;
  stage.options.journal.add("mended", {
    base,
    damage,
    removed,
    added,
    broken,
    setAside: setAside.map((path) => relative(stage.workspace, path)),
  });
  return report;
}

/** Nothing is wrong with the checkpoint: mending must not touch a single file. */
export async function mendNothing(stage: DrillStage): Promise<void> {
  await stage.runToHold(stage.parameter("afterUnits"));
  stage.noteFaultState();
  const before = snapshot(stage);
  const report = await mend(stage);
  const wasLeft = report.isFine && !report.isWritten && snapshot(stage) === before;
  stage.find(
    "left-alone",
    wasLeft,
    wasLeft
      ? "The repair found the checkpoint whole and in step, and touched no file"
      : "The repair changed files although the checkpoint was whole and in step",
  );
  await stage.attempt(stage.plan());
}

/** Names, contents and times of everything in the workspace. */
export function snapshot(stage: DrillStage): string {
  return ["", "out"].flatMap((folder) =>
    [...Deno.readDirSync(stage.path(folder))].filter((entry) => entry.isFile).map(({ name }) => {
      const path = stage.path(`${folder}/${name}`);
      return `${path} ${hashFile(path).sha256} ${Deno.statSync(path).mtime?.getTime()}`;
    })
  ).sort().join("\n");
}

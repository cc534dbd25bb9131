/**
 * The scenes, one file per drill. A new drill is a JSON file, a scene, and a line here.
 *
 * @module
 */
import { KitFileError } from "../definition.ts";
import type { Scene } from "../scene.ts";
import { deadMonitor } from "./dead_monitor.ts";
import { duplicateWork } from "./duplicate_work.ts";
import { hollowSuccess } from "./hollow_success.ts";
import { hungProcess } from "./hung_process.ts";
import { lostHandoff } from "./lost_handoff.ts";
import { lyingCheckpoint } from "./lying_checkpoint.ts";
import { orphanedChildren } from "./orphaned_children.ts";
import { providerOutage } from "./provider_outage.ts";
import { scopeEscape } from "./scope_escape.ts";
import { staleLock } from "./stale_lock.ts";
import { tornCheckpoint } from "./torn_checkpoint.ts";

export type { Scene } from "../scene.ts";

/** Every scene, by the order of the drills. */
export const SCENES: readonly Scene[] = [
  hungProcess,
  orphanedChildren,
  tornCheckpoint,
  lyingCheckpoint,
  staleLock,
  hollowSuccess,
  deadMonitor,
  scopeEscape,
  duplicateWork,
  lostHandoff,
  providerOutage,
];

/** The scene of a drill. Throws {@linkcode KitFileError} when no scene plays it. */
export function sceneOf(drillId: string): Scene {
  const scene = SCENES.find((each) => each.id === drillId);
  if (scene === undefined) {
    throw new KitFileError(`Cannot use drills/${drillId}.json: no scene plays "${drillId}"`);
  }
  return scene;
}

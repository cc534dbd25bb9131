/**
 * What a scene is: how one drill's failure, its naive recovery and its repair go on a stage.
 *
 * @module
 */
import type { SceneContract } from "./disk.ts";
import type { DrillStage } from "./stage.ts";

/**
 * One drill's scene: a file in `scenes/`.
 *
 * @internal
 */
export interface Scene {
  /** Id of the drill. */
  id: string;
  /** What the job keeps besides its outputs. */
  contract: SceneContract;
  /** Why this variant cannot be done on this machine; `null` when it can. */
  lacks?: (variant: string) => string | null;
  /**
   * The run that fails: start, fault, evidence, and (where it belongs to the failure) the end of
   * every process of it. In a disarmed run everything but the fault.
   */
  fail(stage: DrillStage): Promise<void>;
  /** What people really write. */
  naive(stage: DrillStage): Promise<void>;
  /** What the repair does; ends with the work finished. */
  repair(stage: DrillStage): Promise<void>;
  /** Nothing is wrong; the repair must leave everything alone, and a finding says whether it did. */
  control(stage: DrillStage): Promise<void>;
}

/**
 * The shape of a replay: one failure, done from outside to a command that we did not write.
 *
 * @module
 */
import type { Contract } from "../contract.ts";
import type { Stage } from "../stage.ts";

/**
 * One of the failures.
 *
 * @internal
 */
export interface Replay {
  /** The drill's id without its number, for example `torn-checkpoint`. */
  readonly id: string;
  /** One line for lists. */
  readonly summary: string;
  /** The first one is taken when none is asked for. */
  readonly variants: readonly string[];
  /**
   * What the contract lacks for this replay, with the JSON to add; `null` when nothing.
   */
  needs(contract: Contract, variant: string): string | null;
  /**
   * Does the failure and the recovery on the stage. A fresh copy is in place; the final look, the
   * second recovery and the containment are done by the caller.
   *
   * Not called in a disarmed run: the job runs undisturbed then. A replay that calls
   * `stage.deliver` must hand over what it has seen, never what it has done: where the job could not
   * be struck, it delivers nothing, and the verdict is `unproven`. What turns out not to apply to
   * this job is said in `stage.record.notApplicable`.
   */
  run(stage: Stage, variant: string): Promise<void>;
}

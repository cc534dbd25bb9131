/**
 * Effects that happen before the output that shows them: a message that is sent before its receipt
 * is written. A kill between the two is the one that makes a careless resume send it again.
 *
 * @module
 */
import { effectKeys } from "../lab/mod.ts";
import type { Stage } from "./stage.ts";

/** Moments that are remembered; a job has one for each output and each effect. */
const MOMENTS_MAX = 10_000;

/** Counts effects and outputs side by side, while a command runs. */
export class EffectsAhead {
  readonly #stage: Stage;
  readonly #moments = new Map<string, { effects: number; outputs: number }>();
  #sign = "";
  #effects = 0;

  /** @param stage A stage whose contract declares effects. */
  constructor(stage: Stage) {
    this.#stage = stage;
  }

  /** How many different effects are noted now. The log is read only when it has changed. */
  get effects(): number {
    const sign = this.#signNow();
    if (sign !== this.#sign) {
      this.#sign = sign;
      this.#effects = effectKeys(this.#stage.disk.effectsSpec()).length;
    }
    return this.#effects;
  }

  /** Remembers how many effects there are beside so many outputs. */
  look(outputs: number): void {
    if (this.#moments.size >= MOMENTS_MAX) return;
    const { effects } = this;
    this.#moments.set(`${effects} ${outputs}`, { effects, outputs });
  }

  /** Whether effects were seen before their outputs, given how many there are at the end. */
  wereAhead(effects: number, outputs: number): boolean {
    return [...this.#moments.values()].some((each) =>
      each.outputs < outputs && isAhead(each, { effects, outputs })
    );
  }

  #signNow(): string {
    try {
      const { root, path } = this.#stage.disk.effectsSpec();
      const { size, mtime, ino } = Deno.statSync(`${root}/${path}`);
      return `${size} ${mtime?.getTime()} ${ino}`;
    } catch {
      return "none"; // Not there yet, or several files.
    }
  }
}

/** Whether there are more effects than belong to so many outputs. */
export function isAhead(
  now: { effects: number; outputs: number },
  whole: { effects: number; outputs: number },
): boolean {
  return now.effects * whole.outputs > whole.effects * now.outputs;
}

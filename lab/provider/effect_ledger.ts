/**
 * Counts the effects of answered requests: the provider's own word on whether work was done twice.
 *
 * @module
 */

/** The effects on one unit. */
export interface UnitEffects {
  /** The unit. */
  unit: string;
  /** How often the unit was done; more than 1 is duplicate work. */
  effects: number;
  /** How often success was answered, repeats with a known key included. */
  answers: number;
  /** Different idempotency keys that had an effect; a fresh key for each attempt shows here. */
  keys: number;
}

/** What a request with this unit and key would be. */
export type EffectKind = "new" | "repeat" | "conflict";

/** Which units were done, how often, and under which keys. */
export class EffectLedger {
  readonly #keysMax: number;
  readonly #units = new Map<string, UnitEffects>();
  readonly #unitOfKey = new Map<string, string>();
  #notCounted = 0;

  /** @param keysMax Units and keys told apart; beyond it effects are only totalled. */
  constructor(keysMax: number) {
    this.#keysMax = keysMax;
  }

  /** Effects that were not counted because there were too many units or keys. */
  get notCounted(): number {
    return this.#notCounted;
  }

  /**
   * Says what a request would be. `conflict`: its key stands for another unit already (status 422
   * in the IETF draft "The Idempotency-Key HTTP Header Field", 2.7).
   */
  classify(unit: string, key: string | null): EffectKind {
    const known = key === null ? undefined : this.#unitOfKey.get(key);
    if (known === undefined) return "new";
    return known === unit ? "repeat" : "conflict";
  }

  /**
   * Records that a unit was done, or that its known key was answered again. Without a key, every
   * call is a new effect.
   *
   * @param answered Whether the client is told; `false` when a fault swallows the answer.
   */
  record(unit: string, key: string | null, answered: boolean): void {
    const kind = this.classify(unit, key);
    if (kind === "conflict") return;
    const full = this.#units.size >= this.#keysMax || this.#unitOfKey.size >= this.#keysMax;
    if (kind === "new" && full) {
      this.#notCounted++;
      return;
    }
    const counts = this.#units.get(unit) ?? { unit, effects: 0, answers: 0, keys: 0 };
    this.#units.set(unit, counts);
    if (kind === "new") counts.effects++;
    if (answered) counts.answers++;
    if (kind === "new" && key !== null) {
      this.#unitOfKey.set(key, unit);
      counts.keys++;
    }
  }

  /** A copy, in order of the first effect. */
  units(): UnitEffects[] {
    return [...this.#units.values()].map((counts) => ({ ...counts }));
  }
}

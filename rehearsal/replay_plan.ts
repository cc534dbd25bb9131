/**
 * Which replays to do: found by whatever a person calls them, and in which variant.
 *
 * @module
 */
import { createRandom, didYouMean } from "../lab/mod.ts";
import type { Contract } from "./contract.ts";
import type { PlanItem } from "./plan.ts";
import { type Replay, REPLAYS } from "./replays/mod.ts";

/** A replay or a variant that does not exist. The command ends with exit code 2. */
export class UnknownReplayError extends Error {
  /** Name of the error class. */
  override name = "UnknownReplayError";
  /** Usage. */
  readonly exitCode = 2;
}

/** How to do them. */
export interface ReplayPlanOptions {
  /** Draws the variant of each replay where none is named. */
  seed: number;
  /** Only this variant; `null` lets the seed draw one for each. */
  variant: string | null;
  /** Does every variant of each replay, one run each. */
  allVariants: boolean;
  /** Kills the recovery half-way as well, and recovers again. */
  killResume: boolean;
  /** `false` does everything the same way but leaves the failure out. */
  armed: boolean;
}

/** The number of a replay, which is the one of its drill: `02`. */
export function replayNumber(replay: Replay): string {
  return String(REPLAYS.indexOf(replay) + 1).padStart(2, "0");
}

/**
 * Finds replays by `orphaned-children`, `02-orphaned-children`, `02` or `2`. No name at all means
 * all of them.
 *
 * @throws {UnknownReplayError} With the nearest name.
 */
export function findReplays(names: readonly string[]): Replay[] {
  if (names.length === 0) return [...REPLAYS];
  const found = names.map(findOne);
  return found.filter((replay, index) => found.indexOf(replay) === index);
}

function findOne(name: string): Replay {
  const lower = name.toLowerCase();
  const found = REPLAYS.find((replay) => {
    const number = replayNumber(replay);
    return lower === replay.id || lower === `${number}-${replay.id}` ||
      lower.padStart(2, "0") === number;
  });
  if (found !== undefined) return found;
  const ids = REPLAYS.map((replay) => replay.id);
  const bare = lower.replace(/^\d+-/, "");
  throw new UnknownReplayError(
    `There is no failure "${name.slice(0, 60)}".${didYouMean(bare, ids)} ` +
      `The failures are ${ids.join(", ")}`,
  );
}

/**
 * The plan of a replay command.
 *
 * The seed draws among the variants that the contract allows, and for each failure the same one
 * whichever failures were named.
 *
 * @throws {UnknownReplayError} When a failure does not have the variant that was asked for.
 */
export function planReplays(
  contract: Contract,
  names: readonly string[],
  options: ReplayPlanOptions,
): PlanItem[] {
  const wanted = findReplays(names);
  const random = createRandom(options.seed);
  const drawn = new Map(REPLAYS.map((replay) => [replay, drawVariant(replay, contract, random)]));
  return wanted.flatMap((replay) => variantsOf(replay, drawn.get(replay) ?? null, options))
    .map(([replay, variant]) => ({
      subject: replay.id,
      variant,
      armed: options.armed,
      killAfterArtifacts: null,
      killResume: options.killResume,
      resumeTwice: true,
    }));
}

function drawVariant(
  replay: Replay,
  contract: Contract,
  random: ReturnType<typeof createRandom>,
): string {
  const at = random.next();
  const possible = replay.variants.filter((variant) => replay.needs(contract, variant) === null);
  const list = possible.length > 0 ? possible : replay.variants;
  return list[Math.floor(at * list.length)] ?? "";
}

function variantsOf(
  replay: Replay,
  drawn: string | null,
  { variant, allVariants }: ReplayPlanOptions,
): [Replay, string | null][] {
  if (allVariants) return replay.variants.map((each) => [replay, each]);
  if (variant === null) return [[replay, drawn]];
  if (replay.variants.includes(variant)) return [[replay, variant]];
  throw new UnknownReplayError(
    `The failure "${replay.id}" has no variant "${variant.slice(0, 60)}".` +
      `${didYouMean(variant, replay.variants)} Its variants are ${replay.variants.join(", ")}`,
  );
}

/**
 * The answer key: what each half of each drill must give, and for which reason. A broken half that
 * fails for another reason shows something else than it is meant to, and is not as expected.
 *
 * @module
 */
import { join } from "@std/path";
import { z } from "zod";
import type { Grade } from "../lab/mod.ts";
import { drillsFolder, KitFileError, parseKitFile } from "./definition.ts";

/** How a drill can be run. */
export const MODES = ["broken", "repaired", "disarmed", "control"] as const;

/** See {@linkcode MODES}. */
export type Mode = typeof MODES[number];

/** What one run must give. */
export interface Expectation {
  /** The verdict. */
  verdict: Grade["verdict"];
  /** Id of the check that decides; `null` for a pass. */
  reasonId: string | null;
  /** Checks that must be there and be ok besides. */
  ok?: string[] | undefined;
}

/** What a drill's runs must give, by mode and variant; `*` is for the variants not named. */
export type DrillKey = Record<Mode, Record<string, Expectation>>;

/** The whole key. */
export interface AnswerKey {
  /** What kind of file this is. */
  schema: "failure-lab/answer-key";
  /** Version of the file's shape. */
  version: 1;
  /** By drill id. */
  drills: Record<string, DrillKey>;
}

const byVariant = z.record(
  z.string(),
  z.strictObject({
    verdict: z.enum(["pass", "fail", "unproven", "not-applicable"]),
    reasonId: z.string().nullable(),
    ok: z.array(z.string()).optional(),
  }),
);

const keySchema: z.ZodType<AnswerKey> = z.strictObject({
  schema: z.literal("failure-lab/answer-key"),
  version: z.literal(1),
  drills: z.record(
    z.string(),
    z.strictObject({
      broken: byVariant,
      repaired: byVariant,
      disarmed: byVariant,
      control: byVariant,
    }),
  ),
});

const FILE = "answer-keys/expected-results.json";

/** Reads the answer key. Throws {@linkcode KitFileError} when it is not as it must be. */
export function loadAnswerKey(folder: string = drillsFolder()): AnswerKey {
  return parseKitFile(`drills/${FILE}`, Deno.readTextFileSync(join(folder, FILE)), keySchema);
}

/** What the key says about one run. */
export function expectationFor(
  key: AnswerKey,
  drillId: string,
  mode: Mode,
  variant: string,
): Expectation {
  const byVariant = key.drills[drillId]?.[mode];
  const found = byVariant?.[variant] ?? byVariant?.["*"];
  if (found === undefined) {
    throw new KitFileError(
      `Cannot use drills/${FILE}:\n  drills.${drillId}.${mode}: must have an entry for ` +
        `"${variant}" or "*" (it has none)`,
    );
  }
  return found;
}

/** Whether a grade is what was expected, for the expected reason. */
export function isMet(expectation: Expectation, grade: Grade): boolean {
  return grade.verdict === expectation.verdict && grade.reasonId === expectation.reasonId &&
    (expectation.ok ?? []).every((id) =>
      grade.checks.some((check) => check.id === id && check.state === "ok") &&
      !grade.checks.some((check) => check.id === id && check.state !== "ok")
    );
}

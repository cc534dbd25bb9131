/**
 * Drill definitions: the JSON files of this folder, checked before anything is run with them.
 *
 * @module
 */
import { join } from "@std/path";
import { z } from "zod";

/** Ids of the seven repairs. */
export const REPAIR_IDS = [
  "deadline",
  "checkpoint",
  "lease",
  "evidence",
  "heartbeat",
  "allowlist",
  "outbox",
] as const;

/** One of the seven repairs. */
export type RepairId = typeof REPAIR_IDS[number];

/** One shape in which a failure comes. */
export interface Variant {
  /** Short name, for `--json`, keys and reports. */
  id: string;
  /** What is different about this one. */
  text: string;
}

/** A recovery that people really write; the broken half runs exactly this script. */
export interface Naive {
  /** Variants that it is for; the first entry that fits is taken. @default {all} */
  variants?: string[] | undefined;
  /** What it does, and why that looks right. */
  text: string;
  /** Lines of the shell script. */
  script: string[];
}

/** Limits of one half. */
export interface DrillLimits {
  /** Longest time of one command. */
  runMs: number;
  /** Longest time without a new output. */
  idleMs: number;
  /** Time between TERM and KILL. */
  graceMs: number;
  /** Time after "success" in which nothing may change. */
  quietMs: number;
}

/** One drill, as its JSON file defines it. */
export interface Drill {
  /** What kind of file this is. */
  schema: "failure-lab/drill";
  /** Version of the file's shape. */
  version: 1;
  /** For example `01-hung-process`; the file's name. */
  id: string;
  /** One line. */
  title: string;
  /** What happens to the job. */
  incidentShape: string;
  /** Where it can be seen. */
  detectionPoint: string;
  /** Which repair it practises. */
  repair: RepairId;
  /** What goes wrong with the obvious fix. */
  trap: string;
  /** How many units of work the job has. */
  units: number;
  /** See {@linkcode DrillLimits}. */
  limits: DrillLimits;
  /** The failure, with its numbers and the shapes that it comes in. */
  fault: { name: string; parameters: Record<string, string | number>; variants: Variant[] };
  /** See {@linkcode Naive}. */
  naive: Naive[];
  /** The rest of the page that `show` prints. */
  page: DrillPage;
}

/** Texts for the page of a drill. */
export interface DrillPage {
  /** What a person sees in the morning. */
  seen: string;
  /** What the repair does, step by step. */
  repairSteps: string[];
  /** What the broken half shows of the trap. */
  trapShown: string;
  /** Questions to ask of one's own job. */
  lookFor: string[];
}

const sentence = z.string().min(1);
const ms = z.int().min(1).max(60_000);
const name = z.string().regex(/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/, "must be words joined by hyphens");

const shapeSchema = z.strictObject({
  schema: z.literal("failure-lab/drill"),
  version: z.literal(1),
  id: z.string().regex(/^\d\d(-[a-z]+)+$/, "must be two digits and a name, like 01-hung-process"),
  title: sentence,
  incidentShape: sentence,
  detectionPoint: sentence,
  repair: z.enum(REPAIR_IDS),
  trap: sentence,
  units: z.int().min(2).max(99),
  limits: z.strictObject({ runMs: ms, idleMs: ms, graceMs: ms, quietMs: ms }),
  fault: z.strictObject({
    name,
    parameters: z.record(z.string(), z.union([z.string(), z.number()])),
    variants: z.array(z.strictObject({ id: name, text: sentence })).min(1),
  }),
  naive: z.array(z.strictObject({
    variants: z.array(name).min(1).optional(),
    text: sentence,
    script: z.array(z.string()).min(1),
  })).min(1),
  page: z.strictObject({
    seen: sentence,
    repairSteps: z.array(sentence).min(1),
    trapShown: sentence,
    lookFor: z.array(sentence).min(1),
  }),
});

/** The rules of a drill's JSON file. */
export const drillSchema: z.ZodType<Drill> = shapeSchema.superRefine((drill, context) => {
  const ids = drill.fault.variants.map((variant) => variant.id);
  const twice = ids.findIndex((id, index) => ids.indexOf(id) !== index);
  if (twice >= 0) {
    context.addIssue({
      code: "custom",
      path: ["fault", "variants", twice, "id"],
      message: "must not be the id of another variant",
    });
  }
  for (const [index, entry] of drill.naive.entries()) {
    const unknown = entry.variants?.findIndex((id) => !ids.includes(id)) ?? -1;
    if (unknown < 0) continue;
    context.addIssue({
      code: "custom",
      path: ["naive", index, "variants", unknown],
      message: `must be a variant of this drill (${ids.join(", ")})`,
    });
  }
  const uncovered = ids.find((id) => findNaive(drill.naive, id) === undefined);
  if (uncovered !== undefined) {
    context.addIssue({
      code: "custom",
      path: ["naive"],
      message: `must have an entry for every variant; "${uncovered}" has none`,
    });
  }
});

function findNaive(entries: readonly Naive[], variant: string): Naive | undefined {
  return entries.find((entry) => entry.variants?.includes(variant) ?? true);
}

/** The naive recovery of a drill for one variant of its fault. */
export function naiveOf(drill: Drill, variant: string): Naive {
  const found = findNaive(drill.naive, variant);
  if (found === undefined) throw new RangeError(`No naive recovery for "${variant}"`);
  return found;
}

/** A file that belongs to the kit is not as it must be: this installation is damaged. */
export class KitFileError extends Error {
  /** Tells it from other errors. */
  override name = "KitFileError";
  /** The environment lacks a whole kit. */
  readonly exitCode = 4;
}

/**
 * Checks a value against a schema.
 *
 * @param file What the messages call it.
 * @throws {KitFileError} Names the file, the path in it, the rule and the value that is there.
 */
export function parseKitFile<T>(file: string, text: string, schema: z.ZodType<T>): T {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new KitFileError(
      `Cannot use ${file}: it is not JSON (${error instanceof Error ? error.message : error})`,
      { cause: error },
    );
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const lines = parsed.error.issues.map((issue) => {
    const at = issue.path.length === 0 ? "the file" : issue.path.join(".");
    return `  ${at}: ${issue.message} (${shown(valueOf(value, issue.path))})`;
  });
  throw new KitFileError(`Cannot use ${file}:\n${lines.join("\n")}`);
}

function valueOf(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (inner, key) =>
      typeof inner === "object" && inner !== null
        ? (inner as Record<PropertyKey, unknown>)[key]
        : undefined,
    value,
  );
}

function shown(value: unknown): string {
  if (value === undefined) return "it is missing";
  const text = JSON.stringify(value);
  return `it is ${text.length > 60 ? `${text.slice(0, 57)}…` : text}`;
}

/** Folder of the kit's drill files; inside a compiled program it is the embedded one. */
export function drillsFolder(): string {
  return import.meta.dirname ?? "drills";
}

/**
 * Reads every drill of a folder, in the order of their ids.
 *
 * @throws {KitFileError} When a file is bad, when two have one id, or when there is none at all.
 */
export function loadDrills(folder: string = drillsFolder()): Drill[] {
  const drills = [...Deno.readDirSync(folder)].map((entry) => entry.name)
    .filter((file) => /^\d\d-.*\.json$/.test(file)).sort()
    .map((file) => {
      const drill = parseKitFile(
        `drills/${file}`,
        Deno.readTextFileSync(join(folder, file)),
        drillSchema,
      );
      if (`${drill.id}.json` !== file) {
        throw new KitFileError(
          `Cannot use drills/${file}:\n  id: must be the file's name (it is "${drill.id}")`,
        );
      }
      return drill;
    });
  if (drills.length === 0) throw new KitFileError(`Cannot find any drill in "${folder}"`);
  return drills;
}

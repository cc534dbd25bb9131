/**
 * Flags that several commands share, so that each has one name, one text and one range everywhere.
 *
 * @module
 */
import type { DurationFlag, FlagSpec, IntegerFlag, StringFlag } from "./command.ts";

const CONTRACT = "The contract (each overrides the file)";

const DAY_MS = 24 * 3_600_000;

/** Where the report goes and what it is called. */
export const REPORT_FLAGS: readonly FlagSpec[] = [
  {
    kind: "string",
    name: "report",
    valueName: "DIR",
    summary: "Write the report into this folder",
    defaultText: "a new folder under ~/.local/state/failure-lab/runs",
    group: "Report",
  },
  {
    kind: "string",
    name: "label",
    valueName: "NAME",
    summary: "Name this run, to tell it from others",
    defaultText: "none",
    check: (value) => value.length > 80 ? "it may have at most 80 characters." : null,
    group: "Report",
  },
  {
    kind: "boolean",
    name: "json",
    summary: "Print the report as JSON on standard output, and nothing else there",
    group: "Report",
  },
];

/** `--keep`. */
export const LAB_FLAGS: readonly FlagSpec[] = [
  {
    kind: "boolean",
    name: "keep",
    summary: "Leave the lab folder in place at the end, and print where it is",
  },
];

/** `--seed`: what is drawn by chance is drawn the same way again. */
export const SEED_FLAG: IntegerFlag = {
  kind: "integer",
  name: "seed",
  min: 0,
  max: 2_147_483_647,
  summary: "Draw the same options as the run that printed this seed",
  defaultText: "drawn, and printed",
};

/** `--repeat`. */
export const REPEAT_FLAG: IntegerFlag = {
  kind: "integer",
  name: "repeat",
  min: 1,
  max: 1000,
  default: 1,
  summary: "Run everything this many times",
};

/** `--half`: which half of a drill. */
export const HALF_FLAG: StringFlag = {
  kind: "string",
  name: "half",
  choices: ["broken", "repaired", "disarmed", "control"],
  summary: "Run only this half: the failure, its repair, no fault, or nothing wrong at all",
  defaultText: "broken and repaired",
};

/** `--all-variants`. */
export const ALL_VARIANTS_FLAG: FlagSpec = {
  kind: "boolean",
  name: "all-variants",
  summary: "Run every variant of each failure, not only the one that the seed draws",
};

/** `--points`: how many kill points a sweep tries. */
export const POINTS_FLAG: IntegerFlag = {
  kind: "integer",
  name: "points",
  min: 1,
  max: 10_000,
  summary: "Try at most this many kill points, spread over the run",
  defaultText: "one after each artifact",
};

/** How a replay is done. */
export const REPLAY_FLAGS: readonly FlagSpec[] = [
  {
    kind: "boolean",
    name: "kill-resume",
    summary: "Kill the resume half-way, too, then resume again",
  },
  {
    kind: "string",
    name: "variant",
    valueName: "NAME",
    summary: "Run only this variant of the failure",
    defaultText: "drawn by the seed",
  },
  ALL_VARIANTS_FLAG,
  SEED_FLAG,
];

/** Which project, and which contract file. */
export const PROJECT_FLAGS: readonly FlagSpec[] = [
  {
    kind: "string",
    name: "project",
    valueName: "DIR",
    summary: "The project whose job is tested; it is copied, never run in place",
    defaultText: "this folder",
  },
  {
    kind: "string",
    name: "config",
    valueName: "FILE",
    summary: "The contract file",
    defaultText: "failure-lab.json in the project, if it is there",
  },
];

function text(name: string, valueName: string, summary: string, repeatable = false): StringFlag {
  return { kind: "string", name, valueName, summary, repeatable, group: CONTRACT };
}

function count(name: string, min: number, summary: string): IntegerFlag {
  return { kind: "integer", name, min, max: 1_000_000, summary, group: CONTRACT };
}

function seconds(name: string, defaultText: string, summary: string, minMs = 10): DurationFlag {
  return {
    kind: "duration",
    name,
    unit: "s",
    minMs,
    maxMs: DAY_MS,
    summary,
    defaultText,
    group: CONTRACT,
  };
}

/** Checks `K=V` of `--env`. */
export function checkEnvPair(value: string): string | null {
  return /^[A-Za-z_][A-Za-z0-9_]*=/.test(value)
    ? null
    : "it takes NAME=VALUE, for example --env LANG=C. An empty value is fine: --env NAME=";
}

/** Checks a JSON pointer of `--done-at`. */
export function checkJsonPointer(value: string): string | null {
  return /^(\/([^~/]|~[01])*)*$/.test(value)
    ? null
    : "it takes a JSON pointer, which begins with a slash, for example /done or /state/units.";
}

/** Checks the place of `--key-at`: a JSON pointer, or the number of a word. */
export function checkKeyPlace(value: string): string | null {
  return /^[1-9]\d{0,4}$/.test(value) || checkJsonPointer(value) === null
    ? null
    : "it takes a JSON pointer such as /id, or the number of a word in the line (1 is the first).";
}

/** Every part of the contract that can be given on the command line. */
export const CONTRACT_FLAGS: readonly FlagSpec[] = [
  text("start", "COMMAND", "The command that starts the job, for sh -c"),
  text("resume", "COMMAND", "The command that resumes it after a failure, for sh -c"),
  text("artifacts", "GLOB", "Files that show finished work, for example 'out/*.md'", true),
  count("count", 0, "How many artifacts a finished run leaves"),
  {
    kind: "size",
    name: "min-bytes",
    minBytes: 0,
    maxBytes: 1e15,
    summary: "Smallest size of a whole artifact, in bytes",
    group: CONTRACT,
  },
  text("ends-with", "TEXT", "What a whole artifact ends with, and has nowhere else"),
  {
    kind: "boolean",
    name: "same-as-control",
    negatable: true,
    summary: "Artifacts must have the same content as those of the control run",
    group: CONTRACT,
  },
  text("check", "COMMAND", "Run for each artifact, its path added; a nonzero exit means broken"),
  text("checkpoint", "FILE", "Where the job notes what it has done"),
  {
    ...text("done-at", "POINTER", "Where in the checkpoint the finished units are (JSON pointer)"),
    check: checkJsonPointer,
  },
  text("lock", "PATH", "The job's lock file or folder"),
  text("effects", "FILE", "The job's log of effects: one JSON object per line"),
  {
    ...text(
      "key-at",
      "PLACE",
      "Where in an effect its key is: JSON pointer, or n for the n-th word",
    ),
    check: checkKeyPlace,
  },
  text("monitor", "COMMAND", "The command that watches the job, for sh -c"),
  count("kill-after", 0, "Kill the job when this many artifacts are finished"),
  seconds("run-seconds", "as the contract says", "End a command that runs longer than this"),
  seconds("idle-seconds", "as the contract says", "No new artifact for this long counts as hung"),
  seconds("grace-seconds", "as the contract says", "Time between TERM and KILL", 0),
  text("watch", "PATH", "Also hash this path before and after; any change fails the run", true),
  { ...text("env", "NAME=VALUE", "Set this in the job's environment", true), check: checkEnvPair },
  text("leave-behind", "GLOB", "Do not copy these files of the project", true),
  {
    kind: "boolean",
    name: "start-fails",
    summary: "The start command fails by itself: nothing is done to it, it is only resumed",
    group: CONTRACT,
  },
  {
    kind: "boolean",
    name: "control",
    negatable: true,
    default: true,
    summary: "Run the job once without a failure first",
    group: CONTRACT,
  },
];

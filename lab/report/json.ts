/**
 * The report as JSON. It is the authority: it holds everything, exactly, and the other formats are
 * views of it.
 *
 * @module
 */
import { RECORD_VERSION, type RunSet } from "../record.ts";

/** Keys of the outer levels, in the order in which a person looks for them. */
const SET_KEYS = [
  "schema",
  "version",
  "command",
  "verdict",
  "exitCode",
  "startedAt",
  "endedAt",
  "interrupted",
  "tool",
  "runs",
];
const RUN_KEYS = ["grade", "expected", "record"];
const GRADE_KEYS = ["verdict", "reasonId", "reason", "containmentBroken", "checks"];
const CHECK_KEYS = ["id", "state", "text"];
const RECORD_KEYS = ["schema", "version", "id", "kind", "subject", "half", "label", "rerun"];

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function ordersFor(path: string): readonly string[] {
  switch (path) {
    case "":
      return SET_KEYS;
    case "/runs/*":
      return RUN_KEYS;
    case "/runs/*/grade":
      return GRADE_KEYS;
    case "/runs/*/grade/checks/*":
      return CHECK_KEYS;
    case "/runs/*/record":
      return RECORD_KEYS;
    default:
      return [];
  }
}

/** The value with its keys in one order: the named ones first, all others by the alphabet. */
function ordered(value: unknown, path: string): unknown {
  if (Array.isArray(value)) return value.map((each) => ordered(each, `${path}/*`));
  if (!isObject(value)) return value;
  const first = ordersFor(path).filter((key) => Object.hasOwn(value, key));
  const others = Object.keys(value).filter((key) => !first.includes(key)).sort();
  // Without a prototype, a key of the user's data called "__proto__" is a key like any other.
  const result: Record<string, unknown> = Object.create(null);
  for (const key of [...first, ...others]) result[key] = ordered(value[key], `${path}/${key}`);
  return result;
}

/** A set of runs as JSON text; the same content always gives the same bytes. */
export function jsonReport(runSet: RunSet): string {
  return `${JSON.stringify(ordered(runSet, ""), null, 2)}\n`;
}

/** A saved set of runs as it was found: the records still have to be graded or validated. */
export type SavedRunSet = Omit<RunSet, "runs"> & {
  runs: { record: unknown; grade: unknown; expected: RunSet["runs"][number]["expected"] }[];
};

/**
 * Reads what `jsonReport` wrote. Only the outer shape is checked: a damaged record is for the
 * grader to refuse, with its reason.
 *
 * @throws {SyntaxError} When the text is not JSON.
 * @throws {TypeError} When it is JSON, but no report of this version; says what it is instead.
 */
export function parseRunSet(text: string): SavedRunSet {
  const value: unknown = JSON.parse(text);
  const schema = isObject(value) ? value["schema"] : undefined;
  if (!isObject(value) || schema !== "failure-lab/run-set") {
    throw new TypeError(
      `This is not a report of failure-lab: its "schema" is ${
        JSON.stringify(schema) ?? "missing"
      }, ` +
        `and must be "failure-lab/run-set". Give the report.json of a run.`,
    );
  }
  if (value["version"] !== RECORD_VERSION) {
    throw new TypeError(
      `The report has version ${JSON.stringify(value["version"]) ?? "none"}; this program reads ` +
        `version ${RECORD_VERSION}. Read it with the program that wrote it.`,
    );
  }
  const runs = value["runs"];
  if (!Array.isArray(runs) || !runs.every(isObject)) {
    throw new TypeError('The report is damaged: "runs" must be a list of runs.');
  }
  return value as unknown as SavedRunSet;
}

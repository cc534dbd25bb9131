/**
 * Drill runs, put together by drill: what its broken and its repaired half gave, over all repeats.
 *
 * @module
 */
import { factsOf, type Run, type RunFacts } from "./facts.ts";
import { formatDuration } from "./text.ts";

/** One drill (and variant) in the words of a table. */
export interface DrillRow {
  drill: string;
  broken: string;
  repaired: string;
  units: string;
  repeated: string;
  recovery: string;
  /** Whether everything came as the answer key expects. */
  isAsExpected: boolean;
  /** What was not as expected, each in one sentence. */
  notes: string[];
}

/** Puts the drill runs of a set together; other kinds of runs are left out. */
export function drillRows(runs: readonly Run[]): DrillRow[] {
  const groups = new Map<string, Run[]>();
  for (const run of runs) {
    const { kind, subject, fault } = run.record;
    if (kind !== "drill") continue;
    const key = JSON.stringify([subject, fault.variant, fault.armed]);
    groups.set(key, [...groups.get(key) ?? [], run]);
  }
  return [...groups.values()].map(drillRow);
}

function drillRow(runs: Run[]): DrillRow {
  const broken = runs.filter((run) => run.record.half === "broken");
  const repaired = runs.filter((run) => run.record.half === "repaired");
  // The repaired half is what the numbers are about; a broken half alone shows its own.
  const counted = (repaired.length > 0 ? repaired : broken).map(factsOf);
  const { subject, fault } = runs[0]?.record ??
    { subject: "", fault: { variant: null, armed: true } };
  const facts = runs.map(factsOf);
  return {
    drill: subject + (fault.variant === null ? "" : ` (${fault.variant})`) +
      (fault.armed ? "" : ", failure switched off"),
    broken: resultOf(broken),
    repaired: resultOf(repaired),
    units: span(counted.map((one) => one.artifacts)),
    repeated: span(counted.map(repeatedOf)),
    recovery: durationSpan(counted.map((one) => one.recoveryMs)),
    isAsExpected: runs.every((run) => run.expected === null || run.expected.met),
    notes: [
      ...new Set(
        facts.flatMap((one) =>
          one.unexpected === null ? [] : [`${one.title}: ${one.unexpected}. ${one.reason}`]
        ),
      ),
    ],
  };
}

/** `fail, as expected`, or for several runs `20 x pass, as expected`. */
function resultOf(runs: readonly Run[]): string {
  if (runs.length === 0) return "-";
  const counts = new Map<string, number>();
  for (const run of runs) {
    const key = run.expected === null
      ? ""
      : run.expected.met
      ? ", as expected"
      : ", NOT as expected";
    const text = run.grade.verdict + key;
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  return [...counts].map(([text, count]) => runs.length === 1 ? text : `${count} x ${text}`)
    .join("; ");
}

/** Outputs made again plus effects that happened again; `-` when neither was looked at. */
function repeatedOf({ rewritten, doubled }: RunFacts): string {
  return rewritten === null && doubled === null ? "-" : String((rewritten ?? 0) + (doubled ?? 0));
}

function span(values: readonly string[]): string {
  return [...new Set(values)].join(", ") || "-";
}

function durationSpan(values: readonly (number | null)[]): string {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return "-";
  const shortest = formatDuration(Math.min(...known));
  const longest = formatDuration(Math.max(...known));
  return shortest === longest ? shortest : `${shortest} to ${longest}`;
}

/**
 * Verdicts, their one precedence, and the exit codes.
 *
 * @module
 */

/** What a graded run can be. */
export type Verdict = "pass" | "fail" | "unproven" | "not-applicable";

/** Every verdict, worst first: the order in which one outranks another. */
export const VERDICT_PRECEDENCE: readonly Verdict[] = [
  "fail",
  "unproven",
  "pass",
  "not-applicable",
];

/**
 * The worst of several verdicts by {@linkcode VERDICT_PRECEDENCE}.
 *
 * No verdict at all is `unproven`, because an empty set of runs shows nothing. `not-applicable`
 * never turns a set into a pass by itself: a set of only those is `unproven`, too.
 */
export function mergeVerdicts(verdicts: readonly Verdict[]): Verdict {
  const worst = VERDICT_PRECEDENCE.find((verdict) => verdicts.includes(verdict));
  return worst === undefined || worst === "not-applicable" ? "unproven" : worst;
}

/** Exit codes of the program; `--help` prints the same table. */
export const EXIT_CODES = {
  pass: 0,
  fail: 1,
  usage: 2,
  unproven: 3,
  environment: 4,
  containment: 5,
  internal: 70,
  interrupted: 130,
  terminated: 143,
} as const;

/** One line per exit code, for help and README. */
export const EXIT_CODE_TEXTS: readonly (readonly [number, string])[] = [
  [EXIT_CODES.pass, "pass"],
  [EXIT_CODES.fail, "fail"],
  [EXIT_CODES.usage, "usage: a flag, a name or a file you gave is not right"],
  [EXIT_CODES.unproven, "unproven: something could not be shown, so it is not a pass"],
  [EXIT_CODES.environment, "this machine lacks something that is needed"],
  [EXIT_CODES.containment, "containment broken: something outside the lab changed"],
  [EXIT_CODES.internal, "internal error"],
  [EXIT_CODES.interrupted, "interrupted (Ctrl-C); 143 when ended by TERM"],
];

/** The exit code of a set of graded runs; broken containment outranks every verdict. */
export function exitCodeFor(verdict: Verdict, containmentBroken: boolean): number {
  if (containmentBroken) return EXIT_CODES.containment;
  if (verdict === "pass") return EXIT_CODES.pass;
  if (verdict === "fail") return EXIT_CODES.fail;
  return EXIT_CODES.unproven;
}

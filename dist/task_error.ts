// Exit codes of the tasks; the same meanings as those of the program.

/** The task was called wrongly. */
export const EXIT_USAGE = 2;

/** This machine or its network lacks something that the task needs. */
export const EXIT_ENVIRONMENT = 4;

/** A problem that the person can act on: printed without a stack trace, ends with `exitCode`. */
export class TaskError extends Error {
  /** The exit code of the task. */
  readonly exitCode: number;

  /** `message` says what happened, the value, the rule and what to do next. */
  constructor(message: string, exitCode: number, options?: ErrorOptions) {
    super(message, options);
    this.name = "TaskError";
    this.exitCode = exitCode;
  }
}

/** The candidate that `word` most likely meant, or `undefined` when none is near. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  let best: string | undefined;
  let bestDistance = Math.max(2, Math.floor(word.length / 2)) + 1;
  for (const candidate of candidates) {
    const distance = editDistance(word, candidate);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const swap = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, swap));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

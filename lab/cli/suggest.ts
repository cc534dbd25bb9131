/**
 * "Did you mean …?" for names that were mistyped.
 *
 * @module
 */

/**
 * How many single slips (a wrong, missing, extra or swapped character) lie between two words:
 * Damerau-Levenshtein distance in its optimal string alignment form.
 */
export function editDistance(from: string, to: string): number {
  const a = [...from];
  const b = [...to];
  let beforeLast: number[] = [];
  let last = b.map((_, index) => index + 1);
  last.unshift(0);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      let best = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
      );
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] &&
        a[row - 2] === b[column - 1];
      if (swapped) best = Math.min(best, (beforeLast[column - 2] ?? 0) + 1);
      current.push(best);
    }
    beforeLast = last;
    last = current;
  }
  return last[b.length] ?? 0;
}

/**
 * The candidate that was most likely meant, or `null` when none is near. Near is: the word is the
 * beginning of exactly one candidate (three characters or more), or about a third of its
 * characters are wrong (one in a short word, never more than three).
 */
export function suggest(word: string, candidates: readonly string[]): string | null {
  const lower = word.toLowerCase();
  if (lower === "" || lower.length > 60) return null;
  const begun = candidates.filter((name) => lower.length >= 3 && name.startsWith(lower));
  if (begun.length === 1) return begun[0] ?? null;
  const limit = Math.min(3, Math.max(1, Math.floor((lower.length + 1) / 3)));
  let best: string | null = null;
  let bestDistance = limit + 1;
  for (const candidate of candidates) {
    const distance = editDistance(lower, candidate.toLowerCase());
    // A one-letter word is one slip away from every other one: that is no likeness.
    if (distance < bestDistance && distance < Math.max(lower.length, candidate.length)) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** ` Did you mean X?`, or nothing when no candidate is near. `prefix` goes before the name. */
export function didYouMean(word: string, candidates: readonly string[], prefix = ""): string {
  const found = suggest(word, candidates);
  return found === null ? "" : ` Did you mean ${prefix}${found}?`;
}

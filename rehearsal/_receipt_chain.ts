/**
 * The hash chain of a receipt: each section is sealed together with its name, its place and the
 * section before it, and each value in it has a short mark, so that a change can be named by its
 * path.
 *
 * @module
 */
import { timingSafeEqual } from "@std/crypto/timing-safe-equal";
import { hashBytes } from "../lab/mod.ts";

/** JSON values, as `JSON.parse` gives them. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** One sealed part of a receipt. */
export interface Section {
  /** For example `run-1/recovery`. */
  name: string;
  /** Seal of the section before it; {@linkcode FIRST_LINK} for the first one. */
  previous: string;
  /** Hash over name, place, `previous`, body and marks. */
  sha256: string;
  /** What it says. */
  body: { [key: string]: Json };
  /** Short hash of every value, by its path. It helps to find a change; `sha256` is what counts. */
  marks: { [path: string]: string };
}

/** What stands for the section before the first one. */
export const FIRST_LINK = "0".repeat(64);

const MARK_LENGTH = 12;
const encoder = new TextEncoder();

function hashJson(value: unknown): string {
  return hashBytes(encoder.encode(JSON.stringify(value)));
}

/** Seals bodies into a chain. */
export function sealSections(
  bodies: readonly { name: string; body: Section["body"] }[],
): Section[] {
  const sections: Section[] = [];
  let previous = FIRST_LINK;
  for (const [index, { name, body }] of bodies.entries()) {
    const marks = marksOf(body);
    const sha256 = sectionHash({ name, previous, body, marks }, index);
    sections.push({ name, previous, sha256, body, marks });
    previous = sha256;
  }
  return sections;
}

/** The hash that seals a section at its place. */
export function sectionHash(
  { name, previous, body, marks }: Omit<Section, "sha256">,
  index: number,
): string {
  return hashJson(["failure-lab/receipt-section", index, name, previous, body, marks]);
}

/** The hash that ends a chain, so that nothing can be taken from its end. */
export function endHash(sections: readonly Pick<Section, "sha256">[]): string {
  return hashJson([
    "failure-lab/receipt-end",
    sections.length,
    sections.at(-1)?.sha256 ?? FIRST_LINK,
  ]);
}

/** The mark of every value in a body, in the order in which they stand. */
export function marksOf(body: Section["body"]): { [path: string]: string } {
  const marks: { [path: string]: string } = Object.create(null);
  for (const [path, value] of leavesOf(body, "")) {
    marks[path] = hashJson([path, value]).slice(0, MARK_LENGTH);
  }
  return marks;
}

/** Every value that holds no others, with its JSON pointer. */
export function* leavesOf(value: Json, path: string): Generator<[path: string, value: Json]> {
  const entries = typeof value === "object" && value !== null ? Object.entries(value) : [];
  if (entries.length === 0) yield [path, value];
  for (const [key, inner] of entries) {
    yield* leavesOf(inner, `${path}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`);
  }
}

/** What is wrong with a sealed part. */
export interface SealProblem {
  /** Name of the section; `null` for the whole receipt. */
  section: string | null;
  /** JSON pointer in its body; `null` when it is not about one value. */
  path: string | null;
  /** What was found, against which rule. */
  text: string;
}

/** Checks one section by itself: whether its seal fits, and where it was changed if not. */
export function checkSection(section: Section, index: number): SealProblem[] {
  if (isSameDigest(sectionHash(section, index), section.sha256)) return [];
  const { name, body, marks } = section;
  const places = differingMarks(Object.entries(marksOf(body)), Object.entries(marks));
  if (places.length > 0) {
    return places.map(({ path, what }) => ({ section: name, path, text: what }));
  }
  return [{
    section: name,
    path: null,
    text: "no value was changed, but the seal does not fit: its name, its place, its link or its " +
      "hash was changed",
  }];
}

function differingMarks(
  seen: readonly [string, string][],
  stored: readonly [string, string][],
): { path: string; what: string }[] {
  const have = new Map(seen);
  const want = new Map(stored);
  const problems = [
    ...stored.filter(([path]) => !have.has(path)).map(([path]) => ({
      path,
      what: "the value is missing (or was never there)",
    })),
    ...seen.filter(([path]) => !want.has(path)).map(([path]) => ({
      path,
      what: "the value was added",
    })),
    ...seen.filter(([path, mark]) => want.has(path) && want.get(path) !== mark).map(([path]) => ({
      path,
      what: "the value was changed (or its mark)",
    })),
  ];
  if (problems.length > 0) return problems;
  const moved = seen.find(([path], index) => stored[index]?.[0] !== path);
  return moved === undefined ? [] : [{ path: moved[0], what: "the value was moved" }];
}

/** Compares two digests in a time that does not tell where they differ. */
export function isSameDigest(left: string, right: string): boolean {
  return timingSafeEqual(encoder.encode(left), encoder.encode(right));
}

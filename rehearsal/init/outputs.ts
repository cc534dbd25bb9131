/**
 * What a job's scripts and folders say about its outputs: where they are, and how many.
 *
 * @module
 */
import { basename, extname } from "@std/path";
import type { ProjectFacts } from "./project_facts.ts";

/** A guess, and what it rests on. */
export interface Guess<T> {
  value: T;
  /** For a person: where this comes from. */
  why: string;
}

const OUTPUT_FOLDERS =
  "out|outputs?|results?|artifacts|reports?|generated|processed|done|pages|summaries|dist|build";
const INPUT_FOLDERS: readonly string[] = [
  "in",
  "input",
  "inputs",
  "tasks",
  "prompts",
  "items",
  "queue",
  "todo",
  "data/in",
  "src_docs",
];
/** Half-made files, logs and programs: not an output. */
const TEMPORARY_REGEXP =
  /(^|\/)\.|\.(tmp|temp|part|partial|swp|bak|lock|pid|log)\b|~$|\.([cm]?[jt]s|py|sh|rb|pl|php)$/;
const GLOBS_MAX = 5;

/** Text of the job's scripts, with simple variables put in and paths joined. */
export function scriptText(facts: ProjectFacts, sources: readonly string[]): string {
  const text = sources.map((path) => facts.text(path) ?? "").join("\n")
    // Comments tell about other things as well.
    .replace(/^\s*(#|\/\/).*$/gm, "");
  const variables = new Map<string, string>();
  for (
    const [, name = "", value = ""] of text.matchAll(
      /^\s*(?:export\s+|const\s+|let\s+)?(\w+)\s*=\s*(?:Path\()?["']?([\w./-]+)["']?\)?\s*;?\s*$/gm,
    )
  ) variables.set(name, value);
  const known = (name: string, otherwise: string) => variables.get(name) ?? otherwise;
  return text
    .replace(/\$\{(\w+)(?::?-[^}]*)?\}|\$(\w+)/g, (all, a, b) => known(a ?? b, all))
    .replace(
      /os\.path\.join\(([^()]*)\)/g,
      (_all, list: string) =>
        `"${
          list.split(",").map((part) => part.trim().replace(/^f?["']|["']$/g, ""))
            .map((part) => known(part, part)).join("/")
        }"`,
    )
    .replace(
      /\b(\w+)\s*\/\s*f?"([^"]*)"/g,
      (all, name, rest) => variables.has(name) ? `"${variables.get(name)}/${rest}"` : all,
    );
}

/** Where the outputs are, as globs. */
export function guessOutputs(facts: ProjectFacts, text: string): Guess<string[]> | null {
  return outputsInText(text) ?? outputsOnDisk(facts);
}

function outputsInText(text: string): Guess<string[]> | null {
  const pattern = new RegExp(
    String
      .raw`(?<![\w/.$}*-])(?:\./)?((?:${OUTPUT_FOLDERS})/(?:\$\([^()]*\)|\$\{[^}]*\}|\{[^}\s]*\}|[^\s"'${"`"};|&<>(),])+)`,
    "g",
  );
  const counts = new Map<string, number>();
  for (const [, token = ""] of text.matchAll(pattern)) {
    if (TEMPORARY_REGEXP.test(token)) continue;
    const glob = globOf(token);
    if (glob !== null) counts.set(glob, (counts.get(glob) ?? 0) + 1);
  }
  const globs = [...counts].sort(([, a], [, b]) => b - a).map(([glob]) => glob);
  const many = globs.filter((glob) => glob.includes("*"));
  const value = many.length > 0 ? many.slice(0, 1) : globs.slice(0, GLOBS_MAX);
  return value.length === 0 ? null : { value, why: "the script writes there" };
}

/** `out/$i.md` as `out/*.md`; `null` for a folder. */
function globOf(token: string): string | null {
  const glob = token
    .replace(/\$\([^()]*\)|\$\{[^}]*\}|\{[^}\s]*\}|\$\w+|\$@|\$\*|%0?\d*[sd]|\$[<%*]|%/g, "*")
    .replace(/\*+/g, "*")
    .replace(/[:.]+$/, "");
  if (glob.endsWith("/") || /[\\[\]]/.test(glob)) return null;
  const name = basename(glob);
  return name.includes("*") || extname(name) !== "" ? glob : null;
}

function outputsOnDisk(facts: ProjectFacts): Guess<string[]> | null {
  const pattern = new RegExp(`^(?:${OUTPUT_FOLDERS})/[^/]+$`);
  const counts = new Map<string, number>();
  for (const path of facts.files) {
    if (!pattern.test(path) || TEMPORARY_REGEXP.test(path)) continue;
    const glob = `${path.slice(0, path.indexOf("/"))}/*${extname(path)}`;
    counts.set(glob, (counts.get(glob) ?? 0) + 1);
  }
  const best = [...counts].sort(([, a], [, b]) => b - a)[0];
  return best === undefined
    ? null
    : { value: [best[0]], why: `there are ${best[1]} such files now` };
}

/** How many outputs a finished run leaves. */
export function guessCount(
  facts: ProjectFacts,
  text: string,
  globs: readonly string[],
): Guess<number> | null {
  if (globs.length > 0 && globs.every((glob) => !glob.includes("*"))) {
    return { value: globs.length, why: "each of them by name" };
  }
  return countInLoop(text) ?? countOfInputs(facts, text) ?? countOnDisk(facts, globs);
}

function countInLoop(text: string): Guess<number> | null {
  const units = /^\s*(?:const\s+|export\s+)?(?:units|count|total|n)\s*=\s*(\d{1,6})\s*;?\s*$/im
    .exec(text);
  if (units !== null) return positive(Number(units[1]), `the script says ${units[0].trim()}`);
  const words = /\bfor\s+\w+\s+in\s+((?:[\w.-]+[ \t]+)*[\w.-]+)\s*(?:;|\n)/.exec(text)?.[1];
  if (words !== undefined) {
    const list = words.split(/\s+/);
    if (list.length > 1) return { value: list.length, why: `the script goes through ${words}` };
  }
  const ranges: [RegExp, (from: number, to: number) => number][] = [
    [/\bseq\s+(?:(\d+)\s+)?(\d+)/, (from, to) => to - from + 1],
    [/\{(\d+)\.\.(\d+)\}/, (from, to) => to - from + 1],
    [/\brange\((?:(\d+)\s*,\s*)?(\d+)\)/, (from, to) => to - from],
  ];
  for (const [pattern, count] of ranges) {
    const match = pattern.exec(text);
    if (match === null) continue;
    const from = match[1] === undefined ? (match[0].startsWith("seq") ? 1 : 0) : Number(match[1]);
    return positive(count(from, Number(match[2])), `the script counts: ${match[0]}`);
  }
  return null;
}

function positive(value: number, why: string): Guess<number> | null {
  return value > 0 ? { value, why } : null;
}

function countOfInputs(facts: ProjectFacts, text: string): Guess<number> | null {
  for (const folder of INPUT_FOLDERS) {
    if (!new RegExp(`(?<![\\w/])${folder}/?(?![\\w])`).test(text)) continue;
    const inputs = facts.files.filter((path) =>
      path.startsWith(`${folder}/`) && !/(^|\/)\./.test(path)
    );
    if (inputs.length > 0) {
      return { value: inputs.length, why: `there are ${inputs.length} files in ${folder}/` };
    }
  }
  return null;
}

function countOnDisk(facts: ProjectFacts, globs: readonly string[]): Guess<number> | null {
  const patterns = globs.map((glob) =>
    new RegExp(
      `^${
        glob.split("*").map((part) => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&")).join("[^/]*")
      }$`,
    )
  );
  const found = facts.files.filter((path) => patterns.some((pattern) => pattern.test(path)));
  return positive(found.length, `there are ${found.length} such files now`);
}

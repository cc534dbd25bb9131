/**
 * Takes out of a record what tells about the machine and its user: paths, names, values of the
 * environment. Paths of outputs stay, because a receipt is checked against them.
 *
 * Every string of a record goes through the same rules, wherever it stands, because a path can hide
 * in an argument, in the end of an output, in evidence, in a sentence or in a shell-quoted line.
 *
 * @module
 */
import { basename, dirname } from "@std/path";
import type { RunRecord } from "../lab/mod.ts";
import type { Json } from "./_receipt_chain.ts";
import {
  ABSOLUTE_REGEXP,
  ENV_VALUE_LENGTH_MIN,
  escapeRegExp,
  HOME_REGEXP,
  isTelling,
  LAB_REGEXP,
  OUTPUT_LISTS,
  OWN_WORDS,
  PATH_END,
  SECRET_LENGTH_MIN,
  SECRET_NAME_REGEXP,
  SECRET_SHAPE_REGEXP,
  spellings,
  SYSTEM_REGEXP,
  wordRegExp,
} from "./_receipt_patterns.ts";

/** What is known about the machine on which a receipt is made. */
export interface RedactionContext {
  /** The user's home; `null` when there is none. */
  home: string | null;
  /** Names of the user. */
  users: readonly string[];
  /** Name of the machine; `null` when it cannot be asked. */
  host: string | null;
  /** Folders for temporary files, as named and with links resolved. */
  tempDirs: readonly string[];
  /** The report's folder. */
  reportDir: string | null;
  /** The environment; values of secret-looking variables are taken out. */
  env: Readonly<Record<string, string>>;
  /** Whether to leave out what the commands printed. */
  omitOutput: boolean;
}

/** What was done to make a receipt fit to hand out. */
export interface Redaction {
  /** How often each stand-in was put in. */
  replaced: Record<string, number>;
  /** What stays although it looks private, in words. */
  left: string[];
}

interface Rule {
  pattern: RegExp;
  replace: (match: string, ...groups: string[]) => string;
}

/** Applies the rules to the records of one receipt; the same path gets the same stand-in everywhere. */
export class Redactor {
  readonly #context: RedactionContext;
  readonly #rules: Rule[];
  readonly #names: Rule[];
  readonly #replaced = new Map<string, number>();
  readonly #others = new Map<string, string>();
  readonly #outputs = new Set<string>();

  /**
   * @param records All records of the receipt; what they know about the machine becomes rules.
   * @param context What this machine knows.
   */
  constructor(records: readonly RunRecord[], context: RedactionContext) {
    this.#context = context;
    const homes = [
      ...new Set([...homesIn(records), ...context.home === null ? [] : [context.home]]),
    ];
    this.#rules = [
      ...this.#secretRules(records),
      ...this.#pathRules(records, homes),
    ];
    this.#names = this.#nameRules(homes);
  }

  /** A text without what tells about the machine. */
  text(text: string): string {
    return this.#apply(this.#names, this.#apply(this.#rules, text));
  }

  /** A record without it. */
  record(record: RunRecord): RunRecord {
    const copy = this.#walk(record, [], "") as { [key: string]: Json };
    const { project } = copy;
    // The names of all files of a project are nobody's business, and nothing is checked by them.
    if (typeof project === "object" && project !== null && !Array.isArray(project)) {
      delete project.manifest;
    }
    return copy as unknown as RunRecord;
  }

  /** What was replaced, and what is left in the finished text. */
  redaction(finished: string): Redaction {
    const { home, host } = this.#context;
    const names = [...this.#context.users, ...host === null ? [] : [host]].filter(isTelling);
    const inOutputs = (word: string) => [...this.#outputs].find((path) => path.includes(word));
    const left = [...new Set([...names, ...home === null || home === "/" ? [] : [home]])]
      .filter((word) => wordRegExp(word).test(finished))
      .map((word) =>
        inOutputs(word) === undefined
          ? `"${word}" is still in it`
          : `"${word}" is in the name of an output ("${inOutputs(word)}"), which stays as it is`
      );
    return { replaced: Object.fromEntries([...this.#replaced].sort()), left };
  }

  #walk(value: unknown, trail: readonly string[], key: string): Json {
    if (typeof value === "string") return this.#string(value, trail, key);
    if (Array.isArray(value)) return value.map((each) => this.#walk(each, [...trail, key], ""));
    if (typeof value !== "object" || value === null) return value as Json;
    const inner = [...trail, key];
    const copy: { [key: string]: Json } = Object.create(null);
    for (const [name, each] of Object.entries(value)) {
      if (each === undefined) continue;
      // Names of the record's own language hold no path.
      copy[name.includes("/") ? this.#apply(this.#rules, name) : name] = this.#walk(
        each,
        inner,
        name,
      );
    }
    return copy;
  }

  #string(value: string, trail: readonly string[], key: string): string {
    // In a list the name of the list counts.
    const name = key === "" ? trail.at(-1) ?? "" : key;
    if (OWN_WORDS.has(name) || (key === "name" && trail.at(-1) === "fault")) return value;
    if (trail.includes("declared") && trail.at(-1) === "env") return this.#count(`<env ${key}>`);
    if (name === "finishedAtFault" || (key === "path" && OUTPUT_LISTS.has(trail.at(-2) ?? ""))) {
      this.#outputs.add(value);
      return value;
    }
    if (this.#context.omitOutput && (name === "stdoutTail" || name === "stderrTail")) return "";
    return this.text(value);
  }

  #apply(rules: readonly Rule[], text: string): string {
    return rules.reduce((done, { pattern, replace }) => done.replace(pattern, replace), text);
  }

  #count(token: string): string {
    this.#replaced.set(token, (this.#replaced.get(token) ?? 0) + 1);
    return token;
  }

  #literal(text: string, token: string): Rule[] {
    return spellings(text).map((spelling) => ({
      pattern: new RegExp(escapeRegExp(spelling), "g"),
      replace: () => this.#count(token),
    }));
  }

  #word(text: string, token: string): Rule {
    return { pattern: wordRegExp(text), replace: () => this.#count(token) };
  }

  #secretRules(records: readonly RunRecord[]): Rule[] {
    const declared = Object.entries(declaredEnv(records));
    const fromFlags = declared.map(([name]): Rule => ({
      pattern: new RegExp(`('?${name}=)(?:(?<='${name}=)(?:[^']|'\\\\'')*|[^\\s']+)`, "g"),
      replace: (_match, head) => head + this.#count(`<env ${name}>`),
    }));
    const longestFirst = ([, a]: [string, string], [, b]: [string, string]) => b.length - a.length;
    const secrets = Object.entries(this.#context.env).filter(([name, value]) =>
      SECRET_NAME_REGEXP.test(name) && value.length >= SECRET_LENGTH_MIN
    ).sort(longestFirst);
    const values = declared.filter(([, value]) => value.length >= ENV_VALUE_LENGTH_MIN)
      .sort(longestFirst);
    return [
      ...fromFlags,
      ...secrets.flatMap(([name, value]) => this.#literal(value, `<env ${name}>`)),
      // Others can be plain words, which may be part of longer ones.
      ...values.map(([name, value]) => this.#word(value, `<env ${name}>`)),
      { pattern: SECRET_SHAPE_REGEXP, replace: () => this.#count("<secret>") },
    ];
  }

  #pathRules(records: readonly RunRecord[], homes: readonly string[]): Rule[] {
    const { tempDirs, reportDir } = this.#context;
    const roots = new Map<string, string>();
    const add = (path: string | null | undefined, token: string) => {
      if (path && path.startsWith("/") && path.length > 1 && !roots.has(path)) {
        roots.set(path, token);
      }
    };
    for (const { project } of records) add(project?.path, "<project>");
    add(reportDir, "<report>");
    for (const home of homes) add(home, "<home>");
    for (const dir of tempDirs) add(dir, "<temp>");
    for (const { project } of records) {
      if (project !== null && dirname(project.path) !== "/home") {
        add(dirname(project.path), "<project parent>");
      }
    }
    for (const path of absolutePathsIn(records)) {
      const isKnown = [...roots.keys()].some((root) => path.startsWith(`${root}/`));
      if (!isKnown && !SYSTEM_REGEXP.test(path)) add(path, this.#otherFolder(path));
    }
    const copies = records.flatMap(({ project }) =>
      project === null ? [] : [basename(project.path)]
    );
    return [
      ...[...roots].sort(([a], [b]) => b.length - a.length).flatMap(([path, token]) =>
        spellings(path).map((spelling): Rule => ({
          pattern: new RegExp(escapeRegExp(spelling) + PATH_END, "g"),
          replace: () => this.#count(token),
        }))
      ),
      { pattern: LAB_REGEXP, replace: () => this.#count("<lab>") },
      ...copies.flatMap((name) => this.#literal(`<lab>/work/${name}`, "<copy>")),
      { pattern: HOME_REGEXP, replace: () => this.#count("<home>") },
      {
        pattern: ABSOLUTE_REGEXP,
        replace: (path) => SYSTEM_REGEXP.test(path) ? path : this.#count(this.#other(path)),
      },
    ];
  }

  /** A path of which nothing is known: its last part stays, because it can be a program. */
  #other(path: string): string {
    return `${this.#otherFolder(dirname(path))}/${basename(path)}`;
  }

  #otherFolder(folder: string): string {
    const known = this.#others.get(folder) ?? `<path ${this.#others.size + 1}>`;
    this.#others.set(folder, known);
    return known;
  }

  #nameRules(homes: readonly string[]): Rule[] {
    const { users, host } = this.#context;
    const hosts = host === null ? [] : [host, host.split(".")[0] ?? host];
    const people = [...users, ...homes.map((home) => basename(home))];
    return [
      ...[...new Set(hosts)].filter(isTelling).map((name) => this.#word(name, "<host>")),
      ...[...new Set(people)].filter(isTelling).map((name) => this.#word(name, "<user>")),
    ];
  }
}

function declaredEnv(records: readonly RunRecord[]): Record<string, string> {
  const all: Record<string, string> = {};
  for (const { contract: { declared } } of records) {
    if (typeof declared !== "object" || declared === null || Array.isArray(declared)) continue;
    const { env } = declared;
    if (typeof env !== "object" || env === null || Array.isArray(env)) continue;
    for (const [name, value] of Object.entries(env)) all[name] = String(value);
  }
  return all;
}

/** Homes that a record names; it may come from another machine. */
function homesIn(records: readonly RunRecord[]): string[] {
  return [...JSON.stringify(records).matchAll(/(?<![\w>.~-])\/(?:home|Users)\/[\w.-]*\w/g)]
    .map(([home]) => home);
}

/** Paths that stand in a record as such, so that one with a blank in it is known as a whole. */
function absolutePathsIn(records: readonly RunRecord[]): string[] {
  return records.flatMap(({ containment, contract: { declared } }) => {
    const watch = typeof declared === "object" && declared !== null && !Array.isArray(declared) &&
        Array.isArray(declared.watch)
      ? declared.watch.filter((path) => typeof path === "string")
      : [];
    return [
      ...containment?.watched.map((each) => each.path) ?? [],
      ...containment?.excluded ?? [],
      ...containment?.changes.map((each) => each.path) ?? [],
      ...watch,
    ];
  }).filter((path) => path.startsWith("/"));
}

/**
 * What makes a comparison of two runs unfair, and what should be known about a fair one.
 *
 * @module
 */
import type { RunRecord } from "../lab/mod.ts";
import { isObject, names, type Pair, type Refusal } from "./_compare_pairs.ts";
import { CONFIG_NAME } from "./config.ts";
import { manifestDifference } from "./project_manifest.ts";

/** What the user says was changed between the two runs. */
export interface ChangesDeclared {
  /** Files or folders, relative to the project. */
  paths: readonly string[];
  /** Commands of the contract. */
  commands: readonly ("start" | "resume")[];
}

/** Options in which two runs may differ without harm: they come from the user's environment. */
const FREE_OPTIONS: ReadonlySet<string> = new Set(["removedVariables", "movedVariables"]);
/** Shown at most. */
const OPTIONS_MAX = 5;
/** Options that are part of the point at which the failure strikes, or judged by themselves. */
const OTHER_OPTIONS: readonly string[] = [
  "killAfterArtifacts",
  "killResume",
  "variant",
  "definitionSha256",
  "repeat",
];

/** Every reason why these pairs are not fair, each once. */
export function refusalsOf(pairs: readonly Pair[], declared: ChangesDeclared): Refusal[] {
  const all = pairs.flatMap(([{ record: old }, { record: now }]) =>
    [
      ...applicability(old, now),
      ...projectRefusals(old, now, declared),
      ...contractRefusals(old, now, declared),
      ...evidenceRefusals(old, now),
      ...drillRefusals(old, now),
      ...optionRefusals(old, now),
    ].map((refusal) => ({ ...refusal, run: old.subject }))
  );
  const seen = new Set<string>();
  return all.filter(({ id, text }) => {
    const key = `${id} ${text}`;
    return seen.size !== seen.add(key).size;
  });
}

type Found = Omit<Refusal, "run">;

function applicability(old: RunRecord, now: RunRecord): Found[] {
  if ((old.notApplicable === null) === (now.notApplicable === null)) return [];
  const [side, why] = old.notApplicable === null
    ? ["AFTER", now.notApplicable]
    : ["BEFORE", old.notApplicable];
  return [{
    id: "not-applicable-once",
    text: `"${old.subject}" was run on one side only; in ${side} it did not apply: ${why}`,
  }];
}

function projectRefusals(old: RunRecord, now: RunRecord, declared: ChangesDeclared): Found[] {
  if (old.kind === "drill") return [];
  const was = old.project;
  const is = now.project;
  if (was === null || is === null || was.sha256 === null || is.sha256 === null) {
    const side = (was?.sha256 ?? null) === null ? "BEFORE" : "AFTER";
    return [{
      id: "project-unknown",
      text: `${side} does not say which files its project held, so nobody can tell whether both ` +
        "ran the same job. Run it again",
    }];
  }
  const difference = manifestDifference(was.manifest, is.manifest);
  if (was.sha256 === is.sha256) {
    return difference === null || difference.length === 0 ? [] : [{
      id: "damaged",
      text: `The projects have one hash but other files (${
        names(difference)
      }): a record is damaged`,
    }];
  }
  if (difference === null) {
    return [{
      id: "other-project",
      text: "Another project: the hashes of the two folders differ, and the records do not hold " +
        "the hashes of their files, so no declared change can be checked. Run BEFORE again",
    }];
  }
  const free = declared.commands.length > 0 ? [...declared.paths, CONFIG_NAME] : declared.paths;
  const isOwnReport = ownReports(Object.keys({ ...was.manifest, ...is.manifest }));
  const surplus = difference.filter((path) =>
    !isHistory(path) && !isOwnReport(path) && !isDeclared(path, free)
  );
  if (surplus.length > 0) {
    return [{
      id: "other-project",
      text: `Another project: ${surplus.length} file(s) differ that were not declared: ` +
        `${names(surplus)}. If that is the change you want to judge, say so: ` +
        surplus.slice(0, 3).map((path) => `--changed ${path}`).join(" ") +
        (surplus.length > 3 ? " …" : ""),
    }];
  }
  return difference.length > 0 ? [] : [{
    id: "other-project",
    text: "Another project: the hashes of the two folders differ, but no file does: something " +
      "else is not the same (a link, an empty folder, who may run a file)",
  }];
}

/** The report of the first run often lies in the project when the second one begins. */
function ownReports(paths: readonly string[]): (path: string) => boolean {
  const all = new Set(paths);
  const folderOf = (path: string) => path.slice(0, path.lastIndexOf("/") + 1);
  const isReport = (folder: string) =>
    ["report.json", "report.html", "junit.xml", "report.md"].every((name) =>
      all.has(folder + name)
    );
  const isItsFile = (name: string) =>
    /^(report\.(json|html|md)|junit\.xml|receipt\.json|journal-.*\.jsonl)$/.test(name);
  return (path) => {
    const folder = folderOf(path);
    return isItsFile(path.slice(folder.length)) && isReport(folder);
  };
}

/** A commit of the change changes the history as well; that is no change of the job. */
function isHistory(path: string): boolean {
  return path === ".git/" || path.startsWith(".git/");
}

function isDeclared(path: string, declared: readonly string[]): boolean {
  return declared.some((each) => path === each || path.startsWith(`${each}/`));
}

function contractRefusals(old: RunRecord, now: RunRecord, declared: ChangesDeclared): Found[] {
  const { contract: was } = old;
  const { contract: is } = now;
  const keys = [
    ...differingKeys(was.declared, is.declared, ""),
    ...(was.count === is.count ? [] : ["artifacts.count"]),
    ...(was.emptyAllowed === is.emptyAllowed ? [] : ["artifacts.emptyAllowed"]),
    ...(was.contentChecks.join() === is.contentChecks.join() ? [] : ["content checks"]),
  ];
  // The kill point is compared as it works, with the fault points.
  const surplus = keys.filter((key) =>
    key !== "killAfterArtifacts" && !isDeclaredCommand(key, declared)
  );
  if (surplus.length > 0) {
    const command = surplus.find((key) => /^(start|resume)(\.|$)/.test(key))?.split(".")[0];
    return [{
      id: "other-contract",
      text: `Another contract: ${names(surplus)} differ(s)` +
        (command === undefined
          ? ". Both runs must be held to the same rules: run AFTER again with BEFORE's contract"
          : `. If that is the change you want to judge, say so: --changed-command ${command}`),
    }];
  }
  return keys.length > 0 || was.sha256 === is.sha256 ? [] : [{
    id: "damaged",
    text: "The two contracts say the same but have other hashes: a record is damaged",
  }];
}

function isDeclaredCommand(key: string, { commands }: ChangesDeclared): boolean {
  return commands.some((name) => key === name || key.startsWith(`${name}.`));
}

/** Dotted names of the values that differ. */
function differingKeys(was: unknown, is: unknown, at: string): string[] {
  if (isObject(was) && isObject(is)) {
    return [...new Set([...Object.keys(was), ...Object.keys(is)])].sort()
      .flatMap((key) => differingKeys(was[key], is[key], at === "" ? key : `${at}.${key}`));
  }
  return JSON.stringify(was) === JSON.stringify(is) ? [] : [at === "" ? "all of it" : at];
}

/** What was seen of the failure must be the same things, and the moment about the same. */
function evidenceRefusals(old: RunRecord, now: RunRecord): Found[] {
  // A failure that was not shown to have happened is for the verdict to judge.
  const isShown = ({ fault }: RunRecord) => fault.delivered && fault.evidence.length > 0;
  if (!isShown(old) || !isShown(now)) return [];
  const [was, is] = [old, now].map(({ fault }) => fault.evidence);
  if (was === undefined || is === undefined) return [];
  const [left, right] = [was, is].map((list) => list.map((each) => each.what));
  const missing = left?.filter((what) => !right?.includes(what)) ?? [];
  const added = right?.filter((what) => !left?.includes(what)) ?? [];
  if (missing.length + added.length > 0) {
    return [{
      id: "other-fault-point",
      text: `Another fault point: the failure was proven by other signs. Only before: ${
        names(missing) || "none"
      }; only now: ${names(added) || "none"}`,
    }];
  }
  const far = was.find(({ what, value }) => {
    const other = is.find((each) => each.what === what)?.value;
    // One more or less is what a race at the moment of the failure gives.
    return what.startsWith("outputs there") && typeof value === "number" &&
      typeof other === "number" && Math.abs(value - other) > 1;
  });
  return far === undefined ? [] : [{
    id: "other-fault-point",
    text: `Another fault point: ${far.what}: ${far.value} before, ${
      is.find((each) => each.what === far.what)?.value
    } now. Run the one again that struck at the wrong place`,
  }];
}

function drillRefusals(old: RunRecord, now: RunRecord): Found[] {
  if (old.kind !== "drill") return [];
  const [was, is] = [old, now].map(({ options }) => options.definitionSha256 ?? null);
  if (was !== is) {
    return [{
      id: "other-drill",
      text:
        `Another drill version: the definition of "${old.subject}" has the hash ${was} before ` +
        `and ${is} now. Run both with the same program`,
    }];
  }
  return was !== null || old.tool.version === now.tool.version ? [] : [{
    id: "other-drill",
    text: `Perhaps another drill version: "${old.subject}" was run by version ` +
      `${old.tool.version} and by ${now.tool.version}. Run both with the same program`,
  }];
}

function optionRefusals(old: RunRecord, now: RunRecord): Found[] {
  const skipped = new Set([...FREE_OPTIONS, ...OTHER_OPTIONS]);
  const keys = [...new Set([...Object.keys(old.options), ...Object.keys(now.options)])]
    .filter((key) => !skipped.has(key))
    .filter((key) => JSON.stringify(old.options[key]) !== JSON.stringify(now.options[key]));
  return keys.length === 0 ? [] : [{
    id: "other-options",
    text: `Another way to run: ${
      keys.slice(0, OPTIONS_MAX).map((key) =>
        `${key} was ${JSON.stringify(old.options[key] ?? null)} and is ${
          JSON.stringify(now.options[key] ?? null)
        }`
      ).join("; ")
    }`,
  }];
}

/** What does not make a pair unfair, but should be known. */
export function warningsOf(pairs: readonly Pair[], isFair: boolean): string[] {
  const first = pairs[0];
  if (first === undefined) return [];
  const [{ record: old }, { record: now }] = first;
  // In a plain rehearsal nothing is drawn. Elsewhere what was drawn is in the records, and the same.
  const isDrawn = isFair && old.kind !== "rehearsal" && old.seed !== now.seed;
  const tool = ({ tool: each }: RunRecord) =>
    `failure-lab ${each.version}, Deno ${each.deno}, ${each.os} ${each.arch}`;
  const isLater = Date.parse(old.startedAt) > Date.parse(now.startedAt);
  return [
    ...(tool(old) === tool(now)
      ? []
      : [`Other programs made the records: before ${tool(old)}; now ${tool(now)}`]),
    ...(isDrawn
      ? [
        `Other seeds (${old.seed}, ${now.seed}); what they drew is the same. To be sure, run AFTER ` +
        `again with --seed ${old.seed}`,
      ]
      : []),
    ...(isLater
      ? [`BEFORE was run after AFTER (${old.startedAt}, ${now.startedAt}): are they swapped?`]
      : []),
  ];
}

/** A declared change that did not happen is a likely slip: the old files were run again. */
export function unusedDeclarations(pairs: readonly Pair[], declared: ChangesDeclared): string[] {
  const first = pairs.find(([{ record }]) => record.kind !== "drill");
  if (first === undefined) return [];
  const [{ record: old }, { record: now }] = first;
  const difference = manifestDifference(old.project?.manifest, now.project?.manifest) ?? [];
  const isSame = old.project?.sha256 === now.project?.sha256;
  const unused = declared.paths.filter((path) =>
    isSame || (difference.length > 0 && !difference.some((each) => isDeclared(each, [path])))
  );
  const keys = differingKeys(old.contract.declared, now.contract.declared, "");
  const commands = declared.commands.filter((name) =>
    !keys.some((key) => isDeclaredCommand(key, { paths: [], commands: [name] }))
  );
  return [
    ...unused.map((path) => `"${path}" was declared as changed, but is the same in both runs`),
    ...commands.map((name) =>
      `"${name}" was declared as changed, but is the same in both contracts`
    ),
  ];
}

/**
 * Ways to start a job that a project shows: scripts, build files, schedules.
 *
 * @module
 */
import { basename, dirname } from "@std/path";
import { type Entry, filesNamedIn, resumeArgument } from "./_entry.ts";
import { cronEntries } from "./cron_entries.ts";
import type { ProjectFacts } from "./project_facts.ts";
import { pythonEntries } from "./python_entries.ts";

const SHELL_NAMES: readonly string[] = [
  "run",
  "start",
  "job",
  "batch",
  "nightly",
  "daily",
  "worker",
  "work",
  "cron",
  "process",
  "agent",
  "loop",
  "main",
  "all",
];
const SHELL_FOLDERS: readonly string[] = ["", "bin/", "scripts/", "script/"];
const RESUME_NAMES: readonly string[] = ["resume", "continue", "recover", "restart"];
const TARGET_NAMES: readonly string[] = [
  "run",
  "job",
  "start",
  "batch",
  "process",
  "generate",
  "all",
  "build",
];
/** Scripts that never end by themselves are no job. */
const SERVER_REGEXP =
  /\b(dev|serve|server|watch|nodemon|vite|webpack-dev-server|http-server|storybook)\b/;

/** Every way that was found, the likeliest first. */
export function findEntries(facts: ProjectFacts): Entry[] {
  const all = [
    ...cronEntries(facts),
    ...shellEntries(facts),
    ...makeEntries(facts),
    ...packageEntries(facts),
    ...denoEntries(facts),
    ...pythonEntries(facts),
    ...loneScript(facts),
  ];
  const seen = new Set<string>();
  return all.filter(({ start }) => seen.size !== seen.add(start).size);
}

/** How a script of the project is called. */
export function scriptCommand(facts: ProjectFacts, path: string): string {
  const quoted = /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
  if (facts.isExecutable(path)) return `./${quoted}`;
  if (path.endsWith(".py")) return `python3 ${quoted}`;
  const first = facts.text(path)?.split("\n", 1)[0] ?? "";
  return `${/bash/.test(first) || path.endsWith(".bash") ? "bash" : "sh"} ${quoted}`;
}

function isShellScript(facts: ProjectFacts, path: string): boolean {
  if (/\.(sh|bash)$/.test(path)) return true;
  if (basename(path).includes(".")) return false;
  return /^#!.*\b(sh|bash|dash|zsh)\b/.test(facts.text(path)?.split("\n", 1)[0] ?? "");
}

function stem(path: string): string {
  return basename(path).replace(/\.(sh|bash)$/, "");
}

function shellEntries(facts: ProjectFacts): Entry[] {
  const scripts = facts.files.filter((path) =>
    SHELL_FOLDERS.includes(folderOf(path)) && isShellScript(facts, path)
  );
  return SHELL_NAMES.flatMap((name) =>
    scripts.filter((path) => stem(path) === name).map((path) => shellEntry(facts, path, scripts))
  );
}

function folderOf(path: string): string {
  const folder = dirname(path);
  return folder === "." ? "" : `${folder}/`;
}

function shellEntry(facts: ProjectFacts, path: string, scripts: readonly string[]): Entry {
  const start = scriptCommand(facts, path);
  const sibling = RESUME_NAMES
    .map((name) => scripts.find((each) => stem(each) === name && folderOf(each) === folderOf(path)))
    .find((each) => each !== undefined);
  const argument = resumeArgument(facts.text(path) ?? "");
  return {
    start,
    resume: sibling !== undefined
      ? scriptCommand(facts, sibling)
      : argument === null
      ? null
      : `${start} ${argument}`,
    from: path,
    sources: [path, ...(sibling === undefined ? [] : [sibling])],
  };
}

/** A project with one script of another name has no other entry. */
function loneScript(facts: ProjectFacts): Entry[] {
  const scripts = facts.files.filter((path) =>
    !path.includes("/") && (isShellScript(facts, path) || path.endsWith(".py"))
  );
  const lone = scripts.filter((path) => !RESUME_NAMES.includes(stem(path)));
  return lone.length === 1 ? lone.map((path) => shellEntry(facts, path, scripts)) : [];
}

function makeEntries(facts: ProjectFacts): Entry[] {
  const file = ["GNUmakefile", "makefile", "Makefile"].find((name) => facts.files.includes(name));
  const text = file === undefined ? null : facts.text(file);
  if (file === undefined || text === null) return [];
  const targets = [...text.matchAll(/^([A-Za-z0-9][\w.-]*)[^:=\n]*:(?!=)/gm)].map((match) =>
    match[1] ?? ""
  );
  const [first] = targets;
  const wanted = TARGET_NAMES.filter((name) => targets.includes(name));
  const resume = RESUME_NAMES.find((name) => targets.includes(name));
  return [...wanted, ...(first === undefined || wanted.includes(first) ? [] : [first])].map(
    (target) => ({
      start: `make -s ${target}`,
      resume: resume === undefined ? null : `make -s ${resume}`,
      from: `${file}, target ${target}`,
      sources: [file],
    }),
  );
}

function parsed(text: string | null): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text ?? "{}");
    return typeof value === "object" && value !== null ? value as Record<string, unknown> : {};
  } catch {
    return {}; // With comments in it, or damaged: then it proposes nothing.
  }
}

function namedCommands(value: unknown): Map<string, string> {
  const entries = typeof value === "object" && value !== null ? Object.entries(value) : [];
  return new Map(entries.flatMap(([name, body]): [string, string][] => {
    const command = typeof body === "string"
      ? body
      : typeof body === "object" && body !== null && "command" in body
      ? String(body.command)
      : null;
    return command === null ? [] : [[name, command]];
  }));
}

function taskEntries(
  tasks: ReadonlyMap<string, string>,
  file: string,
  prefix: string,
  facts: ProjectFacts,
): Entry[] {
  const resume = RESUME_NAMES.find((name) => tasks.has(name));
  return TARGET_NAMES.flatMap((name): Entry[] => {
    const body = tasks.get(name);
    if (body === undefined || SERVER_REGEXP.test(body)) return [];
    return [{
      start: `${prefix} ${name}`,
      resume: resume === undefined ? null : `${prefix} ${resume}`,
      from: `${file}, "${name}"`,
      sources: [file, ...filesNamedIn(facts, body)],
    }];
  });
}

function packageEntries(facts: ProjectFacts): Entry[] {
  if (!facts.files.includes("package.json")) return [];
  const { scripts } = parsed(facts.text("package.json"));
  const managers: [string, string][] = [
    ["pnpm-lock.yaml", "pnpm run"],
    ["yarn.lock", "yarn run"],
    ["bun.lock", "bun run"],
    ["bun.lockb", "bun run"],
  ];
  const prefix = managers.find(([lock]) => facts.files.includes(lock))?.[1] ?? "npm run --silent";
  return taskEntries(namedCommands(scripts), "package.json", prefix, facts);
}

function denoEntries(facts: ProjectFacts): Entry[] {
  const file = ["deno.json", "deno.jsonc"].find((name) => facts.files.includes(name));
  if (file === undefined) return [];
  const { tasks } = parsed(facts.text(file));
  return taskEntries(namedCommands(tasks), file, "deno task", facts);
}

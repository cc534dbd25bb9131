/**
 * Ways to start a Python job.
 *
 * @module
 */
import { dirname } from "@std/path";
import { type Entry, resumeArgument } from "./_entry.ts";
import type { ProjectFacts } from "./project_facts.ts";

const SCRIPT_NAMES: readonly string[] = [
  "run.py",
  "job.py",
  "batch.py",
  "worker.py",
  "process.py",
  "main.py",
  "agent.py",
  "app.py",
];

/** Console scripts of the package, scripts at the top, and packages that can be run. */
export function pythonEntries(facts: ProjectFacts): Entry[] {
  const entry = (start: string, from: string, sources: string[]): Entry => {
    const argument = resumeArgument(sources.map((path) => facts.text(path) ?? "").join("\n"));
    return { start, resume: argument === null ? null : `${start} ${argument}`, from, sources };
  };
  return [
    ...SCRIPT_NAMES.filter((name) => facts.files.includes(name))
      .map((name) => entry(`python3 ${name}`, name, [name])),
    ...consoleScripts(facts).map(({ name, module, call, file }) => {
      const source = moduleFile(facts, module);
      return entry(
        consoleCommand(facts, name, module, call, source),
        `${file}, script ${name}`,
        source === null ? [] : [source],
      );
    }),
    ...facts.files.filter((path) => /^(src\/)?[A-Za-z_]\w*\/__main__\.py$/.test(path))
      .map((path) => {
        const name = dirname(path).replace(/^src\//, "");
        const prefix = path.startsWith("src/") ? "PYTHONPATH=src " : "";
        return entry(`${prefix}python3 -m ${name}`, path, [path]);
      }),
  ];
}

interface ConsoleScript {
  name: string;
  module: string;
  call: string;
  file: string;
}

function consoleScripts(facts: ProjectFacts): ConsoleScript[] {
  const sections: [file: string, heading: RegExp][] = [
    ["pyproject.toml", /^\[(?:project\.scripts|tool\.poetry\.scripts)\]\s*$/m],
    ["setup.cfg", /^\s*console_scripts\s*=\s*$/m],
  ];
  return sections.flatMap(([file, heading]) => {
    const text = facts.files.includes(file) ? facts.text(file) ?? "" : "";
    const match = heading.exec(text);
    if (match === null) return [];
    const body = text.slice(match.index + match[0].length).split(/^\[/m)[0] ?? "";
    return [...body.matchAll(/^\s*["']?([\w.-]+)["']?\s*=\s*["']?([\w.]+):([\w.]+)/gm)].map(
      ([, name = "", module = "", call = ""]) => ({ name, module, call, file }),
    );
  });
}

function moduleFile(facts: ProjectFacts, module: string): string | null {
  const path = module.replaceAll(".", "/");
  const places = [`${path}.py`, `${path}/__init__.py`, `src/${path}.py`, `src/${path}/__init__.py`];
  return places.find((place) => facts.files.includes(place)) ?? null;
}

/** Installed programs lie outside the copy, so the function is called from its source. */
function consoleCommand(
  facts: ProjectFacts,
  name: string,
  module: string,
  call: string,
  source: string | null,
): string {
  if (facts.files.includes("uv.lock")) return `uv run ${name}`;
  if (facts.files.includes("poetry.lock")) return `poetry run ${name}`;
  if (source === null) return name;
  const prefix = source.startsWith("src/") ? "PYTHONPATH=src " : "";
  return `${prefix}python3 -c 'import sys; from ${module} import ${call}; sys.exit(${call}())'`;
}

/**
 * Jobs in crontab files of a project: the very command that runs unattended.
 *
 * @module
 */
import { basename } from "@std/path";
import { type Entry, filesNamedIn } from "./_entry.ts";
import type { ProjectFacts } from "./project_facts.ts";

const FILE_REGEXP = /^\.?crontab(\.txt)?$|\.(cron|crontab)$|^cron(jobs?)?(\.txt)?$/;
const TIME_REGEXP =
  /^(?:@(?:reboot|hourly|daily|midnight|weekly|monthly|yearly|annually)|(?:[\d*,/a-zA-Z-]+\s+){4}[\d*,/a-zA-Z-]+)\s+(.+)$/;
/** What a schedule adds around a command: where the output goes. */
const OUTPUT_REGEXP =
  /\s*(?:(?:\d?|&)>{1,2}\s*(?:&\d|[^\s;&|]+)|\|\s*(?:logger|mail|ts)\b[^;&|]*)\s*$/;

/** Commands of crontab files, with paths into the project made relative. */
export function cronEntries(facts: ProjectFacts): Entry[] {
  const files = facts.files.filter((path) =>
    FILE_REGEXP.test(basename(path)) || /(^|\/)cron\.d\//.test(path)
  );
  return files.flatMap((file) =>
    (facts.text(file) ?? "").split("\n").flatMap((line, index): Entry[] => {
      const command = commandIn(line, facts);
      if (command === null) return [];
      const sources = filesNamedIn(facts, command);
      // A job of something else on that machine is not this project's.
      if (sources.length === 0) return [];
      return [{ start: command, resume: null, from: `${file}, line ${index + 1}`, sources }];
    })
  );
}

function commandIn(line: string, facts: ProjectFacts): string | null {
  const text = line.trim();
  if (text.startsWith("#")) return null;
  let command = TIME_REGEXP.exec(text)?.[1]?.replaceAll("\\%", "%") ?? null;
  if (command === null) return null;
  for (let before = ""; before !== command;) {
    before = command;
    command = command.replace(OUTPUT_REGEXP, "").replace(/^cd\s+[^;&|]+?\s*(?:&&|;)\s*/, "");
  }
  return command.replace(/(?<![\w.])\/[\w./-]+/g, (path) => pathInProject(path, facts));
}

/** The part of an absolute path that names a file of the project, as `./file`. */
function pathInProject(path: string, facts: ProjectFacts): string {
  const parts = path.split("/").filter((part) => part !== "");
  for (let from = 0; from < parts.length; from++) {
    const relative = parts.slice(from).join("/");
    if (facts.files.includes(relative)) {
      return `./${relative}`;
    }
  }
  return path;
}

/**
 * What a way to start a job is.
 *
 * @module
 */
import type { ProjectFacts } from "./project_facts.ts";

/** One way to start the job. */
export interface Entry {
  /** Command for `sh -c`, run in the project's folder. */
  start: string;
  /** Command that resumes it; `null` when the project shows none. */
  resume: string | null;
  /** Where this was found. */
  from: string;
  /** Files that say more about the job: its scripts. */
  sources: string[];
}

/** A resume that the script itself offers as an argument. */
export function resumeArgument(text: string): string | null {
  if (/(^|[\s"'|(])--resume\b/.test(text)) return "--resume";
  if (/(^|[\s"'|(])--continue\b/.test(text) && !/\bclaude\b/.test(text)) return "--continue";
  return /^\s*\(?["']?resume["']?\s*\)/m.test(text) ||
      /["']?\$\{?1\}?["']?\s*=+\s*["']?resume\b/.test(text)
    ? "resume"
    : null;
}

/** Files of the project that a command names. */
export function filesNamedIn(facts: ProjectFacts, command: string): string[] {
  return command.split(/[\s"'=;&|()]+/).map((word) => word.replace(/^\.\//, ""))
    .filter((word) => word !== "" && facts.files.includes(word));
}

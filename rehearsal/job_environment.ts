/**
 * What the user's command sees: its program, its environment, and that neither leads back to the
 * real project.
 *
 * @module
 */
import { basename, dirname, join, normalize } from "@std/path";
import { findProgram } from "../lab/mod.ts";
import { argvOf, type Contract, ContractError } from "./contract.ts";
import { insideProject, mentionInWord, movePaths } from "./project_mentions.ts";
import { isProviderVariable } from "./provider_variables.ts";

/** The environment of the user's command in its copy. */
export interface JobEnvironment {
  /** The variables as the command gets them. `PWD` is the copy's folder. */
  env: Record<string, string>;
  /** Names of provider variables that were taken out. */
  removed: string[];
  /** Names of variables in which the project's path was replaced by the copy's. */
  moved: string[];
}

/**
 * Builds the environment: the user's own, without real provider variables, with every path into
 * the project replaced by the copy's, and the contract's `env` on top.
 */
export function jobEnvironment(
  own: Readonly<Record<string, string>>,
  contract: Contract,
  projectDir: string,
  workspace: string,
): JobEnvironment {
  const env: Record<string, string> = {};
  const removed: string[] = [];
  const moved: string[] = [];
  for (const [name, value] of Object.entries(own)) {
    if (isProviderVariable(name)) {
      removed.push(name);
      continue;
    }
    const here = movePaths(value, projectDir, workspace);
    if (here !== value) moved.push(name);
    env[name] = here;
  }
  for (const [name, value] of Object.entries(contract.env)) {
    env[name] = movePaths(value, projectDir, workspace);
  }
  env.PWD = workspace;
  delete env.OLDPWD;
  return { env, removed, moved };
}

/** Where a command is looked for, and where it will run. */
export interface CommandPlaces {
  /** The real project; absolute, with links resolved. */
  projectDir: string;
  /** The copy; it need not be there yet. */
  workspace: string;
  /** Folders separated by `:`, the user's or those of {@linkcode jobEnvironment}. */
  path: string;
  /** The job's environment, to see what `~` and `$NAME` in a shell's text lead to. */
  env?: Readonly<Record<string, string>>;
}

/**
 * Resolves a command as it will run in the copy.
 *
 * @param what Name of the contract's key, for messages.
 * @returns The words, with the program as an absolute path.
 * @throws {ContractError} When the program is not found or not in the copy, or when a word names the
 *     real project.
 */
export function resolveCommand(
  what: string,
  command: Contract["start"],
  places: CommandPlaces,
): string[] {
  const argv = argvOf(command);
  const { projectDir, env } = places;
  for (const word of argv) {
    const real = mentionInWord(word, projectDir, env);
    if (real === null) continue;
    throw new ContractError(
      `Cannot rehearse "${what}": it names the real project by its full path ("${real}"), so it ` +
        "would work on the real one and not on the copy. Write the path relative to the " +
        "project's folder",
    );
  }
  return [resolveProgram(what, argv[0] ?? "", places), ...argv.slice(1)];
}

function resolveProgram(what: string, name: string, places: CommandPlaces): string {
  const { projectDir, workspace, path } = places;
  // The copy may not be there yet; what will be in it is in the project now.
  const lookedAt = path.split(":").map((dir) =>
    dir === workspace || dir.startsWith(`${workspace}/`)
      ? `${projectDir}${dir.slice(workspace.length)}`
      : dir
  ).join(":");
  const program = findProgram(name, lookedAt, projectDir);
  if (program === null) {
    throw new ContractError(
      `Cannot rehearse "${what}": the command "${name}" was not found or may not be run. ` +
        (name.includes("/")
          ? `It is looked for relative to ${projectDir}`
          : `PATH is ${path || "empty"}`),
    );
  }
  const place = join(Deno.realPathSync(dirname(program)), basename(program));
  const target = insideProject(program, projectDir);
  if (!place.startsWith(`${projectDir}/`) || projectDir === "/") {
    // A link from elsewhere into the project would run the real one.
    return target === null || projectDir === "/" ? normalize(program) : join(workspace, target);
  }
  if (target === null) {
    const real = Deno.realPathSync(program);
    throw new ContractError(
      `Cannot rehearse "${what}": the command "${name}" is a link that leads out of the project, ` +
        `and such links are not in the copy. Name the program that it leads to ("${real}")`,
    );
  }
  return join(workspace, place.slice(projectDir.length + 1));
}

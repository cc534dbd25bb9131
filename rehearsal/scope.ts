/**
 * The permission scope of one rehearsal: what its driver may read, write, run and reach. The
 * runtime enforces it, so the lab cannot write to a watched path even by mistake.
 *
 * @module
 */
import { dirname } from "@std/path";
import { ENV_PROGRAM } from "../lab/mod.ts";

/** Everything that the driver of a run may do, as absolute paths. */
export interface Scope {
  /** Files, and folders with all below them, that may be read. */
  read: string[];
  /** The same for writing: the lab and the report's folder. */
  write: string[];
  /** Programs that may be started. */
  run: string[];
  /** Hosts that may be reached: only this machine, by its loopback address. */
  net: string[];
  /** Watched paths: never written, whatever else is said. */
  denyWrite: string[];
}

/** The parts that a scope is made of. */
export interface ScopeParts {
  projectDir: string;
  watched: readonly string[];
  labRoot: string;
  reportDir: string;
  /** Absolute paths of the job's programs. */
  programs: readonly string[];
  /** Absolute paths of `ps`, `kill` and `sh`. */
  tools: readonly string[];
  /** Absolute paths that are only looked for, such as the keeper's `awk`. */
  lookedFor: readonly string[];
}

/** Builds the scope. Lists are sorted and hold nothing twice. */
export function scopeOf(parts: ScopeParts): Scope {
  const write = unique([parts.labRoot, parts.reportDir]);
  return {
    read: unique([
      parts.projectDir,
      ...parts.watched,
      parts.labRoot,
      parts.reportDir,
      ...parts.tools,
      ...parts.lookedFor,
      // Where a program really is, is asked of its folder.
      ...parts.programs.map((program) => dirname(program)),
    ]),
    write,
    run: unique([...parts.programs, ENV_PROGRAM, ...parts.tools]),
    net: ["127.0.0.1"],
    // A denial outranks every grant, so it must not cover what has to be written.
    denyWrite: unique(
      parts.watched.filter((path) => !write.some((inside) => isWithin(inside, path))),
    ),
  };
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === "/" ? "/" : `${folder}/`);
}

function unique(paths: readonly string[]): string[] {
  return [...new Set(paths)].sort();
}

/**
 * The scope as flags of `deno run`, not quoted for a shell.
 *
 * A comma in a path is written twice. Deno 2.4 takes that for a comma; 2.9 knows no way to write one
 * and refuses the flag, so that nothing is allowed by mistake. A worker's list has no such limit.
 */
export function scopeFlags(scope: Scope): string[] {
  const list = (paths: readonly string[]) =>
    paths.map((path) => path.replaceAll(",", ",,")).join(",");
  return [
    "--no-prompt",
    `--allow-read=${list(scope.read)}`,
    `--allow-write=${list(scope.write)}`,
    // An empty list would be refused, and the name alone would deny everything.
    ...(scope.denyWrite.length === 0 ? [] : [`--deny-write=${list(scope.denyWrite)}`]),
    `--allow-run=${list(scope.run)}`,
    `--allow-net=${list(scope.net)}`,
  ];
}

/** The scope as a worker's permissions. Nothing that is not listed is allowed. */
export function workerPermissions(scope: Scope): Deno.PermissionOptionsObject {
  return {
    read: scope.read,
    write: scope.write,
    run: scope.run,
    net: scope.net,
    env: false,
    sys: false,
    ffi: false,
    import: false,
  };
}

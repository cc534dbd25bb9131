/**
 * Making symbolic links also where Deno does not let us: with rights that are narrowed to some
 * paths it refuses every symlink call (seen with 2.4.2 and 2.9.6), because a link could lead out.
 * A copy needs its links nevertheless.
 *
 * @module
 */
import { systemTool } from "./system_tools.ts";
import { Slices } from "./slices.ts";

/** A link to make. */
export interface LinkRequest {
  /** Where nothing is yet. */
  path: string;
  /** The text of the link, kept as it is. */
  target: string;
  /** A link that may serve as a model: with the same text, it can be linked instead of made. */
  like?: string;
}

/** Links that one shell makes; bounded by the length of a command line (128 KiB at the least). */
const LINKS_PER_SHELL_MAX = 200;
const ARGUMENT_BYTES_MAX = 64 * 1024;
// A target that begins with "-" is no option after "--", and a name with a newline is one word.
const SCRIPT = 'while [ $# -gt 1 ]; do ln -s -- "$1" "$2" || exit 1; shift 2; done';

/**
 * Makes links: by the system call; where that is refused, as a second name of a link that is the
 * same (both must be writable for us); else with `ln`, started by `sh`, and then checked one by one.
 *
 * @throws {Deno.errors.AlreadyExists} When something is at a path.
 * @throws {Deno.errors.NotCapable} When neither way is allowed.
 * @throws {Error} When `ln` fails or makes something else.
 */
export async function makeLinks(
  requests: readonly LinkRequest[],
  signal?: AbortSignal,
): Promise<void> {
  const slices = new Slices(signal);
  const left: LinkRequest[] = [];
  for (const request of requests) {
    if (!makeLink(request)) left.push(request);
    if (slices.isOver) await slices.rest();
  }
  for (const group of groupsOf(left)) {
    await makeByShell(group);
    signal?.throwIfAborted();
  }
}

/** Whether it could be made without a program. */
function makeLink({ path, target, like }: LinkRequest): boolean {
  try {
    Deno.symlinkSync(target, path);
    return true;
  } catch (error) {
    if (!(error instanceof Deno.errors.NotCapable)) throw error;
  }
  if (like === undefined || Deno.readLinkSync(like) !== target) return false;
  try {
    // Linux and macOS link the link itself here, not what it points to.
    Deno.linkSync(like, path);
    if (isMade({ path, target })) return true;
    Deno.removeSync(path);
    return false;
  } catch (error) {
    if (error instanceof Deno.errors.AlreadyExists) throw error;
    return false; // Not ours to write to, or on another disk.
  }
}

function groupsOf(requests: readonly LinkRequest[]): LinkRequest[][] {
  const groups: LinkRequest[][] = [];
  let room = 0;
  for (const request of requests) {
    // Three bytes for each UTF-16 unit at the most.
    const bytes = 3 * (request.path.length + request.target.length);
    room -= bytes;
    const last = groups.at(-1);
    if (last === undefined || room < 0 || last.length === LINKS_PER_SHELL_MAX) {
      groups.push([request]);
      room = ARGUMENT_BYTES_MAX - bytes;
    } else last.push(request);
  }
  return groups;
}

async function makeByShell(requests: readonly LinkRequest[]): Promise<void> {
  for (const { path } of requests) refuseOccupied(path);
  const { success, stderr } = await new Deno.Command(systemTool("sh"), {
    args: ["-c", SCRIPT, "sh", ...requests.flatMap(({ path, target }) => [target, path])],
    clearEnv: true,
    env: { PATH: "/usr/bin:/bin:/run/current-system/sw/bin", LC_ALL: "C" },
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).output();
  const wrong = requests.find((request) => !isMade(request));
  if (success && wrong === undefined) return;
  const said = new TextDecoder().decode(stderr).trim().slice(0, 300);
  throw new Error(
    `Cannot make the link "${wrong?.path}" to "${wrong?.target}": ${said || "ln made none"}`,
  );
}

/** `ln` would put its link into a folder that is there, and be content. */
function refuseOccupied(path: string): void {
  try {
    Deno.lstatSync(path);
  } catch {
    return;
  }
  throw new Deno.errors.AlreadyExists(`Cannot make the link "${path}": something is there already`);
}

function isMade({ path, target }: LinkRequest): boolean {
  try {
    return Deno.readLinkSync(path) === target;
  } catch {
    return false;
  }
}

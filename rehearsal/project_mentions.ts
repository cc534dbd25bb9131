/**
 * Finding what leads to the real project in a text: its full path, however it is written. A link to
 * it, a folder above it that is a link (`/tmp` of macOS), `//` and `..` all lead there, and a job
 * that follows them works on the real project and not on the copy.
 *
 * @module
 */
import { relative } from "@std/path";

/** A part of a text that is a path to the project or into it. */
export interface Mention {
  start: number;
  end: number;
  /** Where it leads, relative to the project's folder; `""` for the folder itself. */
  inside: string;
}

/** What can stand before a path: the beginning, a delimiter, and an option such as `-I` after it. */
const BEFORE_PATH_REGEXP = /(^|[\s"'`=:;,|&<>(){}[\]!@?])(-{1,2}[A-Za-z])?$/;
/** What can end a path although it may be part of a name, too. */
const DELIMITER_REGEXP = /[\s"'`:;,|&<>(){}[\]$*?!#=@\\^]/;
const COMPONENTS_MAX = 64;

/**
 * Finds every path in a text that leads into the project.
 *
 * @param projectDir Absolute, with links resolved. The root folder is never found.
 */
export function findMentions(text: string, projectDir: string): Mention[] {
  const mentions: Mention[] = [];
  if (projectDir === "/") return mentions;
  for (let at = text.indexOf("/"); at >= 0; at = text.indexOf("/", at + 1)) {
    const first = at;
    while (text[at + 1] === "/") at++;
    const before = text.slice(Math.max(0, first - 4), first);
    // Two slashes after a scheme begin the name of a host; three of them, a path.
    const isHost = at === first + 1 && /[\w+.-]:$/.test(before);
    if (isHost || !BEFORE_PATH_REGEXP.test(before)) continue;
    const mention = mentionAt(text, at, projectDir);
    if (mention === null) continue;
    mentions.push(mention);
    at = mention.end - 1;
  }
  return mentions;
}

/** The shortest path from here on that leads into the project. */
function mentionAt(text: string, start: number, projectDir: string): Mention | null {
  const straight = start + projectDir.length;
  const next = text[straight] ?? "/";
  if (text.startsWith(projectDir, start) && (next === "/" || DELIMITER_REGEXP.test(next))) {
    return { start, end: straight, inside: "" };
  }
  let from = start;
  for (let i = 0; i < COMPONENTS_MAX; i++) {
    const slash = text.indexOf("/", from + 1);
    const last = slash < 0 ? text.length : slash;
    // A name may hold delimiters (a space), so that every end of it is tried.
    for (let end = from + 1; end <= last; end++) {
      if (end < last && !DELIMITER_REGEXP.test(text[end] ?? "")) continue;
      const inside = insideProject(text.slice(start, end), projectDir);
      if (inside !== null) return { start, end, inside };
    }
    if (slash < 0 || realPathOf(text.slice(start, slash)) === null) return null;
    from = slash;
  }
  return null;
}

/** Where a path leads, relative to the project; `null` when it does not lead into it. */
export function insideProject(path: string, projectDir: string): string | null {
  const real = realPathOf(path);
  if (real === null) return null;
  const inside = relative(projectDir, real);
  return inside === ".." || inside.startsWith("../") ? null : inside;
}

function realPathOf(path: string): string | null {
  try {
    return Deno.realPathSync(path);
  } catch {
    return null; // Not there, or not ours to look at.
  }
}

/** The text with every path into the project leading to the same place in the copy. */
export function movePaths(text: string, projectDir: string, workspace: string): string {
  let moved = "";
  let from = 0;
  for (const { start, end, inside } of findMentions(text, projectDir)) {
    moved += text.slice(from, start) + workspace + (inside === "" ? "" : `/${inside}`);
    from = end;
  }
  return moved + text.slice(from);
}

/**
 * The first path into the project in a word of a command, as it is written there; `null` when there
 * is none. Looks behind quotes, backslashes, `~` and `$NAME` of a shell as well.
 *
 * @param env What the shell will know; its values are taken for `$NAME` and `~`.
 */
export function mentionInWord(
  word: string,
  projectDir: string,
  env: Readonly<Record<string, string>> = {},
): string | null {
  const plain = word.replace(/["']/g, "").replace(/\\(.)/gs, "$1");
  for (const text of new Set([word, plain])) {
    const [found] = findMentions(text, projectDir);
    if (found !== undefined) return text.slice(found.start, found.end);
  }
  const expanded = expand(plain, env);
  const [found] = expanded === plain ? [] : findMentions(expanded, projectDir);
  return found === undefined ? null : expanded.slice(found.start, found.end);
}

/** Puts in what a shell would, for `~`, `$NAME` and `${NAME}` that stand for a path. */
function expand(text: string, env: Readonly<Record<string, string>>): string {
  const home = env.HOME ?? "";
  const valueOf = (name: string) => {
    const value = Object.hasOwn(env, name) ? env[name] : undefined;
    // In the copy it is the copy's.
    return name !== "PWD" && value?.startsWith("/") ? value : null;
  };
  return text
    .replace(/(^|[\s=:;|&<>(])~(?=$|[/\s:;|&<>)])/g, (all, before) => home ? before + home : all)
    .replace(/\$(?:\{(\w+)\}|(\w+))/g, (all, braced, bare) => valueOf(braced ?? bare) ?? all);
}

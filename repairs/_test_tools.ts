/**
 * What the tests of this folder share: folders that are gone afterwards, processes that are gone
 * afterwards, and a way to run the wrapper as a program.
 *
 * @module
 */
import { isAlive, readProcessTable, waitUntil } from "../lab/mod.ts";

/** How long a test waits for something that has to come; slow machines set the factor. */
export const WAIT_MS: number = 10_000 * Number(Deno.env.get("FAILURE_LAB_TEST_FACTOR") ?? 1);

/** Makes a folder, runs the body in it, removes it. */
export async function inFolder<T>(body: (dir: string) => Promise<T> | T): Promise<T> {
  const dir = await Deno.makeTempDir({ prefix: "failure-lab-test-" });
  try {
    return await body(await Deno.realPath(dir));
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
}

/** Waits until a file is there and gives its text. Fails when it does not come. */
export async function textOf(path: string): Promise<string> {
  const text = await waitUntil(async () => {
    const found = await Deno.readTextFile(path).catch(() => "");
    return found === "" ? null : { found };
  }, { limitMs: WAIT_MS });
  if (text === null) throw new Error(`"${path}" did not come`);
  return text.found;
}

/** Whether a process lives now. */
export async function isPidAlive(pid: number): Promise<boolean> {
  return (await readProcessTable()).some((row) => row.pid === pid && isAlive(row));
}

/** Waits until a process is gone. */
export async function isPidGone(pid: number): Promise<boolean> {
  return await waitUntil(async () => !await isPidAlive(pid), { limitMs: WAIT_MS }) === true;
}

/** A wrapper that runs as a program of its own. */
export interface Wrapper extends AsyncDisposable {
  readonly child: Deno.ChildProcess;
  readonly stdout: Promise<string>;
  readonly stderr: Promise<string>;
  /** What it has printed on stderr so far. */
  readonly stderrNow: string;
}

/** How Deno is called so that imports resolve; without the script. */
function denoArgs(): string[] {
  const self = Deno.env.get("FAILURE_LAB_SELF_ARGS");
  if (self !== undefined) return (JSON.parse(self) as string[]).slice(0, -1);
  const map = new URL("../dist/import_map.npm.json", import.meta.url).pathname;
  return ["run", "--no-prompt", "-A", "--no-lock", `--import-map=${map}`];
}

/** What stands between Deno and the flags of a repair. Writes the script that is run into `dir`. */
export async function wrapperArgs(dir: string): Promise<string[]> {
  const script = `${dir}/.wrapper.ts`;
  const base = new URL("../lab/cli/", import.meta.url).href;
  // Several wrappers may start at once: each finds the script whole.
  const own = await Deno.makeTempFile({ dir, prefix: ".wrapper-", suffix: ".tmp" });
  await Deno.writeTextFile(
    own,
    `import { run } from "${base}mod.ts";
const registry = [{ name: "repair", load: () => import("${base}commands/repair.ts") }];
Deno.exit(await run(Deno.args, { registry }));
`,
  );
  await Deno.rename(own, script);
  return [...denoArgs(), script, "repair"];
}

/** Starts `failure-lab repair …` from source, with the `repair` command and no other. */
export async function startWrapper(
  dir: string,
  args: readonly string[],
  options: { stdin?: "null" | "piped"; env?: Record<string, string> } = {},
): Promise<Wrapper> {
  const child = new Deno.Command(Deno.execPath(), {
    args: [...await wrapperArgs(dir), ...args],
    cwd: dir,
    env: { NO_COLOR: "1", ...options.env },
    stdin: options.stdin ?? "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const [stdout, stderr] = [new Reading(child.stdout), new Reading(child.stderr)];
  return {
    child,
    stdout: stdout.end,
    stderr: stderr.end,
    get stderrNow() {
      return stderr.text;
    },
    async [Symbol.asyncDispose]() {
      try {
        child.kill("SIGKILL");
      } catch {
        // It has ended, as it should.
      }
      await child.status;
      await Promise.all([stdout.end, stderr.end]);
    },
  };
}

class Reading {
  text = "";
  readonly end: Promise<string>;

  constructor(stream: ReadableStream<Uint8Array>) {
    this.end = this.#read(stream);
  }

  async #read(stream: ReadableStream<Uint8Array>): Promise<string> {
    const decoder = new TextDecoder();
    for await (const chunk of stream) this.text += decoder.decode(chunk, { stream: true });
    return this.text;
  }
}

/** Runs `failure-lab repair …` to its end. */
export async function runWrapper(
  dir: string,
  args: readonly string[],
  options: { env?: Record<string, string> } = {},
): Promise<{ code: number; stdout: string; stderr: string }> {
  await using wrapper = await startWrapper(dir, args, options);
  const { code } = await wrapper.child.status;
  return { code, stdout: await wrapper.stdout, stderr: await wrapper.stderr };
}

/** Writes a file and the folders above it. */
export function write(path: string, content: string | Uint8Array): void {
  Deno.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true });
  if (typeof content === "string") Deno.writeTextFileSync(path, content);
  else Deno.writeFileSync(path, content);
}

/** The text of a file. */
export function read(path: string): string {
  return Deno.readTextFileSync(path);
}

/** The names in a folder, sorted. */
export function namesIn(dir: string): string[] {
  return [...Deno.readDirSync(dir)].map((entry) => entry.name).sort();
}

/** Whether anything has this name. */
export function isThere(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch {
    return false;
  }
}

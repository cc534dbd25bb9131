// Running the built program in a scrubbed environment, and seeing that it leaves nothing behind.

import { assertEquals } from "@std/assert";
import { waitUntil } from "../../lab/clock.ts";
import { isAlive, parseProcessTable, type ProcessRow } from "../../lab/process_table.ts";
import type { RunSet } from "../../lab/record.ts";
import { sendSignal } from "../../lab/signals.ts";
import { makeTestDir, type TestDir } from "./temp_dir.ts";

/** The built program; `deno task test` builds it and says where it is. */
export function binaryPath(): string {
  const path = Deno.env.get("FAILURE_LAB_BINARY");
  if (path === undefined) {
    throw new Error("Cannot test the program: FAILURE_LAB_BINARY is not set. Use: deno task test");
  }
  return path;
}

/** What a finished program left. */
export interface Finished {
  code: number;
  signal: string | null;
  stdout: string;
  stderr: string;
}

/** How to run the program. */
export interface RunOptions {
  cwd?: string;
  /** On top of the scrubbed environment. */
  env?: Record<string, string>;
  /** The run is ended and the test fails after this time. @default {60_000} */
  limitMs?: number;
}

/** One place to run the program in: a temp dir and a home of its own. */
export class Bench implements AsyncDisposable {
  readonly #dir: TestDir;
  readonly #children: Deno.ChildProcess[] = [];

  private constructor(dir: TestDir) {
    this.#dir = dir;
  }

  /** Makes a bench. Dispose of it at the end: that asserts that no process and no lab is left. */
  static async make(name: string): Promise<Bench> {
    const bench = new Bench(await makeTestDir(name));
    for (const sub of ["tmp", "home", "state", "project"]) {
      await Deno.mkdir(`${bench.path}/${sub}`);
    }
    return bench;
  }

  /** The bench's own folder. */
  get path(): string {
    return this.#dir.path;
  }

  /** A folder for the user's project. */
  get project(): string {
    return `${this.path}/project`;
  }

  /** The temp dir that the program sees. */
  get temp(): string {
    return `${this.path}/tmp`;
  }

  /** The environment that the program sees. Everything it starts carries this TMPDIR. */
  env(more: Record<string, string> = {}): Record<string, string> {
    return {
      PATH: "/usr/bin:/bin",
      HOME: `${this.path}/home`,
      XDG_STATE_HOME: `${this.path}/state`,
      TMPDIR: this.temp,
      LANG: "C.UTF-8",
      NO_COLOR: "1",
      ...more,
    };
  }

  /** Writes a file of the project, with its folders. */
  async write(path: string, text: string, mode = 0o644): Promise<void> {
    const full = `${this.project}/${path}`;
    await Deno.mkdir(full.slice(0, full.lastIndexOf("/")), { recursive: true });
    await Deno.writeTextFile(full, text, { mode });
  }

  /** Starts the program and hands it over running. */
  start(args: readonly string[], options: RunOptions = {}): Deno.ChildProcess {
    const child = new Deno.Command(binaryPath(), {
      args: [...args],
      cwd: options.cwd ?? this.project,
      env: this.env(options.env),
      clearEnv: true,
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
      detached: true,
    }).spawn();
    this.#children.push(child);
    return child;
  }

  /** Runs the program to its end. */
  async run(args: readonly string[], options: RunOptions = {}): Promise<Finished> {
    return await finished(this.start(args, options), options.limitMs);
  }

  /** Runs the program with `--json` and reads what it printed. */
  async runJson(args: readonly string[], options: RunOptions = {}): Promise<
    Finished & {
      set: RunSet;
    }
  > {
    const done = await this.run([...args, "--json"], options);
    try {
      return { ...done, set: JSON.parse(done.stdout) };
    } catch {
      throw new Error(`Not JSON (exit ${done.code}): ${done.stdout}\n${done.stderr}`);
    }
  }

  /** Processes that came from a program of this bench: they carry its temp dir. */
  async processes(): Promise<ProcessRow[]> {
    return (await tableOf(`TMPDIR=${this.temp}`)).filter(isAlive);
  }

  /** Lab folders that are there now; reports are no labs and may stay. */
  labs(): string[] {
    return [...Deno.readDirSync(this.temp)].map((entry) => entry.name)
      .filter((name) => name.startsWith("failure-lab-") && name !== "failure-lab-reports");
  }

  /** Asserts that no process and no lab folder is left; both may take a moment to go. */
  async assertNothingLeft(limitMs = 3000): Promise<void> {
    await waitUntil(async () => (await this.processes()).length === 0, { limitMs });
    assertEquals((await this.processes()).map((row) => `${row.name} ${row.pid}`), []);
    assertEquals(this.labs(), []);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.assertNothingLeft();
    } finally {
      await sendSignal("KILL", (await this.processes()).map((row) => row.pid));
      for (const child of this.#children) await child.status;
      await this.#dir[Symbol.asyncDispose]();
    }
  }
}

async function tableOf(word: string): Promise<ProcessRow[]> {
  const args = Deno.build.os === "darwin" ? ["-A", "-E", "-ww"] : ["axeww"];
  const output = await new Deno.Command("ps", {
    args: [...args, "-o", "pid=,ppid=,pgid=,stat=,lstart=,args="],
    env: { LC_ALL: "C", TZ: "UTC0" },
  }).output();
  const lines = new TextDecoder().decode(output.stdout).split("\n")
    // A drill's processes have a temp dir of their own in there.
    .filter((line) => ` ${line} `.includes(` ${word} `) || line.includes(` ${word}/`));
  return lines.length === 0 ? [] : parseProcessTable(lines.join("\n"));
}

/** Waits for a program to end, within a limit; ends it and fails otherwise. */
export async function finished(child: Deno.ChildProcess, limitMs = 60_000): Promise<Finished> {
  const timer = setTimeout(() => {
    void sendSignal("KILL", [-child.pid]);
  }, limitMs);
  try {
    const { code, signal, stdout, stderr } = await child.output();
    const decoder = new TextDecoder();
    return { code, signal, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
  } finally {
    clearTimeout(timer);
  }
}

/** The only run of a set. */
export function onlyRun(set: RunSet): RunSet["runs"][number] {
  const [run, ...more] = set.runs;
  if (run === undefined || more.length > 0) {
    throw new Error(`One run was expected, there are ${set.runs.length}`);
  }
  return run;
}

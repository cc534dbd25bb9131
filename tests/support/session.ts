// Replays of small jobs in this process: a project, a contract, the narrowed worker, the records
// with their grades, and that nothing is left.

import { assertEquals } from "@std/assert";
import { systemClock, waitUntil } from "../../lab/clock.ts";
import { grade } from "../../lab/grader.ts";
import { isAlive, parseProcessTable, type ProcessRow } from "../../lab/process_table.ts";
import type { Grade, RunRecord } from "../../lab/record.ts";
import { sendSignal } from "../../lab/signals.ts";
import { parseContract, type PlanItem, runSession } from "../../rehearsal/mod.ts";
import { makeTestDir, type TestDir } from "./temp_dir.ts";

/** A record with its grade. */
export interface Graded {
  record: RunRecord;
  grade: Grade;
}

/** One run to do; what is left out is as in `failure-lab replay`. */
export type Item = Partial<PlanItem> & Pick<PlanItem, "subject">;

/** A project of its own, with a temp dir and a home. */
export class SessionBench implements AsyncDisposable {
  readonly #dir: TestDir;

  private constructor(dir: TestDir) {
    this.#dir = dir;
  }

  /** Makes a bench. Dispose of it at the end: that asserts that no process and no lab is left. */
  static async make(name: string): Promise<SessionBench> {
    const bench = new SessionBench(await makeTestDir(name));
    for (const sub of ["tmp", "home", "kit", "project", "report"]) {
      await Deno.mkdir(`${bench.path}/${sub}`);
    }
    await Deno.writeTextFile(`${bench.path}/kit/program`, "the program under watch\n");
    return bench;
  }

  /** The bench's own folder. */
  get path(): string {
    return this.#dir.path;
  }

  /** Folder of the user's project. */
  get project(): string {
    return `${this.path}/project`;
  }

  /** Writes a file of the project. */
  async write(path: string, text: string): Promise<void> {
    const full = `${this.project}/${path}`;
    await Deno.mkdir(full.slice(0, full.lastIndexOf("/")), { recursive: true });
    await Deno.writeTextFile(full, text);
  }

  /** Takes a sample project over, file by file. */
  async copyFrom(folder: string): Promise<void> {
    for await (const entry of Deno.readDir(folder)) {
      if (entry.isFile) {
        await Deno.copyFile(`${folder}/${entry.name}`, `${this.project}/${entry.name}`);
      }
    }
  }

  /** Runs a plan on the project, and grades every record. */
  async run(contract: Record<string, unknown>, items: readonly Item[]): Promise<Graded[]> {
    const graded: Graded[] = [];
    await runSession({
      contract: parseContract(contract, "the test's contract"),
      projectDir: this.project,
      env: { PATH: "/usr/bin:/bin", HOME: `${this.path}/home`, TMPDIR: `${this.path}/tmp` },
      reportDir: `${this.path}/report`,
      kitPath: `${this.path}/kit`,
      plan: items.map((item) => ({
        variant: null,
        armed: true,
        killAfterArtifacts: null,
        killResume: false,
        resumeTwice: true,
        ...item,
      })),
      rerun: "failure-lab replay",
      seed: 1,
      label: null,
      git: () => Promise.resolve(null),
      keep: false,
      clock: systemClock,
      signal: new AbortController().signal,
      onRecord: (record) => void graded.push({ record, grade: grade(record) }),
      tempDir: `${this.path}/tmp`,
    });
    await this.assertNothingLeft();
    return graded;
  }

  /** Runs one item. */
  async one(contract: Record<string, unknown>, item: Item): Promise<Graded> {
    const [only] = await this.run(contract, [item]);
    if (only === undefined) throw new Error("No record came");
    return only;
  }

  /** Asserts that no process of a job and no lab folder is left. */
  async assertNothingLeft(): Promise<void> {
    await waitUntil(async () => (await this.#processes()).length === 0, { limitMs: 3000 });
    assertEquals((await this.#processes()).map((row) => `${row.name} ${row.pid}`), []);
    assertEquals([...Deno.readDirSync(`${this.path}/tmp`)].map((entry) => entry.name), []);
  }

  /** Whatever was started by a job of this bench carries its temp dir. */
  async #processes(): Promise<ProcessRow[]> {
    const output = await new Deno.Command("ps", {
      args: [
        ...(Deno.build.os === "darwin" ? ["-A", "-E", "-ww"] : ["axeww"]),
        "-o",
        "pid=,ppid=,pgid=,stat=,lstart=,args=",
      ],
      env: { LC_ALL: "C", TZ: "UTC0" },
    }).output();
    const lines = new TextDecoder().decode(output.stdout).split("\n")
      .filter((line) => ` ${line} `.includes(` TMPDIR=${this.path}/tmp `));
    return lines.length === 0 ? [] : parseProcessTable(lines.join("\n")).filter(isAlive);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.assertNothingLeft();
    } finally {
      await sendSignal("KILL", (await this.#processes()).map((row) => row.pid));
      await this.#dir[Symbol.asyncDispose]();
    }
  }
}

/** `fail artifacts-whole`, `pass`: a verdict in one line, with the reason where that helps. */
export function inShort({ grade: { verdict, reasonId } }: Graded): string {
  return reasonId === null ? verdict : `${verdict} ${reasonId}`;
}

/** Ids of the checks that speak against a run. */
export function badChecks({ grade: { checks } }: Graded): string[] {
  return checks.filter((check) => check.state === "bad").map((check) => check.id);
}

/** What was told of the failure: the names of the evidence, with their values. */
export function evidence({ record }: Graded): Record<string, unknown> {
  return Object.fromEntries(record.fault.evidence.map(({ what, value }) => [what, value]));
}

/** The text of a finding, or `null`. */
export function finding({ record }: Graded, id: string): string | null {
  return record.findings.find((each) => each.id === id)?.text ?? null;
}

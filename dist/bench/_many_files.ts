// The files that copy.ts and hash.ts work on, and how their work is timed.

import { type BenchContext, median } from "./bench.ts";

const FOLDERS = 500;
const FILES_PER_FOLDER = 20;

/** Writes 10,000 files of 0 to 8 KiB in 500 folders, the same in every run. */
export async function makeManyFiles(root: string): Promise<void> {
  const content = new Uint8Array(8192).map((_, i) => i * 31);
  for (let folder = 0; folder < FOLDERS; folder++) {
    const path = `${root}/src/part-${folder % 20}/group-${folder}`;
    await Deno.mkdir(path, { recursive: true });
    for (let file = 0; file < FILES_PER_FOLDER; file++) {
      const bytes = (folder * 7919 + file * 104729) % 8192;
      await Deno.writeFile(`${path}/file-${file}.txt`, content.subarray(0, bytes));
    }
  }
}

/** Something to time; gives its milliseconds. `turn` numbers the runs. */
export type Timed = (turn: number) => Promise<number>;

/**
 * Median milliseconds of each. They take turns, and before each one everything that was written is
 * on the disk, so that nobody pays for what another one left.
 */
export async function takeTurns(works: readonly Timed[], turns: number): Promise<number[]> {
  const times: number[][] = works.map(() => []);
  for (let turn = 0; turn <= turns; turn++) {
    for (const [i, work] of works.entries()) {
      await timeOf("sync", []);
      const tookMs = await work(turn);
      if (turn > 0) times[i]?.push(tookMs); // the first turn fills the caches
    }
  }
  return times.map(median);
}

/** Milliseconds of a program from its start to its end. */
export async function timeOf(program: string, args: string[]): Promise<number> {
  const startMs = performance.now();
  const command = new Deno.Command(program, { args, stdin: "null", stdout: "null" });
  const { success, code } = await command.spawn().status;
  if (!success) throw new Error(`Cannot measure "${program} ${args.join(" ")}": exit code ${code}`);
  return performance.now() - startMs;
}

/** Milliseconds that our own file work says it took. */
export async function fileWorkMs(context: BenchContext, args: string[]): Promise<number> {
  return Number(await context.fromSource("dist/bench/_file_work.ts", args));
}

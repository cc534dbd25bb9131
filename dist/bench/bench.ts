// What a measurement is. Add one: a file here that exports a Bench, and a line in list.ts.

/** One line of the table. */
export interface Row {
  /** What was measured. */
  name: string;
  /** Our figure, with its unit. */
  ours: string;
  /** What it is compared with, with its unit; "-" when there is nothing to compare. */
  reference: string;
  /** The figure that is held against the bar. */
  figure: number;
  /** The largest figure that is still good; undefined when the line is only information. */
  bar: number | undefined;
}

/** What a measurement may use. */
export interface BenchContext {
  /** The freshly built binary. */
  binary: string;
  /** An empty folder that is removed at the end. */
  dir: string;
  /** Compiles a one-file program with the same Deno and runtime as the binary. */
  compileBare: (source: string) => Promise<string>;
  /** Runs a module of the checkout with the program's rights; gives what it writes to stdout. */
  fromSource: (module: string, args: string[]) => Promise<string>;
}

/** A measurement. */
export interface Bench {
  /** Its name, for `deno task bench NAME`. */
  name: string;
  /** Measures once and returns the lines of the table. */
  measure: (context: BenchContext) => Promise<Row[]>;
}

/** The middle value; the mean of the two middle ones for an even count. */
export function median(values: readonly number[]): number {
  if (values.length === 0) throw new RangeError("Cannot take the median of no values");
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? NaN) + upper) / 2;
}

/**
 * The median time of each command in milliseconds. The commands take turns, so that whatever else
 * the machine does meanwhile falls on all of them alike.
 */
export async function interleavedMs(
  commands: readonly { program: string; args: string[] }[],
  runs: number,
): Promise<number[]> {
  const times: number[][] = commands.map(() => []);
  const warmUps = 3;
  for (let turn = 0; turn < runs + warmUps; turn++) {
    for (const [i, { program, args }] of commands.entries()) {
      const command = new Deno.Command(program, { args, stdin: "null", stdout: "null" });
      const startMs = performance.now();
      const { success, code } = await command.spawn().status;
      const tookMs = performance.now() - startMs;
      if (!success) {
        throw new Error(`Cannot measure "${program} ${args.join(" ")}": exit code ${code}`);
      }
      if (turn >= warmUps) times[i]?.push(tookMs);
    }
  }
  return times.map(median);
}

/** The table, and whether each line keeps its bar. */
export function benchTable(rows: readonly Row[]): { text: string; overBar: string[] } {
  const isOver = (row: Row) => row.bar !== undefined && !(row.figure <= row.bar);
  const cells = [
    ["measured", "ours", "reference", "figure", "bar", ""],
    ...rows.map((row) => [
      row.name,
      row.ours,
      row.reference,
      row.figure.toFixed(2),
      row.bar === undefined ? "-" : `<= ${row.bar}`,
      row.bar === undefined ? "" : isOver(row) ? "OVER" : "ok",
    ]),
  ];
  const widths = (cells[0] ?? []).map((_, i) =>
    Math.max(...cells.map((line) => (line[i] ?? "").length))
  );
  const text = cells
    .map((line) => line.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join("  ").trimEnd())
    .join("\n");
  return { text, overBar: rows.filter(isOver).map((row) => row.name) };
}

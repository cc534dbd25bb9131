// Which files are carried inside the binary besides the modules that main.ts imports.

import { listFiles } from "./files.ts";
import { TaskError } from "./task_error.ts";

/** A folder or a file to carry along. A folder that does not exist yet is skipped. */
export interface Embedded {
  /** The folder that must exist for this entry to count. */
  folder: string;
  /** Which of its files, as a path relative to that folder. */
  accepts: (path: string) => boolean;
  /** Whether it is an error when the folder exists and no file matches. */
  required: boolean;
}

const isModule = (path: string) => /\.(m|c)?[jt]sx?$/.test(path);
const isTest = (path: string) =>
  /_(test|bench)\.ts$/.test(path) || /(^|\/)(testdata|__snapshots__)\//.test(path);
const isData = (path: string) => !isModule(path) && !isTest(path);

/** Everything that the program opens by path, and workers, which no import statement names. */
export const EMBEDDED: readonly Embedded[] = [
  { folder: "lab", accepts: isData, required: false },
  { folder: "drills", accepts: isData, required: true },
  { folder: "repairs", accepts: isData, required: false },
  {
    folder: "rehearsal",
    accepts: (path) => isData(path) && !path.startsWith("examples/"),
    required: false,
  },
  {
    folder: "rehearsal/runners",
    accepts: (path) => isModule(path) && !isTest(path),
    required: false,
  },
  { folder: "rehearsal", accepts: (path) => path === "worker.ts", required: true },
];

/** The embedded files of the checkout at `root`, sorted, relative to it. */
export async function embeddedFiles(
  root: string,
  list: readonly Embedded[] = EMBEDDED,
): Promise<string[]> {
  const all = await listFiles(root);
  const found = new Set<string>();
  for (const { folder, accepts, required } of list) {
    const inside = all.filter((path) => path.startsWith(`${folder}/`));
    const taken = inside.filter((path) => accepts(path.slice(folder.length + 1)));
    if (required && inside.length > 0 && taken.length === 0) {
      throw new TaskError(
        `Cannot compile: "${folder}/" has none of the files that the binary must carry ` +
          `(see EMBEDDED in dist/embedded.ts). Add them, or correct that list`,
        1,
      );
    }
    for (const path of taken) found.add(path);
  }
  return [...found].sort();
}

/**
 * Reports: one file per format, all views of one set of runs.
 *
 * The folder is proven writable before anything is run; every format is rewritten while the runs
 * go on, so that an interrupted evening still leaves a complete report of what was finished.
 *
 * @module
 */
import { join } from "@std/path";
import { type Clock, systemClock } from "../clock.ts";
import type { RunSet } from "../record.ts";
import {
  linkLatest,
  makeNumberedDir,
  prepareDefaultDir,
  prepareNamedDir,
  REPORT_FILES,
  ReportError,
  type ReportFolder,
  type ReportFormat,
  whyNot,
} from "./folder.ts";
import { htmlReport } from "./html.ts";
import { jsonReport } from "./json.ts";
import { junitReport } from "./junit.ts";
import { markdownReport } from "./markdown.ts";
import { replaceFile } from "./write_file.ts";

export {
  type DefaultDirOptions,
  defaultReportDirs,
  REPORT_FILES,
  ReportError,
  type ReportFormat,
} from "./folder.ts";
export { replaceFile } from "./write_file.ts";
export { NOT_A_SANDBOX, VERDICT_WORDS } from "./facts.ts";
export { htmlReport } from "./html.ts";
export { jsonReport, parseRunSet, type SavedRunSet } from "./json.ts";
export { junitReport } from "./junit.ts";
export { markdownReport } from "./markdown.ts";
export { createStyle, type Style } from "./style.ts";
export { type TerminalOptions, terminalReport } from "./terminal.ts";
export { formatBytes, formatDuration, paragraph, plural, visible } from "./text.ts";
export { timelineSvg } from "./timeline.ts";

/** What opens a report. */
export interface ReportOptions {
  /** The command whose report it is; part of the folder's name when the user gave none. */
  command: string;
  /** Name that the user gave to the run. */
  label?: string | null;
  /** Time. @default {systemClock} */
  clock?: Clock;
  /** Reads an environment variable. @default {the real environment} */
  env?: (name: string) => string | undefined;
  /** Puts a text in the place of a file, whole or not at all. For tests. */
  write?: typeof replaceFile;
}

/** An open report. */
export interface Report {
  /** The folder. */
  readonly dir: string;
  /** Path of every format, the one to read first in front. */
  readonly paths: readonly { format: ReportFormat; path: string }[];
  /** What the user should know: another folder than asked, a format that cannot be written. */
  readonly notes: readonly string[];
  /**
   * Takes over the state of the runs so far and rewrites every format.
   *
   * Never throws over a file that cannot be written, because the runs are worth more: the older
   * complete files stay, `notes` says which, and `close` tries again. When writing has become slow
   * (many runs, slow disk) some states are left out, so that at most about a fifth of the time goes
   * into reports; `close` always writes the last one.
   */
  update(runSet: RunSet): Promise<void>;
  /**
   * Writes the last state, if that is not yet on disk. Call it on every path, also after Ctrl-C.
   *
   * @throws {ReportError} When a format could not be written; names it and the reason.
   */
  close(): Promise<void>;
}

const RENDERERS: Record<ReportFormat, (runSet: RunSet) => string> = {
  json: jsonReport,
  html: htmlReport,
  junit: junitReport,
  markdown: markdownReport,
};

const FORMATS = Object.keys(REPORT_FILES) as ReportFormat[];

/** A write this short is never left out. */
const ALWAYS_WRITE_MS = 250;

/** After a slow write, this many times its length passes before the next. */
const PAUSE_FACTOR = 4;

/**
 * Opens a report: chooses the folder, makes it, and proves that it can be written.
 *
 * @param dir What the user gave with `--report`; `null` chooses a new folder by
 * {@linkcode defaultReportDirs} and points the link `latest` beside it to the newest report.
 * @throws {ReportError} When the folder cannot be made or written (exit 4).
 */
export async function openReport(dir: string | null, options: ReportOptions): Promise<Report> {
  const clock = options.clock ?? systemClock;
  const folder = dir === null
    ? await prepareDefaultDir({
      env: options.env ?? ((name) => Deno.env.get(name)),
      timeIso: clock.wallIso(),
      command: options.command,
      label: options.label ?? null,
    })
    : await prepareNamedDir(dir);
  return new FileReport(folder, clock, options.write ?? replaceFile);
}

class FileReport implements Report {
  #folder: ReportFolder;
  readonly #clock: Clock;
  readonly #write: typeof replaceFile;
  #latest: RunSet | null = null;
  /** Formats whose file is not yet that of the latest state. */
  readonly #stale = new Set<ReportFormat>();
  #isClaimed = false;
  #problems = new Map<ReportFormat, string>();
  #lastWriteMs = 0;
  #lastEndMs = -Infinity;

  constructor(folder: ReportFolder, clock: Clock, write: typeof replaceFile) {
    this.#folder = folder;
    this.#clock = clock;
    this.#write = write;
  }

  get dir(): string {
    return this.#folder.path;
  }

  get paths(): readonly { format: ReportFormat; path: string }[] {
    const order: ReportFormat[] = ["html", "json", "junit", "markdown"];
    return order.map((format) => ({ format, path: join(this.dir, REPORT_FILES[format]) }));
  }

  get notes(): readonly string[] {
    return [...this.#folder.notes, ...this.#problems.values()];
  }

  async update(runSet: RunSet): Promise<void> {
    this.#latest = runSet;
    for (const format of FORMATS) this.#stale.add(format);
    const isSlow = this.#lastWriteMs > ALWAYS_WRITE_MS;
    const restedMs = this.#clock.nowMs() - this.#lastEndMs;
    if (isSlow && restedMs < this.#lastWriteMs * PAUSE_FACTOR) return;
    await this.#flush(runSet);
  }

  async close(): Promise<void> {
    if (this.#latest !== null && this.#stale.size > 0) await this.#flush(this.#latest);
    if (this.#problems.size === 0) return;
    throw new ReportError(
      `${[...this.#problems.values()].join("\n")}\nMake room, or name another folder with ` +
        "--report DIR, and run it again.",
    );
  }

  async #flush(runSet: RunSet): Promise<void> {
    const startMs = this.#clock.nowMs();
    for (const format of FORMATS) {
      if (this.#stale.has(format)) await this.#writeFormat(format, runSet);
    }
    this.#lastEndMs = this.#clock.nowMs();
    this.#lastWriteMs = this.#lastEndMs - startMs;
  }

  async #writeFormat(format: ReportFormat, runSet: RunSet): Promise<void> {
    const name = REPORT_FILES[format];
    let text: string;
    try {
      text = RENDERERS[format](runSet);
    } catch (error) {
      // A defect in one view must not cost the user the others.
      this.#problems.set(format, `${name} could not be made: ${whyNot(error)}.`);
      return;
    }
    try {
      if (format === "json" && !this.#isClaimed) await this.#claim(text);
      else await this.#write(join(this.dir, name), text);
      this.#problems.delete(format);
      this.#stale.delete(format);
    } catch (error) {
      const old = await isThere(join(this.dir, name))
        ? "the older, complete file is still there"
        : "there is no older file";
      this.#problems.set(
        format,
        `${name} in ${this.dir} could not be written: ${whyNot(error)}; ${old}.`,
      );
    }
  }

  /** The first write takes the folder, unless another run wrote its report there meanwhile. */
  async #claim(text: string): Promise<void> {
    try {
      await this.#write(join(this.dir, REPORT_FILES.json), text, { isNew: true });
    } catch (error) {
      if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
      const taken = this.dir;
      const path = await makeNumberedDir(taken);
      const note = `Another run wrote its report to ${taken} meanwhile; this one is in ${path}`;
      this.#folder = { ...this.#folder, path, notes: [...this.#folder.notes, note] };
      await this.#write(join(path, REPORT_FILES.json), text, { isNew: true });
    }
    this.#isClaimed = true;
    const { linkParent } = this.#folder;
    if (linkParent !== null) await linkLatest(linkParent, this.dir);
  }
}

async function isThere(path: string): Promise<boolean> {
  try {
    await Deno.lstat(path);
    return true;
  } catch {
    return false;
  }
}

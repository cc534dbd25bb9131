/**
 * Mending a checkpoint: sets damage aside, takes up the last good copy, and brings claims and files
 * into step, in both directions.
 *
 * @module
 */
import { dirname, join } from "@std/path";
import { type Clock, systemClock } from "../lab/mod.ts";
import {
  type ClaimBook,
  documentBook,
  logBook,
  type LogLine,
  reconcile,
  type Reconciliation,
  type UnitsOnDisk,
} from "./_claims.ts";
import { keepAside, moveAside, readIfThere, replaceFile } from "./_durable.ts";
import { findOpeners } from "./_openers.ts";
import { ASIDE_FOLDER } from "./_progress.ts";
import { type CheckpointFormat, type Damage, formatOf, readBytes } from "./_torn.ts";
import { goodCopyPath, temporaryFilesOf } from "./checkpoint.ts";
import { RepairError } from "./errors.ts";

/** How to check or mend. */
export interface MendOptions {
  /** The checkpoint. */
  path: string;
  /** How the file is built. @default {"jsonl" for .jsonl and .ndjson, else "json"} */
  format?: CheckpointFormat | undefined;
  /** JSON: pointer to the list or object of done units. @default {the one list there is} */
  doneAt?: string | undefined;
  /** The disk, to compare with; without it only the file itself is mended. */
  disk?: UnitsOnDisk | undefined;
  /** JSON: the document of a first start, for when nothing of the old one can be read. */
  skeleton?: unknown;
  /** Folder that artifact paths are relative to. @default {the folder of this process} */
  cwd?: string | undefined;
  /** Leave artifacts that are not whole where they are. @default {false} */
  leaveArtifacts?: boolean | undefined;
  /** Time in which nobody may write the checkpoint before it is mended. @default {500} */
  quietMs?: number | undefined;
  /** The clock to go by. */
  clock?: Clock | undefined;
}

/** What is wrong, and what was (or would be) done about it. */
export interface MendReport {
  /** Whether the checkpoint is whole and in step, so that there was nothing to do. */
  isFine: boolean;
  /** How it was found; see `CheckpointReading`. */
  state: "absent" | "empty" | "whole" | "torn";
  /** The damaged stretches. */
  damage: Damage[];
  /** What the new content was taken from. */
  base: "itself" | "good copy" | "temporary file" | "skeleton" | "whole lines";
  /** Claims that the disk does not bear out. */
  removed: { unit: string; why: string }[];
  /** Whole units that were not claimed. */
  added: string[];
  /** Artifacts that are there but not whole. */
  broken: { unit: string; path: string | null; why: string }[];
  /** Units on disk of which nothing says whether they are whole; neither claimed nor moved. */
  unknown: string[];
  /** Whether claims were compared with the disk. */
  isReconciled: boolean;
  /** Done units after the mending. */
  units: number | null;
  /** Temporary files that a crash left. */
  temporaryFiles: string[];
  /** Where the old content, temporary files and broken artifacts are now. Nothing is deleted. */
  setAside: string[];
  /** Whether the checkpoint was written. */
  isWritten: boolean;
}

interface Plan {
  report: MendReport;
  bytes: Uint8Array | null;
  /** The content that it should have. */
  content: string | null;
}

/**
 * Says what is wrong with a checkpoint, by itself and beside the disk. Changes nothing.
 *
 * @throws {RepairError} When it cannot be told what the checkpoint claims.
 */
export function checkCheckpoint(options: MendOptions): MendReport {
  return plan(options).report;
}

/**
 * Mends a checkpoint:
 *
 * 1. refuses while another writer lives (as far as can be seen: somebody has it open, or it changes
 *    within `quietMs`; a writer that opens it only now and then and honours no lock is not seen);
 * 2. takes what is whole: the file itself, its whole lines, the good copy, or a whole temporary
 *    file, in this order;
 * 3. takes out claims that the disk does not bear out, puts in whole units that are not claimed;
 * 4. keeps the old content as `NAME.torn-1` (or the next number), moves artifacts that are not
 *    whole out of the way into a folder `.failure-lab-aside` beside them, so that a job which skips
 *    what is there does not skip them;
 * 5. writes the new content, and the same as `NAME.good`.
 *
 * A checkpoint that is fine is not touched.
 *
 * @throws {RepairError} When another writer lives, or when nothing is left to start from.
 */
export async function mendCheckpoint(options: MendOptions): Promise<MendReport> {
  await refuseOtherWriters(options);
  const { report, bytes, content } = plan(options);
  if (report.isFine) return report;
  if (content === null) {
    throw new RepairError(
      `Cannot mend "${options.path}": it is ${report.state}, and neither a good copy ` +
        `("${goodCopyPath(options.path)}") nor a whole temporary file is there. Nothing was ` +
        "changed. Give the document of a first start with --skeleton, together with --artifacts, " +
        "and it is filled from the files that are done",
    );
  }
  const now = readIfThere(options.path);
  if (!isSame(now, bytes)) throw writerError(options.path, "it changed while it was being read");
  const aside: string[] = [];
  const isChanged = bytes === null || new TextDecoder().decode(bytes) !== content;
  if (isChanged && bytes !== null && bytes.length > 0) {
    aside.push(keepAside(bytes, `${options.path}.torn-`));
  }
  if (isChanged) {
    replaceFile(options.path, content);
    replaceFile(goodCopyPath(options.path), content);
  }
  for (const file of report.temporaryFiles) aside.push(moveAside(file, `${options.path}.torn-`));
  if (!options.leaveArtifacts) aside.push(...setArtifactsAside(report, options));
  return { ...report, setAside: aside, isWritten: isChanged };
}

function setArtifactsAside(report: MendReport, options: MendOptions): string[] {
  const cwd = options.cwd ?? Deno.cwd();
  return report.broken.flatMap(({ path }) => {
    if (path === null) return [];
    const place = join(cwd, path);
    const folder = join(dirname(place), ASIDE_FOLDER);
    Deno.mkdirSync(folder, { recursive: true });
    return [moveAside(place, join(folder, `${place.slice(dirname(place).length + 1)}-`))];
  });
}

async function refuseOtherWriters(options: MendOptions): Promise<void> {
  const clock = options.clock ?? systemClock;
  const before = fingerprint(options.path);
  if (before === null) return;
  await clock.sleep(options.quietMs ?? 500);
  if (fingerprint(options.path) !== before) {
    throw writerError(options.path, "it is being written right now");
  }
  const openers = await findOpeners(options.path);
  if (openers.isOpen === "yes") {
    throw writerError(options.path, `process ${openers.pids.join(", ")} has it open`);
  }
}

function writerError(path: string, what: string): RepairError {
  return new RepairError(
    `Cannot mend "${path}": ${what}. What is mended while another writer lives is torn again at ` +
      "once. Nothing was changed. End that writer (or wait for it), then mend",
  );
}

function fingerprint(path: string): string | null {
  try {
    const { size, mtime, ino } = Deno.statSync(path);
    return `${size}:${mtime?.getTime()}:${ino}`;
  } catch {
    return null;
  }
}

function isSame(a: Uint8Array | null, b: Uint8Array | null): boolean {
  if (a === null || b === null) return a === b;
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}

function plan(options: MendOptions): Plan {
  const format = options.format ?? formatOf(options.path);
  const bytes = readIfThere(options.path);
  const { state, damage } = readBytes(bytes, format);
  const temporaryFiles = temporaryFilesOf(options.path);
  const { base, book, text } = chooseBase(options, format, bytes, temporaryFiles);
  const found = options.disk && book ? reconcile(book.claims, options.disk) : null;
  const content = book === null
    ? text
    : found === null
    ? book.rebuild(new Set(book.claims), [])
    : book.rebuild(found.kept, found.added);
  const isInStep = found === null || (found.removed.length === 0 && found.added.length === 0);
  // An empty or absent log with nothing done on disk is a first start and no damage.
  const isLost = state === "absent" || state === "empty";
  const isFirst = isLost &&
    (book === null
      ? state === "absent" && text === null && !hasWholeUnit(options.disk)
      : base === "whole lines" && book.claims.length === 0);
  const isWhole = state === "whole" || isFirst;
  const isFine = isWhole && isInStep && temporaryFiles.length === 0 &&
    (found?.broken.length ?? 0) === 0;
  return {
    bytes,
    content: isWhole && isInStep ? asText(bytes) ?? content : content,
    report: {
      isFine,
      state,
      damage,
      base,
      removed: (found?.removed ?? []).map(({ claim, why }) => ({ unit: claim.unit, why })),
      added: (found?.added ?? []).map((claim) => claim.unit),
      broken: found?.broken ?? [],
      unknown: found?.unknown ?? [],
      isReconciled: found !== null,
      units: unitsAfter(book, found),
      temporaryFiles,
      setAside: [],
      isWritten: false,
    },
  };
}

function hasWholeUnit(disk: UnitsOnDisk | undefined): boolean {
  return disk !== undefined && disk.list().some((unit) => disk.inspect(unit, null).whole === true);
}

function unitsAfter(book: ClaimBook | null, found: Reconciliation | null): number | null {
  if (found !== null) return found.kept.size + found.added.length;
  return book === null ? null : new Set(book.claims.map((claim) => claim.unit)).size;
}

interface Base {
  base: MendReport["base"];
  /** `null` when nothing usable is left, or when nobody asked for the claims of a document. */
  book: ClaimBook | null;
  /** The content as it stands, where there is no book. */
  text: string | null;
}

function chooseBase(
  options: MendOptions,
  format: CheckpointFormat,
  bytes: Uint8Array | null,
  temporaryFiles: readonly string[],
): Base {
  if (format === "jsonl") return chooseLog(options, bytes, temporaryFiles);
  const candidates: [MendReport["base"], Uint8Array | null][] = [
    ["itself", bytes],
    ["good copy", readIfThere(goodCopyPath(options.path))],
    ...temporaryFiles.toReversed()
      .map((file) => ["temporary file", readIfThere(file)] as [MendReport["base"], Uint8Array]),
  ];
  for (const [base, content] of candidates) {
    const reading = readBytes(content, "json");
    if (reading.state !== "whole") continue;
    if (options.disk === undefined) return { base, book: null, text: asText(content) };
    return { base, book: documentBook(reading.document, options.doneAt), text: null };
  }
  // A skeleton alone would be an empty beginning; only together with the disk does it lose nothing.
  if (options.skeleton === undefined || options.disk === undefined) {
    return { base: "skeleton", book: null, text: null };
  }
  return { base: "skeleton", book: documentBook(options.skeleton, options.doneAt), text: null };
}

/** A log keeps every whole line, wherever it is found, and loses only what cannot be read. */
function chooseLog(
  options: MendOptions,
  bytes: Uint8Array | null,
  temporaryFiles: readonly string[],
): Base {
  const own = readBytes(bytes, "jsonl");
  if (own.state === "whole") return { base: "itself", book: logBook(own.lines), text: null };
  const good = readBytes(readIfThere(goodCopyPath(options.path)), "jsonl").lines;
  const isLost = own.lines.length === 0 && good.length === 0;
  const spare = isLost
    ? temporaryFiles.flatMap((file) => readBytes(readIfThere(file), "jsonl").lines)
    : [];
  const base = good.length > 0 ? "good copy" : spare.length > 0 ? "temporary file" : "whole lines";
  return { base, book: logBook(unique([...good, ...spare, ...own.lines])), text: null };
}

function unique(lines: readonly LogLine[]): LogLine[] {
  return [...new Map(lines.map((line) => [line.text, line])).values()];
}

function asText(bytes: Uint8Array | null): string | null {
  return bytes === null ? null : new TextDecoder().decode(bytes);
}

/**
 * The outbox on disk: a folder with one small JSON file per effect, each replaced as a whole and
 * written through before anything else happens.
 *
 * @module
 */
import { join } from "@std/path";
import { z } from "zod";
import { hashBytes } from "../lab/mod.ts";
import { readIfThere, replaceFile, syncFolder } from "./_durable.ts";
import { RepairError } from "./errors.ts";

/**
 * What is known about one effect.
 *
 * - `intent`: an attempt was begun, and nothing is known of its end. Either it goes on right now,
 *   or it died between the effect and its record.
 * - `done`: it happened.
 * - `waiting`: it did not happen; the next attempt may begin at `notBeforeMs`.
 * - `parked`: it did not happen, and nobody will try again until a person says so.
 * - `unknown`: it may or may not have happened, and nobody can tell.
 */
export type EffectState = "intent" | "done" | "waiting" | "parked" | "unknown";

/** The record of one effect. */
export interface EffectRecord {
  /** Says what this file is. */
  schema: "failure-lab/effect";
  /** Version of its shape. */
  version: 1;
  /** Names the effect, the same in each attempt. */
  key: string;
  /** See {@linkcode EffectState}. */
  state: EffectState;
  /** Attempts that were begun, over all runs. */
  attempts: number;
  /**
   * Earliest next attempt, wall-clock milliseconds since the epoch; `null` where none is planned.
   */
  notBeforeMs: number | null;
  /** The wait that `notBeforeMs` came from, in milliseconds. */
  waitMs: number;
  /** ISO 8601, for people. */
  changedAt: string;
  /** Why it is in this state, in words. */
  note: string;
}

const recordSchema: z.ZodType<EffectRecord> = z.strictObject({
  schema: z.literal("failure-lab/effect"),
  version: z.literal(1),
  key: z.string().min(1),
  state: z.enum(["intent", "done", "waiting", "parked", "unknown"]),
  attempts: z.int().min(0),
  notBeforeMs: z.number().nullable(),
  waitMs: z.number().min(0),
  changedAt: z.string(),
  note: z.string(),
});

/**
 * A key that is the same in each attempt: the unit's name, and the hash of what is sent where the
 * same unit may be sent with new content.
 */
export function effectKey(unit: string, content?: string | Uint8Array): string {
  if (content === undefined) return unit;
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  return `${unit}-${hashBytes(bytes).slice(0, 16)}`;
}

/** The files of one outbox. */
export class OutboxStore {
  readonly #dir: string;

  /**
   * Opens the folder.
   *
   * @param dir Made when it is not there.
   */
  constructor(dir: string) {
    this.#dir = dir;
    Deno.mkdirSync(dir, { recursive: true, mode: 0o700 });
  }

  /** Where the record of a key is. */
  pathOf(key: string): string {
    return join(this.#dir, `${hashBytes(new TextEncoder().encode(key)).slice(0, 32)}.json`);
  }

  /**
   * The record of a key, or `null` when there never was an attempt.
   *
   * @throws {RepairError} When it cannot be read: then nobody knows whether it was sent.
   */
  read(key: string): EffectRecord | null {
    const record = readRecord(this.pathOf(key));
    if (record !== null && record.key !== key) {
      throw damaged(this.pathOf(key), `it belongs to "${record.key}"`);
    }
    return record;
  }

  /** Writes a record through to the disk. */
  write(record: EffectRecord): void {
    const path = this.pathOf(record.key);
    const isNew = readIfThere(path) === null;
    replaceFile(path, `${JSON.stringify(record)}\n`);
    if (isNew) syncFolder(this.#dir);
  }

  /** All records, by key, and the files that cannot be read as one. */
  list(): { records: EffectRecord[]; damaged: string[] } {
    const records: EffectRecord[] = [];
    const unreadable: string[] = [];
    for (const { name } of Deno.readDirSync(this.#dir)) {
      if (!/^[0-9a-f]{32}\.json$/.test(name)) continue;
      try {
        const record = readRecord(join(this.#dir, name));
        if (record !== null) records.push(record);
      } catch (error) {
        if (!(error instanceof RepairError)) throw error;
        unreadable.push(join(this.#dir, name));
      }
    }
    records.sort((a, b) => a.key < b.key ? -1 : 1);
    return { records, damaged: unreadable.sort() };
  }
}

function readRecord(path: string): EffectRecord | null {
  const bytes = readIfThere(path);
  if (bytes === null) return null;
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    throw damaged(path, "it does not parse as JSON");
  }
  const result = recordSchema.safeParse(value);
  if (!result.success) throw damaged(path, z.prettifyError(result.error));
  return result.data;
}

function damaged(path: string, why: string): RepairError {
  return new RepairError(
    `Cannot use the record "${path}": ${why}. Whether its effect happened is not known; find ` +
      "out, " +
      "then write the answer with: failure-lab repair outbox settle",
    { exitCode: 3 },
  );
}

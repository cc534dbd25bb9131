/**
 * Turns the text of one flag into its value, strictly, and holds the values of a command line.
 *
 * @module
 */
import { formatBytes, formatDuration, quoted } from "../report/text.ts";
import type { DurationFlag, FlagSpec, IntegerFlag, SizeFlag, StringFlag } from "./command.ts";
import { UsageError } from "./errors.ts";
import { didYouMean } from "./suggest.ts";

/** Value of one flag; durations in milliseconds, sizes in bytes. */
export type FlagValue = boolean | number | string | readonly string[];

const MS_PER_UNIT: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

const BYTES_PER_UNIT: Record<string, number> = {
  "": 1,
  b: 1,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  kib: 1024,
  mib: 1024 ** 2,
  gib: 1024 ** 3,
};

/**
 * Reads a length of time like `500ms`, `60s`, `2m`, `1.5h`, or a plain number in `plainUnit`.
 *
 * @returns Milliseconds, or `null` when the text is not of that form.
 */
export function parseDurationMs(text: string, plainUnit: "ms" | "s"): number | null {
  const match = /^(\d{1,12}(?:\.\d{1,6})?)(ms|s|m|h)?$/.exec(text);
  const factor = MS_PER_UNIT[match?.[2] ?? plainUnit];
  return match === null || factor === undefined ? null : Number(match[1]) * factor;
}

/**
 * Reads a size like `1024`, `10KB`, `1.5MiB`.
 *
 * @returns Whole bytes, or `null` when the text is not of that form or not whole bytes.
 */
export function parseBytes(text: string): number | null {
  const match = /^(\d{1,15}(?:\.\d{1,6})?) ?([a-z]*)$/i.exec(text);
  const factor = BYTES_PER_UNIT[match?.[2]?.toLowerCase() ?? ""];
  if (match === null || factor === undefined) return null;
  const bytes = Number(match[1]) * factor;
  return Number.isSafeInteger(bytes) ? bytes : null;
}

function readInteger(flag: IntegerFlag, text: string): number {
  const value = /^[+-]?\d{1,15}$/.test(text) ? Number(text) : null;
  if (value === null || value < flag.min || value > flag.max) {
    throw new UsageError(
      `--${flag.name} is ${
        quoted(text)
      }; it takes a whole number from ${flag.min} to ${flag.max}, ` +
        `for example --${flag.name}=${flag.default ?? Math.max(flag.min, 3)}.`,
    );
  }
  return value;
}

function readDuration(flag: DurationFlag, text: string): number {
  const ms = parseDurationMs(text, flag.unit);
  if (ms === null) {
    throw new UsageError(
      `--${flag.name} is ${quoted(text)}; it takes a number of ${
        flag.unit === "s" ? "seconds" : "milliseconds"
      }, or a number with its unit: 500ms, 60s, 2m, 1h. For example --${flag.name}=60s.`,
    );
  }
  if (ms < flag.minMs || ms > flag.maxMs) {
    throw new UsageError(
      `--${flag.name} is ${quoted(text)} (${formatDuration(ms)}); it must be from ${
        formatDuration(flag.minMs)
      } to ${formatDuration(flag.maxMs)}.`,
    );
  }
  return ms;
}

function readSize(flag: SizeFlag, text: string): number {
  const bytes = parseBytes(text);
  if (bytes === null) {
    throw new UsageError(
      `--${flag.name} is ${quoted(text)}; it takes a whole number of bytes, or a number with KB, ` +
        `MB, GB, KiB, MiB or GiB. For example --${flag.name}=10KB.`,
    );
  }
  if (bytes < flag.minBytes || bytes > flag.maxBytes) {
    throw new UsageError(
      `--${flag.name} is ${quoted(text)} (${formatBytes(bytes)}); it must be from ` +
        `${flag.minBytes} to ${flag.maxBytes} bytes.`,
    );
  }
  return bytes;
}

function readString(flag: StringFlag, text: string): string {
  if (flag.choices !== undefined && !flag.choices.includes(text)) {
    throw new UsageError(
      `--${flag.name} is ${quoted(text)}; it takes one of: ${flag.choices.join(", ")}.` +
        didYouMean(text, flag.choices),
    );
  }
  const problem = flag.check?.(text) ?? null;
  if (problem !== null) {
    throw new UsageError(`--${flag.name} is ${quoted(text)}; ${problem}`);
  }
  return text;
}

/**
 * The value of one flag (one occurrence of it) from its text.
 *
 * @throws {UsageError} When the text is not a value that the flag takes; names flag, text and rule.
 */
export function readFlagValue(flag: FlagSpec, text: string): boolean | number | string {
  switch (flag.kind) {
    case "boolean":
      return text !== "false";
    case "integer":
      return readInteger(flag, text);
    case "duration":
      return readDuration(flag, text);
    case "size":
      return readSize(flag, text);
    case "string":
      return readString(flag, text);
  }
}

/**
 * The flags of one command line. Each reader throws a plain Error when the command did not declare
 * a flag of that name and kind: that is a slip in our code, not the user's.
 */
export class FlagValues {
  readonly #specs: ReadonlyMap<string, FlagSpec>;
  readonly #values: ReadonlyMap<string, FlagValue>;

  /**
   * Holds what was given.
   *
   * @param specs The flags that the command declares.
   * @param values What was given, by flag name; durations in milliseconds, sizes in bytes.
   */
  constructor(specs: readonly FlagSpec[], values: ReadonlyMap<string, FlagValue>) {
    this.#specs = new Map(specs.map((spec) => [spec.name, spec]));
    this.#values = values;
  }

  #spec<K extends FlagSpec["kind"]>(name: string, kind: K): Extract<FlagSpec, { kind: K }> {
    const spec = this.#specs.get(name);
    if (spec?.kind !== kind) throw new Error(`This command declares no ${kind} flag --${name}`);
    return spec as Extract<FlagSpec, { kind: K }>;
  }

  /** Whether the user gave this flag. Throws when the command does not declare it. */
  given(name: string): boolean {
    if (!this.#specs.has(name)) throw new Error(`This command declares no flag --${name}`);
    return this.#values.has(name);
  }

  /** A switch: as given, or else its default (`false` unless the flag says otherwise). */
  boolean(name: string): boolean {
    const spec = this.#spec(name, "boolean");
    return (this.#values.get(name) ?? spec.default ?? false) === true;
  }

  /** A text, or its default, or `undefined`. */
  string(name: string): string | undefined {
    const spec = this.#spec(name, "string");
    const value = this.#values.get(name) ?? spec.default;
    return typeof value === "string" ? value : undefined;
  }

  /** All texts of a repeatable flag, in their order; empty when it was not given. */
  strings(name: string): string[] {
    this.#spec(name, "string");
    const value = this.#values.get(name);
    if (value === undefined) return [];
    return typeof value === "object" ? [...value] : [String(value)];
  }

  /** A whole number, or its default, or `undefined`. */
  integer(name: string): number | undefined {
    const spec = this.#spec(name, "integer");
    const value = this.#values.get(name) ?? spec.default;
    return typeof value === "number" ? value : undefined;
  }

  /** A length of time in milliseconds, or its default, or `undefined`. */
  durationMs(name: string): number | undefined {
    const spec = this.#spec(name, "duration");
    const value = this.#values.get(name) ?? spec.defaultMs;
    return typeof value === "number" ? value : undefined;
  }

  /** A length of time in seconds (maybe a fraction), or its default, or `undefined`. */
  durationSeconds(name: string): number | undefined {
    const ms = this.durationMs(name);
    return ms === undefined ? undefined : ms / 1000;
  }

  /** A size in bytes, or its default, or `undefined`. */
  bytes(name: string): number | undefined {
    const spec = this.#spec(name, "size");
    const value = this.#values.get(name) ?? spec.defaultBytes;
    return typeof value === "number" ? value : undefined;
  }
}

/**
 * Errors that are an answer to the user and not a defect: they carry the exit code that belongs to
 * them and are printed as one message without a stack.
 *
 * @module
 */
import { EXIT_CODES } from "../verdict.ts";

export { EnvironmentError } from "../system_tools.ts";

/** Something that the user typed is not right. Exit 2; the message says what to type instead. */
export class UsageError extends Error {
  /** Name of the class. */
  override readonly name = "UsageError";
  /** Exit code of the program. */
  readonly exitCode: number = EXIT_CODES.usage;
}

const KNOWN_EXIT_CODES: ReadonlySet<unknown> = new Set(Object.values(EXIT_CODES));

/**
 * Whether an error is meant for the user. Any module may make one, without importing this file, by
 * giving its error class an `exitCode` from the exit code table.
 */
export function isExpectedError(error: unknown): error is Error & { exitCode: number } {
  return error instanceof Error && "exitCode" in error && KNOWN_EXIT_CODES.has(error.exitCode) &&
    error.exitCode !== EXIT_CODES.pass;
}

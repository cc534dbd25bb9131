/**
 * Errors of the repairs that are an answer and not a defect.
 *
 * @module
 */

/**
 * A repair will not do what was asked, because it could not do it safely. The message says what
 * was found, by which rule it stops, and what to do next. Nothing was changed unless it says so.
 */
export class RepairError extends Error {
  /** Name of the class, for messages. */
  override name = "RepairError";
  /** Exit code for a wrapper: 1, or 3 where something is simply not known. */
  readonly exitCode: 1 | 3;

  /**
   * Makes the error.
   *
   * @param exitCode 3 when the answer is "unknown".
   */
  constructor(message: string, options: ErrorOptions & { exitCode?: 1 | 3 } = {}) {
    super(message, options);
    this.exitCode = options.exitCode ?? 1;
  }
}

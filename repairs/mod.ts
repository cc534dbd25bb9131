/**
 * The seven repairs. Each finishes the work after one kind of failure, and each is a library (this
 * file is its only door), a command (`failure-lab repair MODULE … -- COMMAND`) and a self-test.
 *
 * **deadline**: `runWithDeadline({argv, cwd?, env?, totalMs?, idleMs?, progress?, graceMs?, quietMs?,
 * retries?, leaveChildren?, stdin?, output?, say?, stop?, clock?})` gives
 * `{outcome: "ended"|"limit"|"stopped"|"not-proven", attempts, exitCode}`. `env` is added to the
 * environment of this process. Exit code 124: a limit ended it; 3: not proven to be gone and quiet.
 * `progress` are globs (relative to `cwd`, or absolute).
 *
 * All of them: `say(message)` gets sentences for a person; `stop` is `{signal: AbortSignal}`; a job
 * that cannot be started throws `JobStartError` (126 or 127), a machine without `ps` throws
 * `EnvironmentError`, a repair that will not act because it would not be safe throws `RepairError`.
 * `selfTestX({dir?})` gives `{module, ok, steps: [{name, ok, detail}]}`.
 *
 * @module
 */
export * from "./deadline.ts";
export * from "./errors.ts";
export { type JobEnd, JobStartError } from "./_job.ts";
export type { Say, StopRequest } from "./_stop.ts";
export { replaceFile } from "./_durable.ts";
export { selfTestDeadline } from "./_self_test_deadline.ts";
export type { SelfTestResult, SelfTestStep } from "./self_test.ts";

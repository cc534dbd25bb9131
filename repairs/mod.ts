/**
 * The seven repairs. Each finishes the work after one kind of failure, and each is a library (this
 * file is its only door), a command (`failure-lab repair MODULE … -- COMMAND`) and a self-test.
 *
 * **deadline**: `runWithDeadline({argv, cwd?, env?, totalMs?, idleMs?, progress?, graceMs?,
 * quietMs?, retries?, leaveChildren?, stdin?, output?, say?, stop?, clock?})` gives
 * `{outcome: "ended"|"limit"|"stopped"|"not-proven", attempts, exitCode}`. `env` is added to the
 * environment of this process. Exit code 124: a limit ended it; 3: not proven to be gone and quiet.
 * `progress` are globs (relative to `cwd`, or absolute).
 *
 * **checkpoint**, writing: `saveCheckpoint(path, document)` (JSON), `appendRecord(path, record)`
 * (JSONL), `loadCheckpoint(path, initial, format?)`; the latter two throw `TornCheckpointError`
 * instead of building on damage. Mending: `checkCheckpoint(options)` and `await
 * mendCheckpoint(options)` with `{path, format?, doneAt?, disk?, skeleton?, cwd?, leaveArtifacts?,
 * quietMs?}` give a `MendReport` `{isFine, state, damage, base, removed, added, broken, unknown,
 * units, setAside, isWritten, …}`. `disk` is `{list(): string[], inspect(unit, claim): {present,
 * whole: true|false|null, sha256, bytes?, path?, problem?}}`; `artifactDisk({cwd, globs, unitName:
 * "name"|"path", minBytes?, endsWith?})` makes one for a file per unit. The old content is kept as
 * `NAME.torn-1`, the new one also as `NAME.good`; artifacts that are not whole go to
 * `.failure-lab-aside/` beside them. Throws `RepairError` while another writer can be seen, or when
 * nothing is left to start from.
 *
 * **evidence**: `checkEvidence(rules, start?)` and `noteStart(rules)` (before the job), with rules
 * `{expect: [{glob, count?}], minBytes?, endsWith?, hashes?: Map<path, sha256>, fresh?,
 * newContent?, cwd?}`, give `{isProven, missing: [{path, why}], good: Map<path, sha256>}`.
 * `proveOrRedo({rules, run({number, missing}) => Promise<boolean>, retries?, say?, clock?})`
 * finishes the work: hollow files are moved to `.failure-lab-aside/`, `run` is called again for
 * what is missing, and files that were good stay byte for byte (`putBack` names those that an
 * attempt had changed). The command hands the missing paths to the job in `FAILURE_LAB_MISSING`,
 * one per line.
 *
 * **lease**: `acquireLease({path, shape?, waitMs?, forceHost?, ownerName?, staleAfterMs?,
 * progress?, noProcess?, token?, say?, signal?, clock?})` gives a `Lease` `{generation, token,
 * takenOver, assertStillOurs(), renew(), release(), leaveToJob()}` or throws `LeaseHeldError`
 * (`judgement: {state: "live"|"unknown", why}`; exit code 75); `LeaseLostError` fences a late owner
 * off. `clearStaleLock(options)` only moves a stale lock away, for jobs that lock by themselves.
 * `runUnderLease(leaseOptions, job)` does all of it. `parseOwner(text)` and `judgeOwner(owner,
 * witnesses, claims)` are pure. Files: the lock (one line of JSON, see `LeaseRecord`; also read: a
 * bare pid, `host pid seconds`), `NAME.stale-1` (what was taken over), `NAME.fence` (stays).
 *
 * **outbox**: `new Outbox(dir, {clock?, random?}).deliver({key, send, wasSent?, policy?, say?,
 * signal?})` gives `{outcome: "done"|"already-done"|"parked"|"given-up"|"unknown"|"busy"|"stopped",
 * attempts, record, why}`. `send({key, number, token})` answers `{sent: true|false|"unknown",
 * retryAfterMs?, isRefused?, endsRun?, why?}` (a throw counts as unknown); `wasSent(key)` answers
 * `true|false| "unknown"`. `policy`: `{baseWaitMs, capWaitMs, runWaitMs, attemptsMax}`.
 * `effectKey(unit, content?)`, `outbox.store.list()`, `outbox.settle(key, wasSent)`; `sendByJob`,
 * `shellProbe`, `sentLogProbe` for commands and logs. One JSON file per effect in `dir`, see
 * `EffectRecord`.
 *
 * **heartbeat**: `runWithHeartbeat({argv, progress, limitMs, beatFile, everyMs?, restarts?,
 * watcherRestarts?, alarmLog?, onAlarm?, onWatcher?, …})` gives `{outcome, exitCode, alarms: [{at,
 * kind: "watcher-died"|"watcher-silent"|"watcher-false"|"no-progress", why}], jobStarts,
 * watcherStarts, run}`. `onWatcher(pid)` tells of each first watcher, a process that a drill may
 * kill or stop. From elsewhere: `checkBeat(beatFile, {maxAgeMs?})` gives `{state:
 * "healthy"|"finished"|"silent"| "no-progress", why, exitCode}`; `readBeat`, and `judgeBeat` is
 * pure.
 *
 * **allowlist**: `runInScope({root, allow, watch?, protect?, keepDir?, argv, …})` gives `{outcome:
 * "clean"|"reverted"|"outside-changed"|"refused"|"not-known"|"still-running", exitCode, parts:
 * [{root, violations, restored, removed, refused}], outside, notSeen, job}`. Without a job of ours:
 * `await using guard = await ScopeGuard.open({root, allow, …})`, then `await guard.settle()`. Exit
 * code 5: a watched place outside changed; 3: refused or not known.
 *
 * All of them: `say(message)` gets sentences for a person; `stop` is `{signal: AbortSignal}`; a job
 * that cannot be started throws `JobStartError` (126 or 127), a machine without `ps` throws
 * `EnvironmentError`, a repair that will not act because it would not be safe throws `RepairError`.
 * `selfTestX({dir?})` gives `{module, ok, steps: [{name, ok, detail}]}`.
 *
 * @module
 */
export * from "./allowlist.ts";
export { artifactDisk, type ArtifactDiskOptions } from "./artifact_disk.ts";
export * from "./checkpoint.ts";
export * from "./checkpoint_mend.ts";
export type { Claim, LogLine, UnitsOnDisk, UnitState } from "./_claims.ts";
export type { Openers, Sight } from "./_openers.ts";
export type { Place } from "./_place.ts";
export type { WholeRules } from "./_whole.ts";
export { type CheckpointFormat, type CheckpointReading, type Damage, formatOf } from "./_torn.ts";
export * from "./deadline.ts";
export * from "./errors.ts";
export * from "./evidence.ts";
export { JobStartError } from "./_job.ts";
export type { JobEnd } from "./_job_end.ts";
export { runJob, type RunOptions, type RunResult, type WrappedJob } from "./_run.ts";
export type { Say, StopRequest } from "./_stop.ts";
export { replaceFile } from "./_durable.ts";
export * from "./heartbeat.ts";
export * from "./heartbeat_beat.ts";
export * from "./lease.ts";
export * from "./lease_owner.ts";
export * from "./lease_run.ts";
export * from "./outbox.ts";
export * from "./outbox_job.ts";
export * from "./outbox_store.ts";
export { selfTestAllowlist } from "./_self_test_allowlist.ts";
export { selfTestCheckpoint } from "./_self_test_checkpoint.ts";
export { selfTestEvidence } from "./_self_test_evidence.ts";
export { selfTestLease } from "./_self_test_lease.ts";
export { selfTestHeartbeat } from "./_self_test_heartbeat.ts";
export { selfTestOutbox } from "./_self_test_outbox.ts";
export { selfTestDeadline } from "./_self_test_deadline.ts";
export type { SelfTestOptions, SelfTestResult, SelfTestStep } from "./self_testing.ts";

/**
 * A session: the program's side of a rehearsal. It makes the lab, starts the keeper and the
 * narrowed worker, takes in the records, and takes everything down again on every path.
 *
 * @module
 */
import { dirname } from "@std/path";
import {
  assertLabRoot,
  type Clock,
  createLab,
  defaultWatchList,
  type EnvironmentError,
  hashBytes,
  isAlive,
  type JournalEntry,
  type Keeper,
  type Lab,
  Ledger,
  readProcessTable,
  reap,
  type RunRecord,
  sendSignal,
  startKeeper,
  sweepLabs,
  systemTempDir,
  systemTool,
  toolInfo,
  withLinkerVariables,
} from "../lab/mod.ts";
import { type Contract, ContractError } from "./contract.ts";
import { type CommandPlaces, jobEnvironment, resolveCommand } from "./job_environment.ts";
import type { FromWorker, PlanItem, ToWorker, WorkerStart } from "./plan.ts";
import { workspaceOf } from "./rehearse.ts";
import { type Scope, scopeFlags, scopeOf } from "./scope.ts";
import { openSessionWorker, type SessionWorker } from "./session_worker.ts";

/** What a session does and where it reports to. */
export interface SessionOptions {
  /** What the job is, and what counts as its outputs. */
  contract: Contract;
  /** The real project, which is only read. Absolute, links resolved. */
  projectDir: string;
  /** The user's environment. */
  env: Readonly<Record<string, string>>;
  /** Folder of the report; the worker may write its journals there. */
  reportDir: string;
  /** The program itself: the binary, or the source folder. It is watched. */
  kitPath: string;
  /** The runs to do, in this order, in one lab. */
  plan: PlanItem[];
  /** The line that runs this again; it goes into every record. */
  rerun: string;
  /** Seed of the session; it goes into every record. */
  seed: number;
  /** Name that the user gave to the run; `null` when none. */
  label: string | null;
  /**
   * Asked for the commit and state of the project's repository (`null` when it has none) while the
   * worker loads. Nothing is run before it answers, so it can do what else must be done by then.
   */
  git: () => Promise<RunRecord["git"]>;
  /** Leaves the lab folder in place. */
  keep: boolean;
  /** Time. */
  clock: Clock;
  /** Interrupts the session: the run in hand is ended, and no further one begins. */
  signal: AbortSignal;
  /** Gets the record of each run when it is over, one at a time and in order. */
  onRecord: (record: RunRecord) => Promise<void> | void;
  /** Gets a line about what is done right now, for the terminal. */
  onProgress?: (text: string) => void;
  /** Gets each entry of a run's journal; `subject` is the one of the run. */
  onJournal?: (subject: string, entry: JournalEntry) => void;
  /** Test of the scope; see {@linkcode WorkerStart.probeWrite}. */
  probeWrite?: string;
  /** Adds to the start message, for tests. @default {systemTempDir()} */
  tempDir?: string;
}

/** What was left when a session was over. */
export interface SessionResult {
  /** Where the lab still is (`keep`); `null` when it is gone. */
  labKept: string | null;
  /** Lab folders of dead runs that were removed at the start. */
  swept: string[];
  /** Variables with real provider keys that the job did not get. */
  removedVariables: string[];
  /** Answer to `probeWrite`. */
  probe: { refused: boolean; detail: string } | null;
}

const GIVE_UP_AFTER_ABORT_MS = 15_000;

/** The scope of a run with this contract, before there is a lab: the whole temp dir stands in. */
export function plannedScope(
  options: Pick<SessionOptions, "contract" | "projectDir" | "env" | "reportDir" | "kitPath">,
): Scope {
  const tempDir = systemTempDir();
  const { projectDir, contract, env } = options;
  const { commands, jobEnv } = plannedJob({ projectDir, contract, env }, tempDir);
  return scopeOf({
    projectDir,
    watched: watchRoots(options).map((root) => root.path),
    labRoot: tempDir,
    reportDir: options.reportDir,
    programs: programsOf(commands, jobEnv),
    tools: Object.values(tools()),
    lookedFor: ["awk", "sleep"].map(systemTool),
  });
}

/**
 * The job's commands and environment as they will be in the copy, before there is one: whatever is
 * wrong with them is found before anything is made.
 */
function plannedJob(
  { projectDir, contract, env }: Pick<SessionOptions, "projectDir" | "contract" | "env">,
  tempDir: string,
) {
  const workspace = workspaceOf(`${tempDir}/failure-lab-planned`, projectDir);
  const { env: jobEnv } = jobEnvironment(env, contract, projectDir, workspace);
  const places = { projectDir, workspace, path: jobEnv.PATH ?? "", env: jobEnv };
  return { commands: commandsOf(contract, places), jobEnv };
}

/**
 * Runs a session.
 *
 * @throws {ContractError} When a command is not found or names the real project.
 * @throws {EnvironmentError} When `ps`, `kill` or `sh` is missing, or the lab cannot be made.
 */
export async function runSession(options: SessionOptions): Promise<SessionResult> {
  const tempDir = options.tempDir ?? systemTempDir();
  plannedJob(options, tempDir);
  const lab = await createLab({ tempDir });
  try {
    if (options.keep) lab.keep();
    const start = await workerStart(options, lab);
    // It takes its time to load, which is used for what must be done before it may begin.
    using crew = openSessionWorker(lab.marker, start.scope);
    const { removed: swept } = await sweepLabs({ tempDir, clock: options.clock });
    await using keeper = await startKeeper(lab.marker);
    start.message.base.git = await options.git();
    const probe = await driveWorker(options, crew, start.message, (message) => {
      void tellKeeper(keeper, message);
    });
    await endLeftovers(lab.marker, options.clock);
    return {
      labKept: options.keep ? lab.root : null,
      swept,
      removedVariables: start.removedVariables,
      probe,
    };
  } finally {
    await lab.remove();
  }
}

async function workerStart(options: SessionOptions, lab: Lab) {
  const { contract, projectDir, env } = options;
  assertLabRoot(lab.root, options.tempDir ?? systemTempDir());
  const workspace = workspaceOf(lab.root, projectDir);
  await Deno.mkdir(dirname(workspace), { recursive: true });
  const job = jobEnvironment(env, contract, projectDir, workspace);
  const places = { projectDir, workspace, path: job.env.PATH ?? "", env: job.env };
  const commands = commandsOf(contract, places);
  const watch = [...watchRoots(options), { path: dirname(workspace), depth: "entries" as const }];
  const scope = scopeOf({
    projectDir,
    watched: watchRoots(options).map((root) => root.path),
    labRoot: lab.root,
    reportDir: options.reportDir,
    programs: programsOf(commands, job.env),
    tools: Object.values(tools()),
    lookedFor: ["awk", "sleep"].map(systemTool),
  });
  const message: Omit<WorkerStart, "filePort"> = {
    type: "start",
    contract,
    contractSha256: hashBytes(new TextEncoder().encode(JSON.stringify(contract))),
    commands,
    env: job.env,
    projectDir,
    labRoot: lab.root,
    workspace,
    marker: lab.marker,
    reportDir: options.reportDir,
    watch,
    exclude: [options.reportDir, lab.root],
    tools: tools(),
    plan: options.plan,
    base: {
      label: options.label,
      tool: toolInfo(),
      rerun: options.rerun,
      seed: options.seed,
      options: {
        removedVariables: job.removed,
        movedVariables: job.moved,
      },
      git: null,
      scope: scopeFlags(scope),
      startedAt: options.clock.wallIso(),
    },
    probeWrite: options.probeWrite ?? null,
    keep: options.keep,
  };
  return { message, scope, removedVariables: job.removed };
}

type ProcessMessage = Extract<FromWorker, { type: "process" }>;

/** The keeper learns of everything that it could not find, or could mistake, by itself. */
function tellKeeper(keeper: Keeper, { what, process }: ProcessMessage): Promise<void> {
  if (what === "leader") return keeper.addLeader(process);
  return what === "over" ? keeper.dropLeader(process) : keeper.addKnown(process);
}

/** Runs the worker to its end and hands its messages on. */
async function driveWorker(
  options: SessionOptions,
  { worker, filePort, failed }: SessionWorker,
  start: Omit<WorkerStart, "filePort">,
  onProcess: (message: ProcessMessage) => void,
): Promise<SessionResult["probe"]> {
  let probe: SessionResult["probe"] = null;
  let pending: Promise<void> = Promise.resolve();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  worker.onmessage = (event: MessageEvent<FromWorker>) => {
    const message = event.data;
    switch (message.type) {
      case "process":
        onProcess(message);
        break;
      case "journal":
        options.onJournal?.(message.subject, message.entry);
        break;
      case "progress":
        options.onProgress?.(message.text);
        break;
      case "probe":
        probe = { refused: message.refused, detail: message.detail };
        break;
      case "record":
        pending = pending.then(() => options.onRecord(message.record));
        break;
      case "done":
        resolve();
        break;
      case "failed":
        reject(message.exitCode === null ? new Error(message.message) : expected(message));
        break;
    }
  };
  void failed.then(reject);
  const say = (message: ToWorker) => worker.postMessage(message);
  const giveUp = new AbortController();
  const onAbort = () => {
    say({ type: "abort" });
    const limitMs = GIVE_UP_AFTER_ABORT_MS + options.contract.limits.graceSeconds * 1000;
    options.clock.sleep(limitMs, giveUp.signal).then(() => resolve());
  };
  options.signal.addEventListener("abort", onAbort);
  try {
    worker.postMessage({ ...start, filePort } satisfies ToWorker, [filePort]);
    if (options.signal.aborted) onAbort();
    await promise;
    await pending;
    return probe;
  } finally {
    giveUp.abort();
    options.signal.removeEventListener("abort", onAbort);
    worker.terminate(); // What it still does after giving up must not meet the removal of the lab.
  }
}

function expected(message: { message: string; exitCode: number | null }): Error {
  return Object.assign(new Error(message.message), { exitCode: message.exitCode });
}

/** The worker reaps on every path; this is for the one in which it could not. */
async function endLeftovers(marker: string, clock: Clock): Promise<void> {
  const ledger = new Ledger(marker);
  if (ledger.observe(await readProcessTable()).filter(isAlive).length === 0) return;
  await reap({ readTable: readProcessTable, signal: sendSignal, clock }, {
    ledger,
    spawned: [],
    graceMs: 0,
    runStartMs: clock.nowMs(),
  });
}

function commandsOf(
  contract: Contract,
  places: CommandPlaces,
): WorkerStart["commands"] {
  const { check } = contract.artifacts;
  return {
    start: resolveCommand("start", contract.start, places),
    resume: resolveCommand("resume", contract.resume, places),
    check: check === undefined
      ? null
      : resolveCommand("artifacts.check", withPathArgument(check), places),
    monitor: contract.monitor === undefined
      ? null
      : resolveCommand("monitor.start", contract.monitor.start, places),
  };
}

/** A check gets the output's path as its last word; a string for `sh -c` must hand it on. */
function withPathArgument(check: Contract["start"]): Contract["start"] {
  return typeof check === "string" ? ["sh", "-c", `${check} "$@"`, "sh"] : check;
}

function programsOf(
  commands: WorkerStart["commands"],
  env: Readonly<Record<string, string>>,
): string[] {
  const own = Object.values(commands).flatMap((argv) => argv === null ? [] : argv.slice(0, 1));
  return [...own, ...withLinkerVariables(own, env).argv.slice(0, 1)];
}

function tools(): Record<string, string> {
  return { ps: systemTool("ps"), kill: systemTool("kill"), sh: systemTool("sh") };
}

function watchRoots(
  options: Pick<SessionOptions, "contract" | "projectDir" | "env" | "kitPath">,
): WorkerStart["watch"] {
  const { projectDir, kitPath, env, contract } = options;
  const roots = defaultWatchList({ projectDir, kitPath, home: env.HOME ?? null });
  const own = contract.watch.map((path) => ({
    path: path.startsWith("/") ? path : `${projectDir}/${path}`,
    depth: "full" as const,
  }));
  return [...roots, ...own];
}

/** Re-exported so that callers can tell these errors from defects. */
export { ContractError };
export type { EnvironmentError };

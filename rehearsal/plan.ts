/**
 * What is passed between the program and the worker in which a rehearsal's driver runs.
 *
 * @module
 */
import type { JournalEntry, ProcessIdentity, RunRecord, WatchRoot } from "../lab/mod.ts";
import type { Contract } from "./contract.ts";
import type { StageCommands } from "./stage.ts";

/** One run to do. */
export interface PlanItem {
  /** `rehearsal`, or the id of a replay. */
  subject: string;
  /** Variant of the replay; `null` for its first one, and for a plain rehearsal. */
  variant: string | null;
  /** `false` does everything the same way but leaves the failure out. */
  armed: boolean;
  /** Overrides the contract's kill point (sweep). */
  killAfterArtifacts: number | null;
  /** Kills the recovery half-way as well, and recovers again. */
  killResume: boolean;
  /** Runs the recovery once more after a good one; it must then do nothing. */
  resumeTwice: boolean;
}

/** Everything that the worker needs; it has no access to the environment or to other files. */
export interface WorkerStart {
  type: "start";
  contract: Contract;
  contractSha256: string;
  commands: StageCommands;
  env: Record<string, string>;
  projectDir: string;
  labRoot: string;
  workspace: string;
  marker: string;
  /** The journal of every run goes here. */
  reportDir: string;
  watch: WatchRoot[];
  exclude: string[];
  tools: Record<string, string>;
  plan: PlanItem[];
  base: Pick<
    RunRecord,
    "label" | "tool" | "rerun" | "seed" | "options" | "git" | "scope" | "startedAt"
  >;
  /** Leads to the helper thread for file work, which has the rights of the worker and no more. */
  filePort: MessagePort;
  /** Leaves the workspace in place at the end. */
  keep: boolean;
  /** Test of the scope: a path that the worker tries to write to, and must not be able to. */
  probeWrite: string | null;
}

/** From the program to the worker. */
export type ToWorker = WorkerStart | { type: "abort" };

/** From the worker to the program. */
export type FromWorker =
  | { type: "process"; what: "leader" | "over" | "unmarked"; process: ProcessIdentity }
  | { type: "journal"; subject: string; entry: JournalEntry }
  | { type: "progress"; text: string }
  | { type: "probe"; refused: boolean; detail: string }
  | { type: "record"; record: RunRecord }
  | { type: "done" }
  | { type: "failed"; message: string; exitCode: number | null };

/**
 * What a stage is built from and what its steps give.
 *
 * @module
 */
import type {
  Artifact,
  Clock,
  Driver,
  Ending,
  Journal,
  ProcessRow,
  ReapSystem,
  RunRecord,
  Spawned,
} from "../lab/mod.ts";
import type { Provider } from "../lab/provider/mod.ts";
import type { Contract } from "./contract.ts";
import type { FreshCopy } from "./fresh_copy.ts";
import type { QuietOptions } from "./quiet.ts";

/** Commands of the job as they run in the copy. */
export interface StageCommands {
  start: string[];
  resume: string[];
  check: string[] | null;
  monitor: string[] | null;
}

/** What a stage is built from. */
export interface StageOptions {
  contract: Contract;
  commands: StageCommands;
  env: Record<string, string>;
  /** Root of the lab; everything that a stage writes is below it. */
  labRoot: string;
  /** Folder of this run's logs; not a part of the copy. */
  logDir: string;
  /** Makes the workspace what the project is. */
  copy: FreshCopy;
  /** Where the job runs. The same path for every run, so that outputs with paths are comparable. */
  workspace: string;
  driver: Driver;
  /** Makes a second driver that sees the processes through `system`; see `standDown`. */
  newDriver: (system: ReapSystem) => Driver;
  clock: Clock;
  journal: Journal;
  record: RunRecord;
  /** Whether to wait until the dead are collected before a recovery begins. */
  awaitsDead: boolean;
  control: ControlResult | null;
  /** The loopback provider that the job's environment points to. */
  provider: Provider | null;
}

/** What the control run showed. */
export interface ControlResult {
  record: NonNullable<RunRecord["control"]>;
  effectKeys: string[];
  /** Whether an effect was seen before the output that belongs to it. */
  hasEffectsAhead: boolean;
  elapsedMs: number;
  /** From its start to its first output; `null` when there was none. */
  firstOutputMs: number | null;
  /** Requests that reached the loopback provider. */
  providerRequests: number;
  /** Whether the declared end mark stands in the middle of an output as well. */
  endMarkRepeats: boolean;
  /** Whether another process than the command itself was seen. */
  hasChildren: boolean;
  /** Whether a file that is no output was seen beside the outputs. */
  hasTempFiles: boolean;
}

/** What a look at the disk shows. */
export interface DiskLook {
  artifacts: Artifact[];
  checkpoint: RunRecord["checkpoint"];
  effects: RunRecord["effects"];
  lock: string | null;
}

/** How a start went. */
export interface StartResult {
  spawned: Spawned | null;
  ending: Ending | "not-started";
  /** The processes that were frozen when the kill point was reached. */
  frozen: ProcessRow[];
}

/** What to know about a quiet period. */
export interface StageQuiet extends Pick<QuietOptions, "since" | "leftoversMs" | "suspects"> {
  /** Whether the command claimed that all is done, so that changes speak against it. */
  isClaim?: boolean;
}

/** How an attempt is concluded. */
export interface Conclusion {
  /** Sees and ends the attempt's processes. @default {the stage's own} */
  driver?: Driver;
  /** `null`: the quiet period was observed already. */
  quiet?: StageQuiet | null;
}

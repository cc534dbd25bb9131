// A system without processes: a table that the test writes, a clock that only moves when somebody
// sleeps, and a list of what was sent.

import type { ExitStatus, Spawned } from "../../lab/process.ts";
import type { ProcessRow } from "../../lab/process_table.ts";
import type { ReapSystem } from "../../lab/reap.ts";
import { startErrorPhase } from "../../lab/process.ts";
import { type ScriptedClock, scriptedClock } from "./scripted_clock.ts";

/** What a scripted system was asked to do. */
export interface ScriptedSystem extends ReapSystem {
  readonly clock: ScriptedClock;
  /** Looks at the table so far. */
  looks: number;
  /** Signals in order, for example `KILL -10 12`. */
  readonly sent: string[];
}

/**
 * Makes a scripted system. A look takes 10 ms of its clock.
 *
 * @param table Gives the rows of a look, or throws. Gets the number of the look, from 1.
 * @param onSignal Called for each signal, to change what the next look shows.
 */
export function scriptedSystem(
  table: (look: number) => ProcessRow[],
  onSignal: (signal: string, targets: readonly number[]) => void = () => {},
): ScriptedSystem {
  const clock = scriptedClock();
  const system: ScriptedSystem = {
    clock,
    looks: 0,
    sent: [],
    // deno-lint-ignore require-await -- what it throws must be a rejection
    async readTable() {
      clock.advance(10);
      return table(++system.looks);
    },
    // deno-lint-ignore require-await -- what it throws must be a rejection
    async signal(signal, targets) {
      onSignal(signal, targets);
      system.sent.push(`${signal} ${targets.join(" ")}`);
    },
  };
  return system;
}

/** A command that was never started, in the given state. */
export function scriptedSpawned(
  pid: number,
  clock: ScriptedClock,
  state: { ended: ExitStatus | null; pipesClosed: boolean },
): Spawned & { state: typeof state } {
  return {
    state,
    pid,
    status: Promise.resolve(state.ended ?? { exitCode: null, signal: null }),
    get ended() {
      return state.ended;
    },
    get pipesClosed() {
      return state.pipesClosed;
    },
    async waitPipes(limitMs) {
      if (!state.pipesClosed) await clock.sleep(limitMs);
      return state.pipesClosed;
    },
    release: () => Promise.resolve(),
    record: () => startErrorPhase(["scripted"], 0, null),
    noteEnd() {},
  };
}

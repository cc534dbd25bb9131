/**
 * Ctrl-C and TERM: the first asks the command to stop and clean up, the second says that this is
 * still going on, the third leaves at once.
 *
 * @module
 */
import { EXIT_CODES } from "../verdict.ts";
import type { Output } from "./output.ts";

/** The signals that ask us to stop. */
export type StopSignal = "SIGINT" | "SIGTERM";

/** Where signals come from; the real one is Deno. */
export interface SignalSource {
  /** Calls the handler at every such signal. */
  add(signal: StopSignal, handler: () => void): void;
  /** Ends what `add` began. */
  remove(signal: StopSignal, handler: () => void): void;
}

/** The signals of this process. */
export const systemSignals: SignalSource = {
  add: (signal, handler) => Deno.addSignalListener(signal, handler),
  remove: (signal, handler) => Deno.removeSignalListener(signal, handler),
};

/** The state of a run that may be interrupted. */
export interface Interruption {
  /** Aborted once, at the first signal. */
  signal: AbortSignal;
  /** Which signal came first; `null` when none did. */
  by(): StopSignal | null;
  /** Stops listening. */
  close(): void;
}

/** Exit code that belongs to a signal. */
export function exitCodeForSignal(signal: StopSignal): number {
  return signal === "SIGINT" ? EXIT_CODES.interrupted : EXIT_CODES.terminated;
}

const STOP_TEXTS: Record<StopSignal, string> = {
  SIGINT: "Interrupted (Ctrl-C)",
  SIGTERM: "Asked to stop (TERM)",
};

/**
 * Listens for Ctrl-C and TERM until `close()`.
 *
 * @param exit Ends the process at once, at the third signal.
 */
export function watchSignals(
  output: Output,
  source: SignalSource,
  exit: (code: number) => void,
): Interruption {
  const controller = new AbortController();
  let first: StopSignal | null = null;
  let count = 0;
  const onSignal = (signal: StopSignal) => {
    count += 1;
    first ??= signal;
    if (count === 1) {
      output.err(`${STOP_TEXTS[signal]}: ending what was started, then cleaning up.`);
      controller.abort(new DOMException(`Interrupted by ${signal}`, "AbortError"));
    } else if (count === 2) {
      output.err("Clean-up is still running. Once more leaves at once, without waiting for it.");
    } else {
      output.err(
        "Leaving at once. The keeper process ends what is still running; the next start of " +
          "failure-lab removes the lab folder.",
      );
      exit(exitCodeForSignal(first));
    }
  };
  const handlers = { SIGINT: () => onSignal("SIGINT"), SIGTERM: () => onSignal("SIGTERM") };
  source.add("SIGINT", handlers.SIGINT);
  source.add("SIGTERM", handlers.SIGTERM);
  return {
    signal: controller.signal,
    by: () => first,
    close() {
      source.remove("SIGINT", handlers.SIGINT);
      source.remove("SIGTERM", handlers.SIGTERM);
    },
  };
}

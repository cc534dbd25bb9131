/**
 * Carries out the steps of an answer on a connection.
 *
 * @module
 */

import type { ProviderClock } from "./_desk.ts";
import type { Step } from "./faults/mod.ts";
import type { LogEntry, Outcome } from "./request_log.ts";
import type { ResponseWriter } from "./_response_writer.ts";
import { type Wire, WireClosedError } from "./_wire.ts";

/** What a delivery works with. */
export interface Line {
  /** Tells when the client leaves, and is reset. */
  wire: Wire;
  /** Sends. */
  writer: ResponseWriter;
  /** Aborted when the provider stops. */
  stopping: AbortSignal;
  /** Waits between pings. */
  clock: Pick<ProviderClock, "sleep">;
}

/**
 * Carries out steps and counts in `entry` what was sent.
 *
 * @returns How it ended; after anything but `complete` the caller must close the connection.
 */
export async function deliver(
  steps: readonly Step[],
  line: Line,
  entry: LogEntry,
): Promise<Exclude<Outcome, "open" | "failed">> {
  try {
    for (const step of steps) {
      switch (step.do) {
        case "head":
          entry.status = step.status;
          await line.writer.head(step.status, step.headers, step.bodyBytes);
          break;
        case "frame":
          if (!await line.writer.body(step.frame.text)) break;
          if (step.frame.counts === "event") entry.eventCount++;
          if (step.frame.counts === "ping") entry.pingCount++;
          break;
        case "end":
          await line.writer.end();
          break;
        case "reset":
          if (step.settleMs > 0) await line.clock.sleep(step.settleMs, line.stopping);
          return line.wire.reset() ? "reset" : "cut";
        case "stall":
          return await stall(step, line, entry);
      }
      entry.bytesSent = line.writer.bytesSent;
    }
    return "complete";
  } catch (error) {
    if (!(error instanceof WireClosedError)) throw error;
    return line.stopping.aborted ? "stopped" : "client-left";
  } finally {
    entry.bytesSent = line.writer.bytesSent;
  }
}

/** Says nothing but pings until the client leaves or the provider stops. */
async function stall(
  step: Extract<Step, { do: "stall" }>,
  line: Line,
  entry: LogEntry,
): Promise<"client-left" | "stopped"> {
  const over = new AbortController();
  line.wire.gone.then(() => over.abort()); // stop() closes the wire, which is the same to us
  while (!over.signal.aborted) {
    await line.clock.sleep(step.pingEveryMs, over.signal);
    if (step.ping === null || over.signal.aborted) continue;
    await line.writer.body(step.ping.text);
    entry.pingCount++;
    entry.bytesSent = line.writer.bytesSent;
  }
  return line.stopping.aborted ? "stopped" : "client-left";
}

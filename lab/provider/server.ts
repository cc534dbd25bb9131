/**
 * The loopback provider: listens on 127.0.0.1, speaks four model protocols and a plain-text one,
 * and fails on schedule.
 *
 * It never generates text. A {@linkcode Script} says what the model asks for next, a {@linkcode
 * Schedule} what goes wrong, and the log what was seen. Requires `--allow-net=127.0.0.1`.
 *
 * Known gaps: HTTP/1.1 without TLS only; request bodies compressed with zstd get status 415; where
 * the runtime cannot reset a connection (Deno 2.4.2 cannot, 2.9.6 can), a scheduled reset arrives
 * as an early close, and the log says `cut` and not `reset`.
 *
 * @module
 */

import { createServer, type Server, type Socket } from "node:net";
import { systemClock } from "../clock.ts";
import { serveConnection } from "./_connection.ts";
import { Desk, type Observer, type ProviderClock } from "./_desk.ts";
import { Wire } from "./_wire.ts";
import type { Schedule } from "./fault_schedule.ts";
import { checkFakeKey, DEFAULT_KEY } from "./key_guard.ts";
import { type OutageReport, outageReport } from "./outage_report.ts";
import { type LogOptions, type ProviderLog, RequestLog } from "./request_log.ts";
import type { Script } from "./scripted_turns.ts";

/** How a provider is set up. */
export interface ProviderOptions {
  /** The one key that it takes; must begin with `sk-lab-fake`. @default {"sk-lab-fake-0001"} */
  key?: string;
  /** What the scripted model has to get done. Without it, every model request is answered "ok". */
  script?: Script;
  /** What goes wrong, and when. @default {[]} */
  schedule?: Schedule;
  /**
   * Milliseconds before each answer to a work request, so that a kill can hit the wait. @default
   * {0}
   */
  delayMs?: number;
  /** Limits of the log. */
  log?: LogOptions;
  /** Time. @default {systemClock} */
  clock?: ProviderClock;
  /** Told about each request when it is planned and when it has ended. Must not throw. */
  observe?: Observer;
}

/** A running provider. */
export interface Provider extends AsyncDisposable {
  /** Base URL without a path and without a slash at its end, such as `http://127.0.0.1:41234`. */
  readonly url: string;
  /** The port that the system chose. */
  readonly port: number;
  /** The key that it takes. */
  readonly key: string;
  /** Monotonic milliseconds since the start: the time scale of schedule and log. */
  nowMs(): number;
  /** A copy of the log. */
  log(): ProviderLog;
  /**
   * Replaces the schedule from the next request on. Its request numbers and times still count from
   * the start of the provider; its `count`s begin anew.
   *
   * @throws {RangeError} If a number is out of its bounds.
   * @throws {TypeError} If a kind is unknown, or a field does not belong to its kind.
   */
  setSchedule(schedule: Schedule): void;
  /** What happened while it was down. */
  outage(): OutageReport;
  /**
   * Ends every connection at once, stalled ones too, and waits until nothing of it is left. Safe to
   * call again.
   *
   * @throws What an observer threw.
   */
  stop(): Promise<void>;
}

/** Connections at one time; more are closed unheard. */
const CONNECTIONS_MAX = 256;

/**
 * Deno 2.4.2 takes the backlog for a number of connections in all: it counts each one, never counts
 * one off, and stops accepting when the count has passed the backlog. The system itself cuts this
 * number down to what it allows.
 */
const BACKLOG = 2 ** 30 - 1;

/**
 * Starts a provider on a free port of 127.0.0.1.
 *
 * @throws {TypeError} If the key does not begin with `sk-lab-fake`, or a schedule field is wrong.
 * @throws {RangeError} If a number of the schedule or of the log is out of its bounds.
 * @throws What the system says when it cannot listen.
 */
export async function startProvider(options: ProviderOptions = {}): Promise<Provider> {
  const key = options.key ?? DEFAULT_KEY;
  checkFakeKey(key);
  const stopping = new AbortController();
  const log = new RequestLog(options.log);
  const desk = new Desk({
    key,
    script: options.script ?? null,
    delayMs: options.delayMs ?? 0,
    clock: options.clock ?? systemClock,
    log,
    stopping: stopping.signal,
    observe: options.observe ?? null,
  });
  desk.setSchedule(options.schedule ?? []);
  const switchboard = new Switchboard(desk);
  const port = await switchboard.listen();
  let stopped: Promise<void> | null = null;
  const stop = () => {
    stopping.abort();
    stopped ??= switchboard.stop();
    return stopped;
  };
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    key,
    nowMs: () => desk.nowMs(),
    log: () => log.snapshot(),
    setSchedule: (schedule) => desk.setSchedule(schedule),
    outage: () => outageReport(log.snapshot()),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** Accepts connections and knows which are open. */
class Switchboard {
  readonly #desk: Desk;
  readonly #server: Server;
  readonly #open = new Map<Wire, Promise<void>>();
  readonly #failures: unknown[] = [];

  constructor(desk: Desk) {
    this.#desk = desk;
    this.#server = createServer({ allowHalfOpen: true }, (socket) => this.#accept(socket));
  }

  /** @returns The port that the system chose. */
  listen(): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(0, "127.0.0.1", BACKLOG, () => {
        this.#server.off("error", reject);
        this.#server.on("error", (error) => this.#failures.push(error));
        const address = this.#server.address();
        if (typeof address === "object" && address !== null) resolve(address.port);
        else reject(new Error("Cannot listen: the system gave no port"));
      });
    });
  }

  /** Ends everything. Not by the callback of `close()`, which Deno 2.4.2 never calls. */
  async stop(): Promise<void> {
    this.#server.close();
    for (const wire of this.#open.keys()) wire.close();
    await Promise.all(this.#open.values());
    if (this.#failures.length > 0) throw this.#failures[0];
  }

  #accept(socket: Socket): void {
    if (this.#desk.options.stopping.aborted || this.#open.size >= CONNECTIONS_MAX) {
      socket.on("error", () => {}); // a client that was not let in cannot end the program
      socket.destroy();
      return;
    }
    const wire = new Wire(socket);
    const served = serveConnection(wire, this.#desk)
      .catch((error) => void this.#failures.push(error))
      .finally(() => this.#open.delete(wire));
    this.#open.set(wire, served);
  }
}

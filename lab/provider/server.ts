/**
 * The loopback provider: listens on 127.0.0.1, speaks four model protocols and a plain-text one, and
 * fails on schedule.
 *
 * It never generates text. A {@linkcode Script} says what the model asks for next, a
 * {@linkcode Schedule} what goes wrong, and the log what was seen. Requires `--allow-net=127.0.0.1`.
 *
 * Known gaps: HTTP/1.1 without TLS only; request bodies compressed with zstd get status 415; where
 * the kernel does not reset a connection that is closed with unread data (Linux does), a scheduled
 * reset arrives as an early close.
 *
 * @module
 */

import { systemClock } from "../clock.ts";
import { closeQuietly, serveConnection } from "./_connection.ts";
import { Desk, type Observer, type ProviderClock } from "./_desk.ts";
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
  /** Milliseconds before each answer to a work request, so that a kill can hit the wait. @default {0} */
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
   * @throws What an observer threw, or what kept the provider from accepting connections.
   */
  stop(): Promise<void>;
}

/** Connections at one time; more are closed unheard. */
const CONNECTIONS_MAX = 256;

/**
 * Starts a provider on a free port of 127.0.0.1.
 *
 * @throws {TypeError} If the key does not begin with `sk-lab-fake`, or the schedule has a wrong field.
 * @throws {RangeError} If a number of the schedule or of the log is out of its bounds.
 */
export function startProvider(options: ProviderOptions = {}): Promise<Provider> {
  // Deno listens synchronously; the promise keeps the door open and turns what is thrown into a
  // rejection.
  return Promise.resolve().then(() => startNow(options));
}

function startNow(options: ProviderOptions): Provider {
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
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0, transport: "tcp" });
  const { port } = listener.addr;
  const accepted = acceptAll(listener, desk);
  accepted.catch(() => {}); // stop() throws it; until then it must not end the program
  let stopped: Promise<void> | null = null;
  const stop = () => {
    stopped ??= (async () => {
      stopping.abort();
      closeQuietly(listener);
      await accepted;
    })();
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

/** Accepts until the listener is closed, then closes what is open and waits for all of it. */
async function acceptAll(listener: Deno.TcpListener, desk: Desk): Promise<void> {
  const open = new Map<Deno.TcpConn, Promise<void>>();
  const failures: unknown[] = [];
  const { stopping } = desk.options;
  stopping.addEventListener("abort", () => {
    for (const conn of open.keys()) closeQuietly(conn);
  }, { once: true });
  while (!stopping.aborted) {
    const conn = await acceptOne(listener).catch((error) => {
      failures.push(error);
      closeQuietly(listener); // clients are refused then, and do not wait for nobody
      return null;
    });
    if (failures.length > 0) break;
    if (conn === null) continue;
    if (stopping.aborted || open.size >= CONNECTIONS_MAX) {
      conn.close();
      continue;
    }
    const served = serveConnection(conn, desk)
      .catch((error) => void failures.push(error))
      .finally(() => open.delete(conn));
    open.set(conn, served);
  }
  await Promise.all(open.values());
  if (failures.length > 0) throw failures[0];
}

/** @returns `null` when the listener is closed, or when the client gave up before it was accepted. */
async function acceptOne(listener: Deno.TcpListener): Promise<Deno.TcpConn | null> {
  try {
    return await listener.accept();
  } catch (error) {
    if (
      error instanceof Deno.errors.BadResource || error instanceof Deno.errors.Interrupted ||
      error instanceof Deno.errors.ConnectionReset ||
      error instanceof Deno.errors.ConnectionAborted
    ) return null;
    throw error;
  }
}

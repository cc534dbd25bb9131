/**
 * The courier: takes the messages of a drill's job and brings them to their receiver. The job is a
 * shell script and knows no network; it lays a letter into a folder and waits for the answer.
 *
 * Whether each message arrives once is decided here: by a handler that just sends, as many runners
 * do, or by one that goes through an outbox.
 *
 * @module
 */
import { join } from "@std/path";
import type { Clock } from "../lab/mod.ts";

/** What the job hears. */
export type CourierAnswer =
  /** It was sent now. */
  | "sent"
  /** It had been sent before. */
  | "already"
  /** Another run is sending it right now: ask again. */
  | "busy"
  /** It was not sent; the job ends with what follows the colon. */
  | `not: ${string}`;

/** Brings one message; gets the unit's name, and a signal that ends it when nobody waits any more. */
export type CourierHandler = (unit: string, signal: AbortSignal) => Promise<CourierAnswer>;

const LOOK_EVERY_MS = 3;

/** Serves one folder of letters until it is stopped. */
export class Courier {
  readonly #dir: string;
  readonly #clock: Clock;
  readonly #handler: CourierHandler;
  readonly #stop = new AbortController();
  readonly #open = new Set<Promise<void>>();
  readonly #seen = new Set<string>();
  #round: Promise<void> | null = null;
  #failure: unknown = null;

  /** @param dir Made when it is not there. */
  constructor(dir: string, clock: Clock, handler: CourierHandler) {
    this.#dir = dir;
    this.#clock = clock;
    this.#handler = handler;
    Deno.mkdirSync(dir, { recursive: true });
    // Letters of a job that is dead are no concern of the next one's courier.
    for (const { name } of Deno.readDirSync(dir)) Deno.removeSync(join(dir, name));
  }

  /** Begins to serve. */
  start(): void {
    this.#round = this.#serve();
  }

  /** Stops serving; letters in hand are given up. Throws what a handler threw. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#round;
    await Promise.all(this.#open);
    if (this.#failure !== null) throw this.#failure;
  }

  async #serve(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      for (const { name } of Deno.readDirSync(this.#dir)) {
        if (!name.endsWith(".ask") || this.#seen.has(name)) continue;
        this.#seen.add(name);
        const answering = this.#answer(name).finally(() => this.#open.delete(answering));
        this.#open.add(answering);
      }
      await this.#clock.sleep(LOOK_EVERY_MS, this.#stop.signal);
    }
  }

  async #answer(name: string): Promise<void> {
    const letter = join(this.#dir, name);
    const place = letter.replace(/\.ask$/, "");
    let answer: CourierAnswer;
    try {
      answer = await this.#handler((await Deno.readTextFile(letter)).trim(), this.#stop.signal);
    } catch (error) {
      this.#failure ??= error;
      answer = `not: ${error instanceof Error ? error.message : error}`;
    }
    // Renamed when it is whole, so that the job never reads half an answer.
    await Deno.writeTextFile(`${place}.new`, `${answer}\n`);
    await Deno.rename(`${place}.new`, `${place}.answer`);
  }
}

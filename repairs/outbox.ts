/**
 * `outbox`: each effect (a message sent, a row written, a request paid for) happens once, also over
 * crashes and outages.
 *
 * - **A stable key** per effect, from the unit and its content, never from the attempt.
 * - **Intent before, done after**, both written through to the disk. A death in between leaves an
 *   intent; the next run asks the caller's probe whether it happened, and where nobody can tell it
 *   says `unknown`: it neither sends again blindly nor marks it done blindly.
 * - **The attempt counter and the wait are on disk**, so that a restart does not begin anew. The
 *   wait doubles up to a cap, never ends before Retry-After, and has jitter on top.
 * - **Parking**: a wait that is longer than this run may last ends the run instead of looping.
 *
 * @module
 */
import { type Clock, createRandom, drawSeed, type Random, systemClock } from "../lab/mod.ts";
import { removeIfThere } from "./_durable.ts";
import { fencePath } from "./_guard.ts";
import { type EffectRecord, type EffectState, OutboxStore } from "./outbox_store.ts";
import { acquireLease, LeaseHeldError } from "./lease.ts";

/** Whether an effect happened, as far as somebody can tell. */
export type WasSent = true | false | "unknown";

/** What came of one attempt. */
export interface SendAnswer {
  /** `unknown` when the attempt broke off: it may have happened. */
  sent: WasSent;
  /** The other side asked for at least this wait. */
  retryAfterMs?: number | undefined;
  /** Not sent, and it never will be: do not try again. */
  isRefused?: boolean | undefined;
  /** Not sent; do not try again in this run. */
  endsRun?: boolean | undefined;
  /** In words. */
  why?: string | undefined;
}

/** How long to wait, and how often to try. */
export interface OutboxPolicy {
  /** Wait after the first failed attempt; it doubles with each further one. @default {1000} */
  baseWaitMs?: number | undefined;
  /** The doubling stops here; Retry-After is honoured beyond. @default {300000} */
  capWaitMs?: number | undefined;
  /** All waits of this run together; a longer one parks. @default {600000} */
  runWaitMs?: number | undefined;
  /** Attempts over all runs; after them a person decides. @default {20} */
  attemptsMax?: number | undefined;
}

/** One effect to deliver. */
export interface DeliverOptions {
  /** Names the effect, the same in each attempt. */
  key: string;
  /**
   * Does it once. What it throws counts as "unknown". A job that it starts should carry `token`, so
   * that another run sees when it outlives this one.
   */
  send: (attempt: { key: string; number: number; token: string }) => Promise<SendAnswer>;
  /** Asked when an earlier attempt has no known end. */
  wasSent?: ((key: string) => Promise<WasSent>) | undefined;
  /** How long to wait, and how often to try. */
  policy?: OutboxPolicy | undefined;
  /** Gets messages for a person. */
  say?: ((message: string) => void) | undefined;
  /** Ends the wait when it is aborted. */
  signal?: AbortSignal | undefined;
}

/** How a delivery ended. */
export interface Delivery {
  /**
   * `done`: it happened now. `already-done`: it had happened before; nothing was sent. `parked`:
   * not sent, may be tried at `record.notBeforeMs`. `given-up`: not sent, a person decides.
   * `unknown`: it may have happened. `busy`: another run is sending it. `stopped`: we were asked to
   * stop.
   */
  outcome: "done" | "already-done" | "parked" | "given-up" | "unknown" | "busy" | "stopped";
  /** Attempts that this run made. */
  attempts: number;
  /** What is known of the effect now; `null` when nothing is. */
  record: EffectRecord | null;
  /** In words. */
  why: string;
}

/** Share of the wait that chance adds at most, so that many senders do not come back at once. */
const JITTER = 0.25;

/**
 * The wait before the next attempt: doubling up to a cap, at least Retry-After, and jitter on top.
 * Pure.
 *
 * @param attempts Attempts so far, over all runs; at least 1.
 */
export function nextWaitMs(
  attempts: number,
  retryAfterMs: number,
  policy: OutboxPolicy,
  random: Random,
): number {
  const { baseWaitMs = 1000, capWaitMs = 300_000 } = policy;
  const doubledMs = Math.min(capWaitMs, baseWaitMs * 2 ** Math.min(attempts - 1, 40));
  return Math.ceil(Math.max(doubledMs, retryAfterMs) * (1 + JITTER * random.next()));
}

/** What an outbox works with; tests give their own. */
export interface OutboxOptions {
  /** The clock to go by. @default {systemClock} */
  clock?: Clock | undefined;
  /** The source of chance. @default {seeded by the system} */
  random?: Random | undefined;
}

/** An outbox in a folder. Several processes may use it at once. */
export class Outbox {
  /** The records on disk. */
  readonly store: OutboxStore;
  readonly #clock: Clock;
  readonly #random: Random;

  /**
   * Opens an outbox.
   *
   * @param dir The folder; made when it is not there.
   */
  constructor(dir: string, options: OutboxOptions = {}) {
    this.store = new OutboxStore(dir);
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? createRandom(drawSeed());
  }

  /**
   * Makes an effect happen, unless it has happened, may have happened, or has to wait.
   *
   * @throws {RepairError} When the record of the key cannot be read.
   */
  async deliver(options: DeliverOptions): Promise<Delivery> {
    const { key } = options;
    const path = `${this.store.pathOf(key)}.lock`;
    try {
      // Two runs with one key: the other one may be between the effect and its record.
      // Waiting for another process takes real time, whatever clock the waits are counted on.
      const lease = await acquireLease({ path, clock: systemClock, say: options.say });
      const delivery = await this.#deliverAlone(options, lease.token)
        .finally(() => lease.release());
      // Whoever comes now finds the record, with or without the old number.
      if (delivery.record?.state === "done") removeIfThere(fencePath(path));
      return delivery;
    } catch (error) {
      if (!(error instanceof LeaseHeldError)) throw error;
      const why = `another run is sending it, or may be: ${error.judgement.why}`;
      return { outcome: "busy", attempts: 0, record: this.store.read(key), why };
    }
  }

  async #deliverAlone(options: DeliverOptions, token: string): Promise<Delivery> {
    const settled = await this.#settleEarlier(options);
    if (settled !== null) return settled;
    const policy = options.policy ?? {};
    let leftMs = policy.runWaitMs ?? 600_000;
    for (let attempts = 0;; attempts++) {
      const waitMs = this.#waitLeftMs(this.store.read(options.key));
      if (waitMs > leftMs) {
        const why =
          `the next attempt may begin in ${Math.ceil(waitMs / 1000)} s, and this run may ` +
          `wait ${Math.floor(leftMs / 1000)} s more`;
        return { outcome: "parked", attempts, record: this.store.read(options.key), why };
      }
      if (waitMs > 0) {
        options.say?.(`Waiting ${Math.ceil(waitMs / 1000)} s before the next attempt.`);
        await this.#clock.sleep(waitMs, options.signal);
        leftMs -= waitMs;
      }
      if (options.signal?.aborted) {
        const record = this.store.read(options.key);
        return { outcome: "stopped", attempts, record, why: "we were asked to stop" };
      }
      const delivery = await this.#attempt(options, policy, token);
      if (delivery !== null) return { ...delivery, attempts: attempts + 1 };
    }
  }

  /** Looks at what earlier runs left; gives `null` when an attempt may be made. */
  async #settleEarlier(options: DeliverOptions): Promise<Delivery | null> {
    const { key } = options;
    const record = this.store.read(key);
    if (record?.state === "done") {
      return { outcome: "already-done", attempts: 0, record, why: record.note };
    }
    if (record?.state === "parked") {
      return { outcome: "given-up", attempts: 0, record, why: record.note };
    }
    const isOpen = record?.state === "intent" || record?.state === "unknown";
    if (!isOpen && record !== null) return null;
    const sent = await ask(options);
    if (sent === true) {
      const done = this.#write(key, "done", record, { note: "found to have been sent before" });
      return { outcome: "already-done", attempts: 0, record: done, why: done.note };
    }
    // Without a record there was no attempt of ours, so "unknown" is no reason to hold back.
    if (!isOpen) return null;
    if (sent === false) {
      this.#write(key, "waiting", record, { note: "found not to have been sent" });
      return null;
    }
    return this.#unknown(key, record, "an attempt has no known end, and nobody can tell");
  }

  #unknown(key: string, record: EffectRecord | null, note: string): Delivery {
    const unknown = this.#write(key, "unknown", record, { note });
    return { outcome: "unknown", attempts: 0, record: unknown, why: note };
  }

  /** One attempt; gives `null` when another one may follow. */
  async #attempt(
    options: DeliverOptions,
    policy: OutboxPolicy,
    token: string,
  ): Promise<Delivery | null> {
    const { key } = options;
    const before = this.store.read(key);
    const number = (before?.attempts ?? 0) + 1;
    const intent = this.#write(key, "intent", before, { attempts: number, note: "begun" });
    let answer: SendAnswer;
    try {
      answer = await options.send({ key, number, token });
    } catch (error) {
      answer = { sent: "unknown", why: error instanceof Error ? error.message : String(error) };
    }
    const why = answer.why ?? "no reason was given";
    const sent = answer.sent === "unknown" ? await ask(options) : answer.sent;
    if (sent === "unknown") return this.#unknown(key, intent, `it broke off: ${why}`);
    if (sent) {
      const record = this.#write(key, "done", intent, { note: `sent with attempt ${number}` });
      return { outcome: "done", attempts: 0, record, why: record.note };
    }
    if (answer.isRefused || number >= (policy.attemptsMax ?? 20)) {
      const note = answer.isRefused
        ? `refused: ${why}`
        : `given up after ${number} attempts: ${why}`;
      const record = this.#write(key, "parked", intent, { note });
      return { outcome: "given-up", attempts: 0, record, why: note };
    }
    const waitMs = nextWaitMs(number, answer.retryAfterMs ?? 0, policy, this.#random);
    const record = this.#write(key, "waiting", intent, {
      note: why,
      waitMs,
      notBeforeMs: this.#clock.wallMs() + waitMs,
    });
    options.say?.(`Not sent (attempt ${number}): ${why}.`);
    return answer.endsRun ? { outcome: "parked", attempts: 0, record, why } : null;
  }

  /** A wall clock that was set back must not make a wait longer than it was meant to be. */
  #waitLeftMs(record: EffectRecord | null): number {
    if (record?.state !== "waiting" || record.notBeforeMs === null) return 0;
    return Math.min(record.waitMs, Math.max(0, record.notBeforeMs - this.#clock.wallMs()));
  }

  #write(
    key: string,
    state: EffectState,
    before: EffectRecord | null,
    change: Partial<EffectRecord>,
  ): EffectRecord {
    const record: EffectRecord = {
      schema: "failure-lab/effect",
      version: 1,
      key,
      state,
      attempts: before?.attempts ?? 0,
      notBeforeMs: null,
      waitMs: 0,
      changedAt: this.#clock.wallIso(),
      note: "",
      ...change,
    };
    this.store.write(record);
    return record;
  }

  /**
   * A person's answer about an effect that is unknown or parked: it was sent, or it was not and may
   * be tried afresh, with the attempts counted anew.
   */
  settle(key: string, wasSent: boolean): EffectRecord {
    const note = wasSent ? "a person says that it was sent" : "a person says that it was not sent";
    return this.#write(key, wasSent ? "done" : "waiting", null, { note });
  }
}

async function ask(options: DeliverOptions): Promise<WasSent> {
  try {
    return await options.wasSent?.(options.key) ?? "unknown";
  } catch (error) {
    options.say?.(`The probe failed: ${error instanceof Error ? error.message : error}.`);
    return "unknown";
  }
}

/**
 * Reads the value of a Retry-After header: whole seconds, or a date.
 *
 * @returns Milliseconds from now, never negative; `null` when it is neither.
 */
export function parseRetryAfterMs(text: string, nowMs: number): number | null {
  const value = text.trim();
  if (/^\d{1,9}(\.\d{1,6})?$/.test(value)) return Number(value) * 1000;
  const atMs = /^[A-Za-z]{3},? /.test(value) ? Date.parse(value) : NaN;
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - nowMs);
}

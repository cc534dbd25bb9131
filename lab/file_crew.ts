/**
 * The crew for file work: this thread, and a helper of the same rights.
 *
 * One thread alone is slower than `find | xargs sha256sum`, because Deno resolves every path that it
 * opens (8 of 14 µs for a path seven folders deep) unless the program has all rights. Both threads
 * take the next file from one shared counter, so a helper that starts late, or not at all, costs
 * nothing but its own work. In a worker of a worker, Deno 2.9.6 wakes a thread only every half
 * second; the helper of a worker is therefore started by the main thread (about 40 ms).
 *
 * @module
 */
import { FileKit, workOn } from "./_file_kit.ts";

/** Place of the helper's state in a job's counters. */
export const HELPER = 1;
/** Place that tells the helper to stop when it is not 0. */
export const STOP = 2;
/** Value at {@linkcode HELPER} while the helper takes files. */
export const HELPER_WORKS = 1;
/** Value at {@linkcode HELPER} when there was none left to take. */
export const HELPER_DONE = 2;

/** A helper thread for file work. Close it, or the program does not end. */
export interface FileCrew extends Disposable {
  /** Whether there may be a helper; without one everything is done by the calling thread. */
  readonly hasHelper: boolean;
  /** Whether the helper was started already, so that also a small batch may be shared. */
  readonly isWarm: boolean;
  /** Starts the helper ahead of its first batch: it needs about 40 ms. */
  warm(): void;
  /** Hands a batch to the helper. Use {@linkcode runFileBatch}. */
  share(job: unknown): void;
  /** Lets the helper go: it gets no more work. A second call does no harm. */
  close(): void;
}

/** A port behind which a helper is started when it is first needed. */
export interface FileHelper extends Disposable {
  /** To be transferred to the worker that calls {@linkcode openFileCrew} with it. */
  readonly port: MessagePort;
  /** Ends the helper. Safe to call twice. */
  close(): void;
}

const HELPER_GONE = "gone";
const WARM = "warm";

/**
 * Opens a crew; its helper is started when it is first needed. Without a second core, or where no
 * helper can be started, there is none, and everything works all the same.
 *
 * @param options.port Of a {@linkcode startFileHelper}; without it the helper is a worker of this
 * thread, with the same rights.
 */
export function openFileCrew(options: { port?: MessagePort | undefined } = {}): FileCrew {
  if (options.port !== undefined) return crewBehind(options.port);
  let worker: Worker | null = null;
  let hasHelper = navigator.hardwareConcurrency > 1;
  const close = () => {
    hasHelper = false;
    worker?.terminate();
    worker = null;
  };
  const warm = () => {
    if (!hasHelper) return;
    worker ??= startHelper(close);
    hasHelper = worker !== null;
  };
  return {
    get hasHelper() {
      return hasHelper;
    },
    get isWarm() {
      return worker !== null;
    },
    warm,
    share: (job) => {
      warm();
      worker?.postMessage(job);
    },
    close,
    [Symbol.dispose]: close,
  };
}

/** A crew without a helper. */
export const ALONE: FileCrew = {
  hasHelper: false,
  isWarm: false,
  warm() {},
  share() {},
  close() {},
  [Symbol.dispose]() {},
};

/**
 * For the main thread: a helper for one of its workers. In a worker of a worker, Deno 2.9 would take
 * a second to start it.
 *
 * @param permissions The helper's rights, at most those of this thread; the same as the worker's.
 * @param options.warm Whether to start it now and not with its first work. @default {false}
 */
export function startFileHelper(
  permissions?: Deno.PermissionOptions,
  options: { warm?: boolean } = {},
): FileHelper {
  const { port1, port2 } = new MessageChannel();
  let worker: Worker | null = null;
  const end = () => {
    worker?.terminate();
    worker = null;
  };
  const gone = () => {
    end();
    port1.postMessage(HELPER_GONE);
  };
  port1.onmessage = ({ data }) => {
    worker ??= startHelper(gone, permissions);
    if (worker === null) gone();
    else if (data !== WARM) worker.postMessage(data);
  };
  const close = () => {
    end();
    port1.close();
  };
  if (options.warm === true && navigator.hardwareConcurrency > 1) {
    worker = startHelper(gone, permissions);
  }
  return { port: port2, close, [Symbol.dispose]: close };
}

function crewBehind(port: MessagePort): FileCrew {
  let hasHelper = navigator.hardwareConcurrency > 1;
  port.onmessage = ({ data }) => {
    if (data === HELPER_GONE) hasHelper = false;
  };
  let isWarm = false;
  const close = () => {
    hasHelper = false;
    port.close();
  };
  const send = (message: unknown) => {
    if (!hasHelper) return;
    isWarm = true;
    port.postMessage(message);
  };
  return {
    get hasHelper() {
      return hasHelper;
    },
    get isWarm() {
      return isWarm && hasHelper;
    },
    warm: () => send(WARM),
    share: send,
    close,
    [Symbol.dispose]: close,
  };
}

function startHelper(onGone: () => void, permissions?: Deno.PermissionOptions): Worker | null {
  try {
    const worker = new Worker(helperUrl(), {
      type: "module",
      name: "failure-lab files",
      ...(permissions === undefined ? {} : { deno: { permissions } }),
    } as WorkerOptions);
    worker.onerror = (event) => {
      event.preventDefault();
      onGone();
    };
    return worker;
  } catch {
    return null; // No right or no memory for one: the calling thread does it alone.
  }
}

/** The helper as a data URL: a file would have to be readable inside a narrowed permission. */
function helperUrl(): string {
  const source = `
    import fs from "node:fs";
    import { createHash, hash } from "node:crypto";
    const FileKit = ${FileKit};
    const workOn = ${workOn};
    // Keeps the thread awake where Deno would not wake it for a message (see file_crew.ts).
    setInterval(() => {}, 1);
    self.onmessage = ({ data: job }) => {
      Atomics.store(job.counters, ${HELPER}, ${HELPER_WORKS});
      try {
        const umask = job.batch.copy?.umask ?? 0;
        const kit = new FileKit(fs, { createHash, hash }, { umask, chunkBytes: job.chunkBytes });
        for (const _ of workOn(kit, job, () => {})) {
          if (Atomics.load(job.counters, ${STOP}) !== 0) break;
        }
      } finally {
        Atomics.store(job.counters, ${HELPER}, ${HELPER_DONE});
      }
    };`;
  return `data:text/javascript,${encodeURIComponent(source)}`;
}

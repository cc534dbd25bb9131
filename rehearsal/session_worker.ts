/**
 * The narrowed worker of a session, opened ahead of its work: it takes a tenth of a second to load,
 * in which the program can do what must be done before the first command.
 *
 * @module
 */
import { startFileHelper } from "../lab/mod.ts";
import { type Scope, workerPermissions } from "./scope.ts";

/** The narrowed worker, and a helper thread for its files, with the same rights but to run. */
export interface SessionWorker extends Disposable {
  /** Does nothing until it gets its start message. */
  worker: Worker;
  /** Leads to the helper; for the start message. */
  filePort: MessagePort;
  /** Gives an error when the worker ends by one, at any time since it was opened. */
  failed: Promise<Error>;
}

/** Opens both. Dispose it on every path, or the program does not end. */
export function openSessionWorker(marker: string, scope: Scope): SessionWorker {
  const permissions = workerPermissions(scope);
  const { promise: failed, resolve } = Promise.withResolvers<Error>();
  const worker = new Worker(new URL("./worker.ts", import.meta.url).href, {
    type: "module",
    name: `failure-lab ${marker.slice(0, 8)}`,
    deno: { permissions },
  } as WorkerOptions);
  worker.onerror = (event) => {
    event.preventDefault();
    resolve(new Error(`The driver of the rehearsal ended: ${event.message}`));
  };
  const helper = startFileHelper({ ...permissions, run: false, net: false }, { warm: true });
  return {
    worker,
    filePort: helper.port,
    failed,
    [Symbol.dispose]() {
      worker.terminate();
      helper.close();
    },
  };
}

/**
 * Entry of the worker in which a rehearsal's driver runs. Its permissions are narrowed to one run
 * (see scope.ts), so everything that it needs comes in one message.
 *
 * @module
 */
/// <reference lib="deno.worker" />
import { openFileCrew, rememberSystemTools, systemClock } from "../lab/mod.ts";
import type { FromWorker, ToWorker, WorkerStart } from "./plan.ts";
import { Rehearsal } from "./rehearse.ts";

const abort = new AbortController();
const scope = self as unknown as DedicatedWorkerGlobalScope;
const post = (message: FromWorker) => scope.postMessage(message);

scope.onmessage = async (event: MessageEvent<ToWorker>) => {
  const message = event.data;
  if (message.type === "abort") {
    abort.abort();
    return;
  }
  try {
    rememberSystemTools(message.tools);
    if (message.probeWrite !== null) probeWrite(message, message.probeWrite);
    else await rehearse(message);
    post({ type: "done" });
  } catch (error) {
    const exitCode = error instanceof Error && "exitCode" in error ? Number(error.exitCode) : null;
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    const short = error instanceof Error ? error.message : String(error);
    post({ type: "failed", message: exitCode === null ? text : short, exitCode });
  }
};

async function rehearse(message: WorkerStart): Promise<void> {
  using crew = openFileCrew({ port: message.filePort });
  crew.warm();
  await new Rehearsal(message, { post, clock: systemClock, signal: abort.signal, crew }).run();
}

/** Tries to write to a path that is watched, and says what the runtime answered. */
function probeWrite(_message: WorkerStart, path: string): void {
  try {
    Deno.writeTextFileSync(path, "written by a rehearsal\n");
    post({ type: "probe", refused: false, detail: `"${path}" was written` });
  } catch (error) {
    const refused = error instanceof Deno.errors.NotCapable;
    post({ type: "probe", refused, detail: error instanceof Error ? error.message : "" });
  }
}

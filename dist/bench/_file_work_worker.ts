// The worker of _file_work.ts: does one piece of file work and says how long it took.

/// <reference lib="deno.worker" />
import { copyProject } from "../../rehearsal/project_copy.ts";
import { snapshotWatchList } from "../../lab/containment.ts";
import { ALONE, openFileCrew } from "../../lab/file_crew.ts";

/** What to do. */
export interface FileWork {
  what: "copy" | "hash";
  from: string;
  /** Where the copy comes to be; empty when nothing is copied. */
  to: string;
  /** Of the helper; `null` to work alone. */
  port: MessagePort | null;
}

const scope = self as unknown as DedicatedWorkerGlobalScope;

scope.onmessage = async ({ data }: MessageEvent<FileWork>) => {
  const { what, from, to, port } = data;
  using crew = port === null ? ALONE : openFileCrew({ port });
  const startMs = performance.now();
  if (what === "copy") await copyProject({ from, to, crew });
  else await snapshotWatchList([{ path: from, depth: "full" }], { crew });
  scope.postMessage(performance.now() - startMs);
};

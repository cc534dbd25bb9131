// The worker of _file_work.ts: does one piece of file work and says how long it took.

/// <reference lib="deno.worker" />
import { copyProject } from "../../rehearsal/project_copy.ts";
import { compareSnapshots, snapshotWatchList } from "../../lab/containment.ts";
import { ALONE, openFileCrew } from "../../lab/file_crew.ts";

/** What to do. */
export interface FileWork {
  /** A copy without and with hashes, or the two looks of a run at a watch list. */
  what: "copy" | "copy-hashed" | "looks";
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
  const look = () => snapshotWatchList([{ path: from, depth: "full" }], { crew });
  const startMs = performance.now();
  if (what === "looks") compareSnapshots(await look(), await look());
  else await copyProject({ from, to, crew, hash: what === "copy-hashed" });
  scope.postMessage(performance.now() - startMs);
};

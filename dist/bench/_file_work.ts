// Started from source by copy.ts and hash.ts: does file work with rights narrowed to it, as the
// driver of a rehearsal does, and prints the milliseconds.
//
// Arguments: copy|copy-hashed|looks, alone|helped, FROM, and for a copy TO, below a folder named like a lab.

import { startFileHelper } from "../../lab/file_crew.ts";
import type { FileWork } from "./_file_work_worker.ts";

const [what, how, from = "", to = ""] = Deno.args;
const permissions: Deno.PermissionOptionsObject = {
  read: [from, ...(to === "" ? [] : [to.slice(0, to.lastIndexOf("/"))])],
  write: to === "" ? false : [to.slice(0, to.lastIndexOf("/"))],
  run: false,
  net: false,
  env: false,
  sys: false,
  ffi: false,
  import: false,
};
using helper = startFileHelper(permissions);
const worker = new Worker(new URL("./_file_work_worker.ts", import.meta.url).href, {
  type: "module",
  deno: { permissions },
} as WorkerOptions);
const done = Promise.withResolvers<number>();
worker.onmessage = ({ data }) => done.resolve(data);
worker.onerror = (event) => done.reject(new Error(event.message));
const port = how === "helped" ? helper.port : null;
const work = { what, from, to, port } as FileWork;
worker.postMessage(work, port === null ? [] : [port]);
const tookMs = await done.promise;
worker.terminate();
await Deno.stdout.write(new TextEncoder().encode(`${tookMs}\n`));

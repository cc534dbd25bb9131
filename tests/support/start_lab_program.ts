// Starting `lab_program.ts`, and killing it.

import { ROOT } from "../../dist/paths.ts";
import { denoRunArgs } from "./child_deno.ts";
import type { LabNews, LabOrders } from "./lab_program.ts";
import { endAfterTest, endChildAfterTest } from "./processes.ts";

/** A lab that runs in a process of its own. */
export interface LabProgram extends LabNews, AsyncDisposable {
  readonly child: Deno.ChildProcess;
  /** Kills it, and nothing else, with SIGKILL. */
  kill(): Promise<void>;
}

/** Starts a lab in a Deno of its own and waits until its orders are done. */
export async function startLabProgram(orders: LabOrders): Promise<LabProgram> {
  const child = new Deno.Command(Deno.execPath(), {
    args: [...denoRunArgs(`${ROOT}/tests/support/lab_program.ts`), JSON.stringify(orders)],
    stdin: "null",
    stdout: "piped",
    stderr: orders.end === "throw" ? "null" : "inherit",
    detached: true,
  }).spawn();
  endChildAfterTest(child);
  const news = JSON.parse(await readLine(child.stdout)) as LabNews;
  endAfterTest(news.marker);
  const kill = async () => {
    try {
      child.kill("SIGKILL");
    } catch {
      // It has ended already.
    }
    await child.status;
  };
  return { ...news, child, kill, [Symbol.asyncDispose]: kill };
}

async function readLine(stream: ReadableStream<Uint8Array>): Promise<string> {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (!text.includes("\n")) {
    const { done, value } = await reader.read();
    if (done) break;
    text += value;
  }
  await reader.cancel();
  return text;
}

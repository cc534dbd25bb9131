// A lab in a process of its own, made to be killed. Started by `startLabProgram()`; takes its orders
// as JSON in the first argument, writes one line of JSON when all of them are done, and then waits.

import { systemClock } from "../../lab/clock.ts";
import { type KeeperOptions, startKeeper } from "../../lab/keeper.ts";
import { identityAtStart, Ledger } from "../../lab/ownership.ts";
import { spawn } from "../../lab/process.ts";
import { readProcessTable } from "../../lab/process_table.ts";
import type { ProcessIdentity } from "../../lab/record.ts";
import { createLab } from "../../lab/workspace.ts";

/** What a lab program does before it waits to be killed. */
export interface LabOrders {
  /** Stands in for the system temp dir. */
  tempDir: string;
  /** Commands that it starts as its own. */
  commands?: readonly [string, ...string[]][];
  /** Told to the keeper besides the real ones. */
  leaders?: readonly ProcessIdentity[];
  /** Told to the keeper as over. */
  dropped?: readonly ProcessIdentity[];
  /** Told to the keeper as known. */
  known?: readonly ProcessIdentity[];
  /** How the keeper runs; `null` for none. */
  keeper?: KeeperOptions | null;
  /** Looks at the process table once this file is there, and then writes `looked` beside it. */
  lookAfter?: string;
  /** How the program ends instead of waiting: by throwing, or by leaving its scope. */
  end?: "throw" | "leave";
}

/** What a lab program tells about itself. */
export interface LabNews {
  root: string;
  marker: string;
  keeperPid: number | null;
  pids: number[];
}

async function main(orders: LabOrders): Promise<void> {
  await using lab = await createLab({ tempDir: orders.tempDir });
  await using keeper = orders.keeper === null ? null : await startKeeper(lab.marker, orders.keeper);
  const ledger = new Ledger(lab.marker, {
    unmarked: (one) => void keeper?.addKnown(one),
    groupOver: (leader) => void keeper?.dropLeader(leader),
  });
  const pids: number[] = [];
  for (const [index, argv] of (orders.commands ?? []).entries()) {
    const spawned = spawn({
      argv,
      cwd: orders.tempDir,
      env: { PATH: Deno.env.get("PATH") ?? "/usr/bin:/bin" },
      marker: lab.marker,
      logDir: lab.logs,
      logName: `${index}`,
      clock: systemClock,
      runStartMs: 0,
    });
    const leader = identityAtStart(spawned.pid, argv[0]);
    ledger.addLeader(leader);
    await keeper?.addLeader(leader);
    pids.push(spawned.pid);
  }
  for (const leader of orders.leaders ?? []) await keeper?.addLeader(leader);
  for (const leader of orders.dropped ?? []) await keeper?.dropLeader(leader);
  for (const one of orders.known ?? []) await keeper?.addKnown(one);
  const news: LabNews = {
    root: lab.root,
    marker: lab.marker,
    keeperPid: keeper?.pid ?? null,
    pids,
  };
  // deno-lint-ignore no-console -- this program talks to the test that started it
  console.log(JSON.stringify(news));
  if (orders.end === "throw") throw new Error("a lab that fails");
  if (orders.end === "leave") return;
  if (orders.lookAfter !== undefined) {
    while (!await isThere(orders.lookAfter)) await systemClock.sleep(10);
    ledger.observe(await readProcessTable());
    await Deno.writeTextFile(`${orders.lookAfter}.looked`, "done\n");
  }
  await systemClock.sleep(120_000);
}

async function isThere(path: string): Promise<boolean> {
  return await Deno.lstat(path).then(() => true, () => false);
}

if (import.meta.main) await main(JSON.parse(Deno.args[0] ?? "{}") as LabOrders);

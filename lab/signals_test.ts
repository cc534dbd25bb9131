import { assert, assertEquals, assertRejects } from "@std/assert";
import { cleanUpAfterEach, startStranger } from "../tests/support/processes.ts";
import { waitUntil } from "./clock.ts";
import { isStopped, readProcessTable } from "./process_table.ts";
import { groupExists, sendSignal } from "./signals.ts";

cleanUpAfterEach();

async function waitState(pid: number, wanted: (state: string | null) => boolean): Promise<boolean> {
  const found = await waitUntil(async () => {
    const row = (await readProcessTable()).find((each) => each.pid === pid);
    return wanted(row === undefined || row.state.startsWith("Z") ? null : row.state);
  }, { limitMs: 5000 });
  return found !== null;
}

for (const target of [0, 1, -1, -0, NaN, Infinity, 2.5, Deno.pid, -Deno.pid]) {
  Deno.test({
    name: `sendSignal() refuses the target ${Object.is(target, -0) ? "-0" : target}`,
    // Without the right to run anything: should the check be missing one day, this test must fail
    // and not end every process of this machine.
    permissions: { run: false, read: true },
    async fn() {
      for (const targets of [[target], [5_000_000, target], [target, 5_000_000]]) {
        await assertRejects(() => sendSignal("KILL", targets), RangeError, "Cannot send KILL");
      }
    },
  });
}

Deno.test("sendSignal() reaches single processes and whole groups at once", async () => {
  await using single = await startStranger();
  await using group = await startStranger(["sh", "-c", "sleep 60 & sleep 60"]);
  const child = await waitUntil(
    async () => (await readProcessTable()).find((row) => row.ppid === group.pid),
    { limitMs: 5000 },
  );
  await sendSignal("KILL", [single.pid, -group.pid]);
  for (const pid of [single.pid, group.pid, child!.pid]) {
    assert(await waitState(pid, (state) => state === null), `${pid}`);
  }
});

Deno.test("sendSignal() hits the others when one target is gone", async () => {
  let gone: number;
  {
    await using stranger = await startStranger();
    gone = stranger.pid;
  }
  await using stranger = await startStranger();
  await sendSignal("KILL", [gone, -gone, stranger.pid]);
  assert(await waitState(stranger.pid, (state) => state === null));
});

Deno.test("sendSignal() stops and continues", async () => {
  await using stranger = await startStranger();
  await sendSignal("STOP", [stranger.pid]);
  assert(await waitState(stranger.pid, (state) => state?.startsWith("T") ?? false));
  await sendSignal("CONT", [stranger.pid]);
  assert(await waitState(stranger.pid, (state) => state !== null && !state.startsWith("T")));
  const row = (await readProcessTable()).find((each) => each.pid === stranger.pid);
  assertEquals(isStopped(row!), false);
});

Deno.test("sendSignal() sends nothing to nobody", async () => {
  await sendSignal("KILL", []);
});

Deno.test("groupExists() tells a group with members from an empty number, and sends nothing", async () => {
  let pid: number;
  {
    await using stranger = await startStranger(["sh", "-c", "sleep 60 & wait"]);
    pid = stranger.pid;
    assertEquals(await groupExists(pid), true);
    assert(await stranger.isAlive());
  }
  // The shell's child may be dead and not collected yet.
  const isGone = await waitUntil(async () => !await groupExists(pid), { limitMs: 15_000 });
  assert(isGone);
});

for (const pgid of [0, 1, -1, 1.5, Deno.pid]) {
  Deno.test(`groupExists() refuses ${pgid}`, async () => {
    await assertRejects(() => groupExists(pgid), RangeError, "Cannot send 0");
  });
}

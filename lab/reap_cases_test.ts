// Real processes, each of a kind that outlives a careless kill. After each: nobody left, a bounded
// return, and a record that proves it.

import { assert, assertEquals } from "@std/assert";
import {
  inOwnSession,
  type LabCommand,
  startInLab,
  startShell,
} from "../tests/support/lab_command.ts";
import {
  cleanUpAfterEach,
  isPidAlive,
  startStranger,
  survivors,
} from "../tests/support/processes.ts";
import { makeTestDir } from "../tests/support/temp_dir.ts";
import { systemClock, waitUntil } from "./clock.ts";
import { MARKER_NAME, readProcessTable } from "./process_table.ts";
import { isKillProven, realSystem, reap, type ReapOptions } from "./reap.ts";
import { type KillRecord, killSchema } from "./record.ts";

cleanUpAfterEach();

/** Reaps and holds the answer to what every case must give. */
async function reapAll(
  command: LabCommand,
  options: Partial<ReapOptions> & { withinMs?: number } = {},
): Promise<KillRecord> {
  const startMs = systemClock.nowMs();
  const kill = await command.reap(options);
  const tookMs = systemClock.nowMs() - startMs;
  const { groupEmpty, markerEmpty } = kill.witnesses;
  assertEquals({ groupEmpty, markerEmpty, survivors: kill.survivors }, {
    groupEmpty: true,
    markerEmpty: true,
    survivors: [],
  });
  assertEquals(isKillProven(kill), true);
  assertEquals(await survivors(command.marker), []);
  assert(tookMs < (options.withinMs ?? 3000), `took ${tookMs} ms`);
  assertEquals(killSchema.parse(kill), kill);
  return kill;
}

Deno.test("reap: a command that has ended by itself takes one look", async () => {
  await using dir = await makeTestDir("reap");
  await using command = startShell(dir.path, "exit 0");
  await command.spawned.status;
  let looks = 0;
  const system = { ...realSystem, readTable: () => (looks++, realSystem.readTable()) };
  const kill = await reap(system, {
    ledger: command.ledger,
    spawned: [command.spawned],
    graceMs: 1000,
    runStartMs: 0,
  });
  assertEquals([looks, kill.signals, isKillProven(kill)], [1, [], true]);
});

Deno.test("reap: leader exits 0 and a background child keeps stdout open", async () => {
  await using dir = await makeTestDir("reap");
  await using command = startShell(dir.path, "sleep 60 & echo $! > pid; exit 0");
  assertEquals(await command.spawned.status, { exitCode: 0, signal: null });
  const pid = Number(await command.file("pid"));
  const kill = await reapAll(command);
  assertEquals(await isPidAlive(pid), false);
  assertEquals(kill.processes.some((each) => each.pid === pid && each.name === "sleep"), true);
});

Deno.test("reap: a child with closed stdin, stdout and stderr", async () => {
  await using dir = await makeTestDir("reap");
  await using command = startShell(dir.path, "sleep 60 <&- >&- 2>&- & echo $! > pid; exit 0");
  await command.spawned.status;
  assert(await command.spawned.waitPipes(5000), "nobody holds the pipes any more");
  const pid = Number(await command.file("pid"));
  assertEquals(await isPidAlive(pid), true);
  await reapAll(command);
  assertEquals(await isPidAlive(pid), false);
});

Deno.test("reap: a command that ends on TERM within its grace", async () => {
  await using dir = await makeTestDir("reap");
  await using command = startShell(
    dir.path,
    "trap 'echo bye > bye; exit 7' TERM; echo > up; while :; do sleep 0.05; done",
  );
  await command.file("up");
  const kill = await reapAll(command, { graceMs: 10_000 });
  assertEquals(kill.signals.map((each) => each.signal), ["TERM"]);
  assertEquals(command.spawned.ended, { exitCode: 7, signal: null });
  assertEquals(await command.file("bye"), "bye");
});

Deno.test("reap: a command and its child that ignore TERM", async () => {
  await using dir = await makeTestDir("reap");
  await using command = startShell(
    dir.path,
    "trap '' TERM HUP INT; (while :; do sleep 0.05; done) & echo > up; while :; do sleep 0.05; done",
  );
  await command.file("up");
  const kill = await reapAll(command, { graceMs: 200 });
  assertEquals(kill.signals.map((each) => each.signal).slice(0, 2), ["TERM", "KILL"]);
  assert(kill.elapsedMs >= 200);
  assertEquals(command.spawned.ended, { exitCode: null, signal: "SIGKILL" });
});

Deno.test("reap: a child in a session of its own", async () => {
  await using dir = await makeTestDir("reap");
  const inner = "echo $$ > pid; exec sleep 60";
  const argv = inOwnSession(["sh", "-c", inner]);
  await using command = startInLab(dir.path, ["sh", "-c", `"$@" & exit 0`, "sh", ...argv]);
  await command.spawned.status;
  const pid = Number(await command.file("pid"));
  const row = (await readProcessTable()).find((each) => each.pid === pid);
  assertEquals(row?.pgid, pid, "it has left the group");
  await reapAll(command);
  assertEquals(await isPidAlive(pid), false);
});

Deno.test("reap: a double fork into a session of its own, with closed stdio", async () => {
  await using dir = await makeTestDir("reap");
  const inner = "(sh -c 'echo $$ > pid; exec sleep 60') <&- >&- 2>&- & exit 0";
  const argv = inOwnSession(["sh", "-c", inner]);
  await using command = startInLab(dir.path, ["sh", "-c", `"$@" & exit 0`, "sh", ...argv]);
  await command.spawned.status;
  const pid = Number(await command.file("pid"));
  const row = await waitUntil(
    async () => (await readProcessTable()).find((each) => each.pid === pid && each.ppid === 1),
    { limitMs: 5000 },
  );
  assert(row !== null && row.pgid !== command.spawned.pid, "an orphan outside of the group");
  await reapAll(command);
  assertEquals(await isPidAlive(pid), false);
});

Deno.test("reap: a group that was stopped", async () => {
  await using dir = await makeTestDir("reap");
  await using command = startShell(dir.path, "sleep 60 & echo $! > pid; kill -s STOP 0; wait");
  const pid = Number(await command.file("pid"));
  await waitUntil(
    async () =>
      (await readProcessTable()).find((each) => each.pid === pid && each.state[0] === "T"),
    { limitMs: 5000 },
  );
  const kill = await reapAll(command, { graceMs: 5000 });
  assertEquals(kill.signals.map((each) => each.signal), ["TERM", "CONT"]);
});

Deno.test("reap: 200 children", async () => {
  await using dir = await makeTestDir("reap");
  const script = "i=0; while [ $i -lt 200 ]; do sleep 60 & i=$((i+1)); done; echo > up; wait";
  await using command = startShell(dir.path, script);
  await command.file("up");
  const kill = await reapAll(command);
  assert(kill.processes.length >= 201, `${kill.processes.length} processes`);
});

Deno.test("reap: a child that drops the marker and stays in the group", async () => {
  await using dir = await makeTestDir("reap");
  const script = `env -i sh -c 'echo $$ > pid; exec sleep 60' & exit 0`;
  await using command = startShell(dir.path, script);
  await command.spawned.status;
  const pid = Number(await command.file("pid"));
  const row = (await readProcessTable()).find((each) => each.pid === pid);
  assertEquals([row?.marker, row?.pgid], [null, command.spawned.pid]);
  await reapAll(command);
  assertEquals(await isPidAlive(pid), false);
});

Deno.test("reap: a child that drops the marker and leaves the group, seen in between", async () => {
  await using dir = await makeTestDir("reap");
  const inner = "echo $$ > pid; exec sleep 60";
  const argv = ["env", "-i", `PATH=${Deno.env.get("PATH")}`, ...inOwnSession(["sh", "-c", inner])];
  // The parent lives until it was looked at; only then is descent the one sign that is left.
  const script = `"$@" & while [ ! -e go ]; do sleep 0.02; done; exit 0`;
  await using command = startInLab(dir.path, ["sh", "-c", script, "sh", ...argv]);
  const pid = Number(await command.file("pid"));
  await command.look();
  await Deno.writeTextFile(`${dir.path}/go`, "");
  await command.spawned.status;
  const row = (await readProcessTable()).find((each) => each.pid === pid);
  assertEquals([row?.marker, row?.pgid, row?.ppid], [null, pid, 1]);
  await reapAll(command);
  assertEquals(await isPidAlive(pid), false);
});

Deno.test("reap: a chain of forks in the group, as fast as it can", async () => {
  await using dir = await makeTestDir("reap");
  // Bounded by the stop file, should the reaper fail.
  await Deno.writeTextFile(`${dir.path}/link`, `[ -e stop ] || sh ./link &\n`);
  try {
    await using command = startShell(dir.path, "sh ./link; echo > up; exit 0");
    await command.file("up");
    await reapAll(command, { withinMs: 6000 });
  } finally {
    await Deno.writeTextFile(`${dir.path}/stop`, "");
  }
});

Deno.test("reap: a chain of forks, each link in a session of its own", async () => {
  await using dir = await makeTestDir("reap");
  const next = inOwnSession(["sh", "./link"]).map((word) => `'${word}'`).join(" ");
  await Deno.writeTextFile(`${dir.path}/link`, `sleep 0.1; [ -e stop ] || ${next} &\n`);
  try {
    await using command = startShell(dir.path, "sh ./link; echo > up; exit 0");
    await command.file("up");
    await reapAll(command, { withinMs: 6000 });
  } finally {
    await Deno.writeTextFile(`${dir.path}/stop`, "");
  }
});

Deno.test("reap: a process that only has the pid of one of ours is never signalled", async () => {
  await using dir = await makeTestDir("reap");
  await using command = startShell(dir.path, "exit 0");
  await command.spawned.status;
  await using stranger = await startStranger(["sh", "-c", "sleep 60 & wait"]);
  await using neighbour = await startStranger();
  // Forged: a real pid, and a start time that is not its own, as an old record would have it.
  const forged = { ...stranger.row, startedSeconds: stranger.row.startedSeconds - 3 };
  command.ledger.addKnown(forged);
  command.ledger.addLeader(forged);
  command.ledger.addKnown({ ...neighbour.row, startedSeconds: neighbour.row.startedSeconds + 3 });
  const kill = await reapAll(command, { graceMs: 50 });
  assertEquals(kill.signals, []);
  assertEquals([await stranger.isAlive(), await neighbour.isAlive()], [true, true]);
});

Deno.test("reap: a process that only quotes the marker is never signalled", async () => {
  await using dir = await makeTestDir("reap");
  await using command = startShell(dir.path, "sleep 60");
  const quote = `${MARKER_NAME}=${command.marker}`;
  await using stranger = await startStranger(["sh", "-c", "sleep 60; :", quote]);
  await reapAll(command);
  assertEquals(await stranger.isAlive(), true);
});

Deno.test("reap: a process that died and was not collected counts as dead", async () => {
  await using dir = await makeTestDir("reap");
  // The stranger's shell becomes a program that never collects the marked child.
  await using command = startShell(dir.path, "exit 0");
  await command.spawned.status;
  const marked = `env ${MARKER_NAME}=${command.marker} true & exec sleep 60`;
  await using parent = await startStranger(["sh", "-c", marked]);
  const zombie = await waitUntil(
    async () =>
      (await readProcessTable()).find((each) => each.ppid === parent.pid && each.state[0] === "Z"),
    { limitMs: 5000 },
  );
  command.ledger.addKnown(zombie!);
  const kill = await reapAll(command);
  assertEquals(kill.signals, []);
});

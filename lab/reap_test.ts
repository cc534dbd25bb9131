import { assert, assertEquals } from "@std/assert";
import {
  scriptedSpawned,
  type ScriptedSystem,
  scriptedSystem,
} from "../tests/support/scripted_system.ts";
import { Ledger } from "./ownership.ts";
import type { ExitStatus, Spawned } from "./process.ts";
import { type ProcessRow, ProcessTableError } from "./process_table.ts";
import { isKillProven, reap, type ReapOptions } from "./reap.ts";
import { killSchema } from "./record.ts";
import { EnvironmentError } from "./system_tools.ts";

const MARKER = "0123456789abcdef0123456789abcdef";
const LEADER = 5_000_010;
const DONE: ExitStatus = { exitCode: 0, signal: null };

function row(pid: number, change: Partial<ProcessRow> = {}): ProcessRow {
  const base = { ppid: 1, pgid: LEADER, state: "S", startedSeconds: 100, name: "sh" };
  return { pid, ...base, marker: MARKER, ...change };
}

const leader = row(LEADER);

function run(system: ScriptedSystem, spawned: Spawned[], options: Partial<ReapOptions> = {}) {
  const ledger = new Ledger(MARKER);
  ledger.addLeader(leader);
  return reap(system, { ledger, spawned, graceMs: 0, runStartMs: 0, ...options });
}

/** One command whose end and pipes follow the table: it is over when a signal ended it. */
function runningSystem(endsOn: string, rows: ProcessRow[] = [leader]) {
  let alive = rows;
  const system = scriptedSystem(() => alive, (signal) => {
    if (signal !== endsOn) return;
    alive = [];
    spawned.state.ended = { exitCode: null, signal: `SIG${signal}` };
    spawned.state.pipesClosed = true;
  });
  const spawned = scriptedSpawned(LEADER, system.clock, { ended: null, pipesClosed: false });
  return { system, spawned };
}

Deno.test("reap() takes one look where command and pipes had ended before", async () => {
  const system = scriptedSystem(() => []);
  const spawned = scriptedSpawned(LEADER, system.clock, { ended: DONE, pipesClosed: true });
  const kill = await run(system, [spawned]);
  assertEquals(system.looks, 1);
  assertEquals(kill.witnesses, { groupEmpty: true, markerEmpty: true, pipesClosed: true });
  assertEquals([kill.signals, kill.survivors, isKillProven(kill)], [[], [], true]);
  assertEquals(killSchema.parse(kill), kill);
});

Deno.test("reap() takes a second look where a pipe was still open", async () => {
  const system = scriptedSystem(() => []);
  const spawned = scriptedSpawned(LEADER, system.clock, { ended: DONE, pipesClosed: false });
  const kill = await run(system, [spawned], { pipeLimitMs: 300 });
  assertEquals(system.looks, 2);
  assertEquals(kill.witnesses, { groupEmpty: true, markerEmpty: true, pipesClosed: false });
  assertEquals(isKillProven(kill), false);
  assert(kill.elapsedMs <= 400, `${kill.elapsedMs} ms`);
});

Deno.test("reap() ends somebody whom only the second look shows", async () => {
  let alive: ProcessRow[] = [];
  const system = scriptedSystem((look) => look === 2 ? alive = [row(12)] : alive, () => alive = []);
  const spawned = scriptedSpawned(LEADER, system.clock, { ended: DONE, pipesClosed: false });
  const kill = await run(system, [spawned]);
  assertEquals(system.sent, [`KILL ${-LEADER}`]);
  assertEquals(kill.survivors, []);
});

Deno.test("reap() sends TERM, waits, then KILL, to the whole group", async () => {
  const { system, spawned } = runningSystem("KILL");
  const kill = await run(system, [spawned], { graceMs: 500 });
  assertEquals(system.sent, [`TERM ${-LEADER}`, `KILL ${-LEADER}`]);
  assertEquals(kill.signals.map((each) => each.signal), ["TERM", "KILL"]);
  const waitedMs = kill.signals[1]!.atMs - kill.signals[0]!.atMs;
  assert(waitedMs >= 500 && waitedMs < 600, `${waitedMs} ms`);
  assertEquals(isKillProven(kill), true);
});

Deno.test("reap() sends no KILL to what ends on TERM", async () => {
  const { system, spawned } = runningSystem("TERM");
  const kill = await run(system, [spawned], { graceMs: 5000 });
  assertEquals(system.sent, [`TERM ${-LEADER}`]);
  assert(kill.elapsedMs < 200);
});

Deno.test("reap() continues what is stopped, so that TERM reaches it", async () => {
  const { system, spawned } = runningSystem("CONT", [row(LEADER, { state: "T" })]);
  await run(system, [spawned], { graceMs: 500 });
  assertEquals(system.sent, [`TERM ${-LEADER}`, `CONT ${-LEADER}`]);
});

Deno.test("reap() hits groups whose leader is ours as groups, and others by pid", async () => {
  const rows = [
    leader,
    row(5_000_011),
    row(5_000_020, { pgid: 5_000_020 }), // left into a group of its own
    row(5_000_021, { pgid: 5_000_020 }),
    row(5_000_030, { pgid: 7 }), // in a group whose leader we do not know
  ];
  const { system, spawned } = runningSystem("KILL", rows);
  const kill = await run(system, [spawned]);
  assertEquals(system.sent, [`KILL ${-LEADER} -5000020 5000030`]);
  assertEquals(kill.signals[0]?.targets, 5);
});

Deno.test("reap() says so within its limits when somebody does not die", async () => {
  const system = scriptedSystem(() => [leader, row(12, { pgid: 12 })]);
  const spawned = scriptedSpawned(LEADER, system.clock, { ended: null, pipesClosed: false });
  const kill = await run(system, [spawned], { graceMs: 1000, killLimitMs: 2000, pipeLimitMs: 500 });
  assertEquals(kill.survivors.map((each) => each.pid), [LEADER, 12]);
  assertEquals(kill.witnesses, { groupEmpty: false, markerEmpty: false, pipesClosed: false });
  assertEquals(isKillProven(kill), false);
  assert(kill.elapsedMs >= 3000 && kill.elapsedMs < 3700, `${kill.elapsedMs} ms`);
  const kills = system.sent.filter((each) => each.startsWith("KILL"));
  assert(kills.length >= 8 && kills.length <= 12, `${kills.length} times`);
});

Deno.test("reap() hits a new link of a chain of forks at the next look", async () => {
  let pid = 5_000_100;
  const system = scriptedSystem(
    () => pid < 5_000_110 ? [row(pid++, { pgid: 9 })] : [],
  );
  const kill = await run(system, []);
  assertEquals(system.sent.length, 10);
  assert(kill.elapsedMs < 400, `${kill.elapsedMs} ms`);
  assertEquals(isKillProven(kill), true);
});

/** A system whose kernel knows of groups that no look shows anybody alive in. */
function hiddenSystem(table: (look: number) => ProcessRow[], exists: (looks: number) => boolean) {
  const asked: number[] = [];
  let isStruck = false;
  const system = scriptedSystem(table, (signal) => isStruck ||= signal === "KILL");
  system.groupExists = (pgid) => {
    asked.push(pgid);
    return Promise.resolve(exists(system.looks) && !isStruck);
  };
  return { system, asked };
}

Deno.test("reap() asks for a group that looks empty, and kills one that exists all the same", async () => {
  const { system, asked } = hiddenSystem(() => [], () => true);
  const kill = await run(system, []);
  assertEquals(system.sent, [`KILL ${-LEADER}`]);
  assertEquals([kill.signals[0]?.targets, isKillProven(kill)], [1, true]);
  assertEquals([...new Set(asked)], [LEADER]);
});

Deno.test("reap() kills a hidden group whose dead members change from look to look", async () => {
  const dead = (look: number) => [row(5_000_100 + look, { state: "Z" })];
  const { system } = hiddenSystem(dead, () => true);
  const kill = await run(system, [], { graceMs: 100 });
  assertEquals(system.sent, [`TERM ${-LEADER}`, `KILL ${-LEADER}`]);
  assertEquals(isKillProven(kill), true);
});

Deno.test("reap() sends nothing to a group whose members are dead and not collected", async () => {
  const { system } = hiddenSystem(() => [row(11, { state: "Z" })], () => true);
  const spawned = scriptedSpawned(LEADER, system.clock, { ended: DONE, pipesClosed: true });
  const kill = await run(system, [spawned], { graceMs: 1000 });
  assertEquals([system.sent, system.looks, isKillProven(kill)], [[], 2, true]);
});

Deno.test("reap() sends nothing to a group that is gone a moment later", async () => {
  const { system } = hiddenSystem(() => [], (looks) => looks < 2);
  const kill = await run(system, [], { graceMs: 1000 });
  assertEquals([system.sent, isKillProven(kill)], [[], true]);
});

Deno.test("reap() does not ask for a group whose number a stranger has", async () => {
  const stranger = row(LEADER, { startedSeconds: 200, marker: null });
  const { system, asked } = hiddenSystem(() => [stranger], () => true);
  const kill = await run(system, []);
  assertEquals([asked, system.sent, isKillProven(kill)], [[], [], true]);
});

Deno.test("reap() lets go of a group's number once it is proven empty", async () => {
  const over: number[] = [];
  const ledger = new Ledger(MARKER, { groupOver: (group) => over.push(group.pid) });
  ledger.addLeader(leader);
  const { system } = hiddenSystem(() => [], () => false);
  await reap(system, { ledger, spawned: [], graceMs: 0, runStartMs: 0 });
  assertEquals([over, ledger.openGroups], [[LEADER], []]);
});

Deno.test("reap() lets go of a group's number once it has killed it", async () => {
  const over: number[] = [];
  const ledger = new Ledger(MARKER, { groupOver: (group) => over.push(group.pid) });
  ledger.addLeader(leader);
  const { system } = runningSystem("KILL");
  await reap(system, { ledger, spawned: [], graceMs: 0, runStartMs: 0 });
  assertEquals(over, [LEADER]);
});

Deno.test("reap() never signals a process that only has a pid of ours", async () => {
  const stranger = row(LEADER, { startedSeconds: 103, marker: null });
  const system = scriptedSystem(() => [stranger, row(11, { ppid: LEADER, marker: null })]);
  const kill = await run(system, [], { graceMs: 100 });
  assertEquals([system.sent, kill.survivors], [[], []]);
  assertEquals(isKillProven(kill), true);
});

Deno.test("reap() kills unseen and leaves witnesses out when the table cannot be read", async () => {
  const problems: unknown[] = [];
  const system = scriptedSystem(() => {
    throw new ProcessTableError("hidden");
  }, () => {
    spawned.state.ended = { exitCode: null, signal: "SIGKILL" };
    spawned.state.pipesClosed = true;
  });
  const spawned = scriptedSpawned(LEADER, system.clock, { ended: null, pipesClosed: false });
  const kill = await run(system, [spawned], { onProblem: (error) => problems.push(error) });
  // The command still runs, so its pid is still its own: that group may be hit unseen.
  assertEquals(system.sent.slice(0, 1), [`KILL ${-LEADER}`]);
  assertEquals(new Set(system.sent).size, 1);
  assertEquals(kill.witnesses, { groupEmpty: null, markerEmpty: null, pipesClosed: true });
  assertEquals([kill.survivors, isKillProven(kill)], [[], null]);
  assert(problems.length > 0 && problems.every((each) => each instanceof ProcessTableError));
  assert(kill.elapsedMs < 8000, `${kill.elapsedMs} ms`);
  assertEquals(killSchema.parse(kill), kill);
});

Deno.test("reap() does not look again where ps is missing altogether", async () => {
  const system = scriptedSystem(() => {
    throw new EnvironmentError("no ps");
  });
  const spawned = scriptedSpawned(LEADER, system.clock, { ended: DONE, pipesClosed: true });
  const kill = await run(system, [spawned], { graceMs: 5000 });
  assertEquals(system.looks, 1);
  assertEquals(system.sent, []);
  assertEquals(isKillProven(kill), null);
  assert(kill.elapsedMs < 100, `${kill.elapsedMs} ms`);
});

Deno.test("reap() recovers from a look that failed", async () => {
  const { system, spawned } = runningSystem("KILL");
  const { readTable } = system;
  system.readTable = async () => {
    const table = await readTable();
    if (system.looks <= 2) throw new ProcessTableError("cannot fork");
    return table;
  };
  const kill = await run(system, [spawned]);
  assertEquals(isKillProven(kill), true);
});

Deno.test("reap() names a command that runs on although nothing could be seen or sent", async () => {
  const system = scriptedSystem(() => {
    throw new EnvironmentError("no ps");
  }, () => {
    throw new EnvironmentError("no kill");
  });
  const spawned = scriptedSpawned(LEADER, system.clock, { ended: null, pipesClosed: false });
  const kill = await run(system, [spawned], { killLimitMs: 1000 });
  assertEquals(kill.survivors.map((each) => each.pid), [LEADER]);
  assertEquals([kill.signals, isKillProven(kill)], [[], false]);
  assert(kill.elapsedMs < 3000, `${kill.elapsedMs} ms`);
});

const KILLS: [string, [boolean | null, boolean | null, boolean | null], number, boolean | null][] =
  [
    ["all witnesses agree", [true, true, true], 0, true],
    ["a group is not empty", [false, true, true], 0, false],
    ["a marker is left", [true, false, true], 0, false],
    ["a pipe is held", [true, true, false], 0, false],
    ["a group could not be seen", [null, true, true], 0, null],
    ["a pipe could not be heard", [true, true, null], 0, null],
    ["no witness could be heard", [null, null, null], 0, null],
    ["one is against and one is silent", [null, false, true], 0, false],
    ["there is a survivor in spite of all", [true, true, true], 1, false],
    ["there is a survivor and no witness", [null, null, null], 1, false],
  ];

for (const [name, [groupEmpty, markerEmpty, pipesClosed], count, expected] of KILLS) {
  Deno.test(`isKillProven() is ${expected} when ${name}`, () => {
    const survivors = Array.from(
      { length: count },
      () => ({ pid: 9, startedSeconds: 1, name: "sh" }),
    );
    const witnesses = { groupEmpty, markerEmpty, pipesClosed };
    const kill = { signals: [], processes: [], witnesses, survivors, elapsedMs: 0 };
    assertEquals(isKillProven(kill), expected);
  });
}

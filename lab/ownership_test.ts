import { assertEquals } from "@std/assert";
import { scriptedClock } from "../tests/support/scripted_clock.ts";
import { identityAtStart, Ledger, LEDGER_PROCESSES_MAX } from "./ownership.ts";
import type { ProcessRow } from "./process_table.ts";
import type { ProcessIdentity } from "./record.ts";

const MARKER = "0123456789abcdef0123456789abcdef";
const OTHER = "ffffffffffffffffffffffffffffffff";
// Far above any real pid, so that no row of a test is ever this process or its parent.
const BASE = 5_000_000;

function row(pid: number, change: Partial<ProcessRow> = {}): ProcessRow {
  return {
    pid: BASE + pid,
    ppid: 1,
    pgid: BASE + pid,
    state: "S",
    startedSeconds: 100,
    name: "sh",
    marker: null,
    ...change,
  };
}

function identity(pid: number, startedSeconds = 100): ProcessIdentity {
  return { pid: BASE + pid, startedSeconds, name: "sh" };
}

const pidsOf = (rows: readonly ProcessRow[]) => rows.map((each) => each.pid - BASE).sort();

Deno.test("Ledger knows its own by marker, group, descent and earlier look", () => {
  const ledger = new Ledger(MARKER);
  ledger.addLeader(identity(10));
  const alive = ledger.observe([
    row(10),
    row(11, { pgid: BASE + 10 }), // in the group, without a marker
    row(20, { marker: MARKER }), // marked, in a group of its own
    row(31, { ppid: BASE + 30 }), // a grandchild that ps lists before its parent
    row(30, { ppid: BASE + 11, pgid: BASE + 30 }),
    row(40, { marker: OTHER }), // another lab's
    row(50), // a stranger
    row(51, { ppid: BASE + 50 }),
  ]);
  assertEquals(pidsOf(alive), [10, 11, 20, 30, 31]);
  // Parents and group are gone, and nothing carries the marker: they are still remembered.
  assertEquals(pidsOf(ledger.observe([row(31), row(30), row(50)])), [30, 31]);
  assertEquals(ledger.seen.length, 5);
});

Deno.test("Ledger returns no dead process, and knows children of one that is dead", () => {
  const ledger = new Ledger(MARKER);
  ledger.addLeader(identity(10));
  const alive = ledger.observe([
    row(10, { state: "Z" }),
    row(11, { pgid: BASE + 10 }),
    row(12, { ppid: BASE + 10, state: "X" }),
  ]);
  assertEquals(pidsOf(alive), [11]);
  assertEquals([...ledger.groups], [BASE + 10]);
});

Deno.test("Ledger takes a pid with another start time for a stranger, its children as well", () => {
  const ledger = new Ledger(MARKER);
  ledger.addKnown(identity(10));
  const at = (startedSeconds: number) =>
    pidsOf(ledger.observe([row(10, { startedSeconds }), row(11, { ppid: BASE + 10 })]));
  assertEquals(at(103), []);
  assertEquals(at(97), []);
  assertEquals(ledger.seen.length, 1);
});

Deno.test("Ledger allows a start time to differ by the tolerance, and counts it once", () => {
  for (const startedSeconds of [98, 99, 100, 101, 102]) {
    const ledger = new Ledger(MARKER);
    ledger.addLeader(identity(10));
    assertEquals(pidsOf(ledger.observe([row(10, { startedSeconds })])), [10], `${startedSeconds}`);
    assertEquals(ledger.seen.length, 1);
  }
});

Deno.test("Ledger takes a group over which a stranger presides for the stranger's", () => {
  const ledger = new Ledger(MARKER);
  ledger.addLeader(identity(10));
  ledger.observe([row(10)]);
  const taken = [row(10, { startedSeconds: 200 }), row(11, { pgid: BASE + 10 })];
  assertEquals(ledger.observe(taken), []);
  // Also when that stranger's leader has died and only the number is left.
  assertEquals(ledger.observe(taken.slice(1)), []);
  assertEquals(ledger.groups.size, 0);
});

Deno.test("Ledger gives up a group's number after three looks that show it empty", () => {
  const ledger = new Ledger(MARKER);
  ledger.addLeader(identity(10));
  const orphan = row(11, { pgid: BASE + 10 });
  ledger.observe([row(10)]);
  ledger.observe([]);
  ledger.observe([]);
  assertEquals(pidsOf(ledger.observe([orphan])), [11], "two looks are not enough");
  for (let i = 0; i < 2; i++) ledger.observe([]);
  const second = row(12, { pgid: BASE + 10 });
  assertEquals(pidsOf(ledger.observe([second])), [12], "they must come in a row");
  for (let i = 0; i < 3; i++) ledger.observe([]);
  assertEquals(ledger.observe([row(13, { pgid: BASE + 10 })]), []);
});

Deno.test("Ledger is not misled by a look that began before the group was made", () => {
  const ledger = new Ledger(MARKER);
  ledger.addLeader(identity(10));
  ledger.observe([]); // began before
  assertEquals(pidsOf(ledger.observe([row(10)])), [10]);
  ledger.observe([]); // came late
  assertEquals(pidsOf(ledger.observe([row(11, { pgid: BASE + 10 })])), [11]);
});

Deno.test("Ledger gives a leader that was added again a new group", () => {
  const ledger = new Ledger(MARKER);
  ledger.addLeader(identity(10));
  ledger.observe([row(10, { startedSeconds: 500 })]);
  ledger.addLeader(identity(10, 500));
  assertEquals(pidsOf(ledger.observe([row(10, { startedSeconds: 500 })])), [10]);
});

Deno.test("Ledger never returns this process or the first one, whatever they look like", () => {
  const ledger = new Ledger(MARKER);
  const own = { ...row(0), pid: Deno.pid, pgid: Deno.pid, marker: MARKER };
  const first = { ...row(0), pid: 1, pgid: 1, marker: MARKER };
  const child = row(10, { ppid: Deno.pid });
  assertEquals(ledger.observe([own, first, child, row(11, { ppid: 1 })]), []);
  ledger.addKnown({ pid: Deno.pid, startedSeconds: 100, name: "deno" });
  assertEquals(ledger.observe([own, child]), []);
});

Deno.test("Ledger tells once of each process that shows no marker", () => {
  const told: number[] = [];
  const ledger = new Ledger(MARKER, { unmarked: (one) => told.push(one.pid - BASE) });
  ledger.addLeader(identity(10));
  const table = [
    row(10, { marker: MARKER }),
    row(11, { pgid: BASE + 10 }),
    row(12, { ppid: BASE + 11 }),
    row(13, { ppid: BASE + 11, marker: MARKER }),
    row(50),
  ];
  ledger.observe(table);
  ledger.observe(table);
  assertEquals(told, [11, 12]);
});

Deno.test("Ledger tells once of each group that is over, however that was found", () => {
  const over: number[] = [];
  const ledger = new Ledger(MARKER, { groupOver: (leader) => over.push(leader.pid - BASE) });
  for (const pid of [10, 20, 30, 40]) ledger.addLeader(identity(pid));
  ledger.observe([row(10), row(20, { startedSeconds: 500 }), row(40)]);
  assertEquals(over, [20], "a stranger has its number");
  ledger.endGroup(BASE + 10);
  ledger.endGroup(BASE + 10);
  ledger.endGroup(BASE + 99);
  for (let i = 0; i < 4; i++) ledger.observe([row(40)]);
  assertEquals(over, [20, 10, 30]);
  assertEquals(ledger.openGroups, [BASE + 40]);
});

Deno.test("Ledger is bounded, forgets the dead first, and keeps who is alive", () => {
  const ledger = new Ledger(MARKER);
  ledger.addLeader(identity(1));
  ledger.observe([row(1)]);
  for (let pid = 2; pid < LEDGER_PROCESSES_MAX + 100; pid++) ledger.addKnown(identity(pid));
  assertEquals(pidsOf(ledger.observe([row(1)])), [1]);
  assertEquals(ledger.seen.length, LEDGER_PROCESSES_MAX);
  // The oldest of all is alive and was kept: it is known without its group and marker.
  assertEquals(pidsOf(ledger.observe([row(1, { pgid: 7 })])), [1]);
  assertEquals(ledger.observe([row(2)]), [], "a dead one was forgotten");
});

Deno.test("identityAtStart() needs no look at the process table", () => {
  const clock = scriptedClock(1234_567);
  assertEquals(identityAtStart(9, "/usr/bin/make", clock), {
    pid: 9,
    startedSeconds: 1234,
    name: "make",
  });
});

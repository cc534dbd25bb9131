import { assertEquals, assertStringIncludes } from "@std/assert";
import type { ProcessRow } from "../lab/mod.ts";
import {
  judgeOwner,
  type LeaseRecord,
  type LockOwner,
  parseOwner,
  type Witnesses,
} from "./lease_owner.ts";

const HERE = { host: "here", boot: "boot-1", pidSpace: "pid:[1]" };
const TOKEN = "ab".repeat(16);

function row(pid: number, startedSeconds: number, more: Partial<ProcessRow> = {}): ProcessRow {
  return { pid, startedSeconds, name: "sh", ppid: 1, pgid: pid, state: "S", marker: null, ...more };
}

function seen(more: Partial<Witnesses> = {}): Witnesses {
  return {
    here: HERE,
    table: [row(1, 1000), row(50, 5000)],
    lockSeconds: 6000,
    kernelLock: "no",
    isOpen: "no",
    openers: [],
    ...more,
  };
}

function lease(more: Partial<LeaseRecord> = {}): LockOwner {
  const record: LeaseRecord = {
    schema: "failure-lab/lease",
    version: 1,
    generation: 4,
    token: TOKEN,
    ...HERE,
    pid: 50,
    startedSeconds: 5000,
    bootStartedSeconds: 1000,
    holdsKernelLock: true,
    acquiredAt: "",
    ...more,
  };
  return { kind: "lease", record };
}

Deno.test("parseOwner reads pid files, 'host pid seconds' and our own, and nothing else", () => {
  assertEquals(parseOwner("  123\n"), { kind: "pid", pid: 123 });
  assertEquals(parseOwner("vm 9999 1700000000\n"), {
    kind: "host-pid-time",
    host: "vm",
    pid: 9999,
    atSeconds: 1700000000,
  });
  const own = lease();
  assertEquals(own.kind === "lease" && parseOwner(JSON.stringify(own.record)), own);
  for (
    const text of [
      "",
      " \n",
      "abc",
      "-5",
      "12.5",
      "1 2",
      '{"pid":5}',
      '{"schema":"failure-lab/lease"',
    ]
  ) {
    assertEquals(parseOwner(text).kind, "unknown", text);
  }
});

for (
  const [name, owner, witnesses, state] of [
    ["a pid that is gone", { kind: "pid", pid: 77 }, seen(), "gone"],
    [
      "a dead pid that nobody collected",
      { kind: "pid", pid: 50 },
      seen({ table: [row(50, 5000, { state: "Z" })] }),
      "gone",
    ],
    ["a pid that lives since before the lock", { kind: "pid", pid: 50 }, seen(), "live"],
    [
      "a pid that started after the lock was taken",
      { kind: "pid", pid: 50 },
      seen({ lockSeconds: 4000 }),
      "gone",
    ],
    [
      "a pid that started in the same second",
      { kind: "pid", pid: 50 },
      seen({ lockSeconds: 4999 }),
      "live",
    ],
    [
      "host, pid and time of this host, gone",
      { kind: "host-pid-time", host: "here", pid: 77, atSeconds: 6000 },
      seen(),
      "gone",
    ],
    [
      "host, pid and time of this host, a stranger",
      { kind: "host-pid-time", host: "here", pid: 50, atSeconds: 4000 },
      seen(),
      "gone",
    ],
    [
      "host, pid and time of this host, alive",
      { kind: "host-pid-time", host: "here", pid: 50, atSeconds: 6000 },
      seen({ lockSeconds: 0 }),
      "live",
    ],
    [
      "host, pid and time of another host",
      { kind: "host-pid-time", host: "there", pid: 77, atSeconds: 1 },
      seen(),
      "unknown",
    ],
    ["no owner", { kind: "unknown", why: "it is empty" }, seen(), "unknown"],
    ["our lease, alive", lease(), seen(), "live"],
    ["our lease, pid gone", lease({ pid: 77 }), seen(), "gone"],
    ["our lease, pid used again", lease({ startedSeconds: 4000 }), seen(), "gone"],
    [
      "our lease, alive, after the clock was set by an hour",
      lease(),
      seen({ table: [row(1, 4600), row(50, 8600)] }),
      "live",
    ],
    ["our lease, from before a reboot", lease({ boot: "boot-0" }), seen(), "gone"],
    ["our lease, of another host", lease({ host: "there", pid: 77 }), seen(), "unknown"],
    [
      "our lease, owner gone but its job alive",
      lease({ pid: 77 }),
      seen({ table: [row(60, 5500, { marker: TOKEN })] }),
      "live",
    ],
    [
      "our lease, in another container, lock dropped",
      lease({ pidSpace: "pid:[2]" }),
      seen(),
      "gone",
    ],
    [
      "our lease, in another container, lock not known",
      lease({ pidSpace: "pid:[2]" }),
      seen({ kernelLock: "unknown" }),
      "unknown",
    ],
    [
      "our lease, in another container, without a lock",
      lease({ pidSpace: "pid:[2]", holdsKernelLock: false }),
      seen(),
      "unknown",
    ],
    [
      "a dead pid whose grandchild holds the kernel lock",
      { kind: "pid", pid: 77 },
      seen({ kernelLock: "yes" }),
      "live",
    ],
    [
      "a dead pid, but somebody has it open",
      { kind: "pid", pid: 77 },
      seen({ isOpen: "yes", openers: [88] }),
      "live",
    ],
    [
      "a dead pid, but nobody can see who holds it",
      { kind: "pid", pid: 77 },
      seen({ kernelLock: "unknown", isOpen: "unknown" }),
      "unknown",
    ],
    [
      "a dead pid, seen by lsof only",
      { kind: "pid", pid: 77 },
      seen({ kernelLock: "unknown" }),
      "gone",
    ],
  ] as [string, LockOwner, Witnesses, string][]
) {
  Deno.test(`judgeOwner: ${name}: ${state}`, () => {
    assertEquals(judgeOwner(owner, witnesses).state, state);
  });
}

Deno.test("judgeOwner believes the caller about a host by its exact name only", () => {
  const owner = { kind: "host-pid-time", host: "there", pid: 77, atSeconds: 1 } as const;
  assertEquals(judgeOwner(owner, seen(), { forceHost: "there" }).state, "gone");
  assertEquals(judgeOwner(owner, seen(), { forceHost: "ther" }).state, "unknown");
  assertStringIncludes(judgeOwner(owner, seen()).why, "--force-host there");
  const here = { kind: "pid", pid: 50 } as const;
  assertEquals(judgeOwner(here, seen(), { forceHost: "here" }).state, "live");
});

Deno.test("judgeOwner believes the caller about the owner's program", () => {
  const owner = { kind: "pid", pid: 1 } as const;
  const table = [row(1, 1000, { name: "init" })];
  assertEquals(judgeOwner(owner, seen({ table })).state, "live");
  assertEquals(judgeOwner(owner, seen({ table }), { ownerName: "agent" }).state, "gone");
  assertEquals(judgeOwner(owner, seen({ table }), { ownerName: "init" }).state, "live");
});

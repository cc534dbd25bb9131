import { assertEquals } from "@std/assert";
import type { WatchEntry, WatchSnapshot } from "./containment.ts";
import { compareSnapshots, textOf } from "./containment_compare.ts";

const file: WatchEntry = {
  kind: "file",
  mode: 0o644,
  bytes: 3,
  sha256: "ab".repeat(32),
  target: null,
  problem: null,
};
const unreadable: WatchEntry = {
  ...file,
  kind: "unreadable",
  sha256: null,
  problem: "Permission denied",
};
const absent: WatchEntry = { ...file, kind: "absent", mode: null, bytes: null, sha256: null };

/** A snapshot of one root with one path in it. */
function snapshot(entry: WatchEntry | null, truncated = false): WatchSnapshot {
  return {
    roots: [{
      path: "/w",
      files: 1,
      bytes: 3,
      incomplete: truncated ? "too much" : null,
      truncated,
    }],
    entries: new Map(entry === null ? [] : [["/w/x", entry]]),
    excluded: [],
    elapsedMs: 0,
  };
}

const changeOf = (old: WatchEntry | null, now: WatchEntry | null) =>
  compareSnapshots(snapshot(old), snapshot(now)).map(({ change }) => change);

Deno.test("unreadable on either side, or on both, is unknown and never clean", () => {
  assertEquals(changeOf(unreadable, unreadable), ["unknown"]);
  assertEquals(changeOf(file, unreadable), ["unknown"]);
  assertEquals(changeOf(unreadable, file), ["unknown"]);
  assertEquals(changeOf(null, unreadable), ["unknown"]);
  assertEquals(changeOf(unreadable, null), ["unknown"]);
});

Deno.test("absent and not seen at all are the same", () => {
  assertEquals(changeOf(absent, null), []);
  assertEquals(changeOf(null, absent), []);
  assertEquals(changeOf(absent, file), ["added"]);
  assertEquals(changeOf(file, absent), ["removed"]);
});

Deno.test("one change is told, the weightiest: kind, then content, then mode", () => {
  assertEquals(changeOf(file, { ...file, kind: "directory", mode: 0 }), ["kind"]);
  assertEquals(changeOf(file, { ...file, sha256: "cd".repeat(32), mode: 0 }), ["modified"]);
  assertEquals(changeOf(file, { ...file, bytes: 4 }), ["modified"]);
  assertEquals(changeOf(file, { ...file, mode: 0o600 }), ["mode"]);
  assertEquals(changeOf(file, { ...file }), []);
  const special: WatchEntry = { ...file, kind: "special", sha256: null, target: "fifo" };
  assertEquals(changeOf(special, { ...special, target: "device" }), ["kind"]);
});

Deno.test("what is seen on one side of a bound only is no change, but the root is unknown", () => {
  for (const [old, now] of [[file, null], [null, file]] as const) {
    const changes = compareSnapshots(snapshot(old, true), snapshot(now));
    assertEquals(changes, [{ path: "/w", change: "unknown", before: "too much", after: null }]);
  }
});

Deno.test("an entry is told in a few words", () => {
  assertEquals(textOf(file), "file, 3 bytes, sha256:abababababab…, mode 0644");
  assertEquals(textOf(unreadable), "unreadable: Permission denied");
  assertEquals(textOf({ ...file, kind: "symlink", target: "a b" }), 'link to "a b"');
  assertEquals(textOf({ ...file, kind: "directory" }), "directory, mode 0644");
  assertEquals(textOf({ ...file, kind: "special", target: "fifo", mode: null }), "fifo");
  assertEquals(textOf(absent), null);
  assertEquals(textOf(undefined), null);
});

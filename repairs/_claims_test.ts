import { assertEquals, assertThrows } from "@std/assert";
import {
  type Claim,
  claimOf,
  documentBook,
  logBook,
  reconcile,
  type UnitsOnDisk,
  type UnitState,
} from "./_claims.ts";
import { RepairError } from "./errors.ts";

const ABSENT: UnitState = { present: false, whole: false, sha256: null };

function disk(states: Record<string, Partial<UnitState>>): UnitsOnDisk {
  return {
    list: () => Object.keys(states),
    inspect: (unit, claim) => {
      const state = states[unit] ?? Object.values(states).find((each) => each.path === claim?.path);
      return state === undefined ? ABSENT : { present: true, whole: true, sha256: null, ...state };
    },
  };
}

const claim = (unit: string, more: Partial<Claim> = {}): Claim => ({
  unit,
  path: null,
  bytes: null,
  sha256: null,
  ...more,
});

Deno.test("claimOf reads names and objects, and takes other things for no claim", () => {
  assertEquals(claimOf("a"), claim("a"));
  assertEquals(claimOf(7), claim("7"));
  assertEquals(
    claimOf({ unit: "a", path: "p", bytes: 3, sha256: "AB" }),
    claim("a", { path: "p", bytes: 3, sha256: "ab" }),
  );
  assertEquals(claimOf({ path: "p" }), claim("p", { path: "p" }));
  for (const value of [null, true, [], {}, { started: 1 }]) assertEquals(claimOf(value), null);
});

Deno.test("reconcile keeps what the disk bears out, takes out what not, and puts in what is missing", () => {
  const good = claim("good", { bytes: 5 });
  const found = reconcile(
    [
      good,
      claim("absent"),
      claim("half"),
      claim("short", { bytes: 9 }),
      claim("other", { sha256: "b" }),
    ],
    disk({
      good: { bytes: 5 },
      half: { whole: false, problem: "it is cut" },
      short: { bytes: 3 },
      other: { sha256: "a" },
      extra: { bytes: 2, path: "extra.txt" },
      vague: { whole: null },
    }),
  );
  assertEquals([...found.kept], [good]);
  assertEquals(found.removed.map((each) => [each.claim.unit, each.why]), [
    ["absent", "there is no such file"],
    ["half", "it is cut"],
    ["short", "it has 3 bytes and not 9"],
    ["other", "it has another content (hash)"],
  ]);
  assertEquals(found.added, [claim("extra", { path: "extra.txt", bytes: 2 })]);
  assertEquals(found.unknown, ["vague"]);
  assertEquals(found.broken.map((each) => each.unit).sort(), ["half", "other", "short"]);
});

Deno.test("reconcile keeps the claim of a unit that holds, whichever comes last", () => {
  const [right, wrong] = [claim("a", { bytes: 5 }), claim("a", { bytes: 4 })];
  for (const claims of [[right, wrong], [wrong, right]]) {
    const found = reconcile(claims, disk({ a: { bytes: 5 } }));
    assertEquals([[...found.kept], found.removed.length, found.broken], [[right], 1, []]);
  }
});

Deno.test("reconcile does not add a file again that a claim names by its path", () => {
  const found = reconcile(
    [claim("unit-1", { path: "out/1.txt" })],
    disk({ "out/1.txt": { path: "out/1.txt" } }),
  );
  assertEquals([found.kept.size, found.added], [1, []]);
});

Deno.test("reconcile adds no claim for a file that a false claim describes otherwise", () => {
  const found = reconcile(
    [claim("a", { sha256: "x", path: "a.txt" })],
    disk({ "a.txt": { path: "a.txt", sha256: "y" } }),
  );
  assertEquals([found.added, found.broken.map((each) => each.path)], [[], ["a.txt"]]);
});

Deno.test("logBook keeps lines as they were written and puts new ones behind them", () => {
  const book = logBook(
    ['{ "unit":"a" }', '{"note":1}', '{"unit":"b"}'].map((text) => ({
      text,
      value: JSON.parse(text),
    })),
  );
  assertEquals(
    book.rebuild(new Set(book.claims.slice(0, 1)), [claim("c", { bytes: 1 })]),
    '{ "unit":"a" }\n{"note":1}\n{"unit":"c","bytes":1}\n',
  );
});

Deno.test("documentBook finds the one list there is, or the place it was told", () => {
  assertEquals(documentBook(["a"], undefined).claims.length, 1);
  assertEquals(documentBook({ v: 1, "do/ne": ["a", "b"] }, undefined).claims.length, 2);
  for (const document of [{ a: [], b: [] }, { a: 1 }, 5, null]) {
    assertThrows(() => documentBook(document, undefined), RepairError, "--done-at");
  }
  assertThrows(() => documentBook({ a: 1 }, "/a"), RepairError);
  const book = documentBook({ v: 1, "do/ne": ["a"] }, undefined);
  assertEquals(JSON.parse(book.rebuild(new Set(), [claim("c")])), { v: 1, "do/ne": ["c"] });
});

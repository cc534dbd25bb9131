import { assert, assertEquals } from "@std/assert";
import { manifestDifference, type ManifestFile, manifestOf } from "./project_manifest.ts";

/** Files whose content is told by one character. */
function files(paths: readonly string[], content: (path: string) => string = () => "a") {
  return paths.map((path): ManifestFile => ({ path, sha256: content(path).repeat(64) }));
}

const MANY = [
  "run.sh",
  "lib/one.sh",
  "lib/two.sh",
  ...Array.from({ length: 20 }, (_, i) => `node_modules/p${i % 4}/f${i}.js`),
];

Deno.test("manifestOf() names every file where there is room, sorted", () => {
  assertEquals(manifestOf(files(["b", "a/x"])), { "a/x": "a".repeat(64), "b": "a".repeat(64) });
  assertEquals(manifestOf([]), {});
});

Deno.test("manifestOf() brings the smallest folder that is enough into one entry", () => {
  assertEquals(
    Object.keys(manifestOf(files(MANY), 19)),
    [
      "lib/one.sh",
      "lib/two.sh",
      ...MANY.filter((path) => /p[0-3]\//.test(path) && !path.startsWith("node_modules/p0")),
      "node_modules/p0/",
      "run.sh",
    ].sort(),
  );
  assertEquals(Object.keys(manifestOf(files(MANY), 4)), [
    "lib/one.sh",
    "lib/two.sh",
    "node_modules/",
    "run.sh",
  ]);
  assertEquals(Object.keys(manifestOf(files(MANY), 3)), ["lib/", "node_modules/", "run.sh"]);
  assertEquals(Object.keys(manifestOf(files(["a", "b", "c"]), 2)), ["./"]);
});

Deno.test("manifestOf() keeps the history in one entry", () => {
  assertEquals(Object.keys(manifestOf(files([".git/HEAD", ".git/refs/x", ".gitignore"]))), [
    ".git/",
    ".gitignore",
  ]);
});

Deno.test("manifestDifference() names the files that differ, came or went", () => {
  const before = manifestOf(files(["same", "changed", "gone"]));
  const after = manifestOf(files(["same", "changed", "new"], (p) => p === "changed" ? "b" : "a"));
  assertEquals(manifestDifference(before, after), ["changed", "gone", "new"]);
  assertEquals(manifestDifference(before, before), []);
  assertEquals(manifestDifference(before, null), null);
  assertEquals(manifestDifference(undefined, after), null);
});

Deno.test("manifestDifference() sees through folders that only one side has in one entry", () => {
  for (const max of [19, 4, 3, 2, 1]) {
    const short = manifestOf(files(MANY), max);
    assertEquals(manifestDifference(manifestOf(files(MANY)), short), [], `${max} entries`);
    assertEquals(manifestDifference(short, manifestOf(files(MANY), 4)), [], `${max} and 4 entries`);
  }
  const edited = files(MANY, (path) => path === "node_modules/p1/f1.js" ? "b" : "a");
  const short = manifestOf(files(MANY), 4);
  assertEquals(manifestDifference(manifestOf(edited), short), ["node_modules/"]);
  assertEquals(manifestDifference(manifestOf(edited, 4), short), ["node_modules/"]);
});

Deno.test("a folder's entry changes with every name and content below it, and with nothing else", () => {
  const one = (list: readonly ManifestFile[]) => manifestOf(list, 1)["./"];
  const base = one(files(MANY));
  for (const path of MANY) {
    assert(one(files(MANY, (each) => each === path ? "b" : "a")) !== base, path);
    assert(one(files(MANY.filter((each) => each !== path))) !== base, path);
    assert(one(files(MANY.map((each) => each === path ? `${each}2` : each))) !== base, path);
  }
  assertEquals(one(files(MANY.toReversed())), base);
});

import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { makeFifo } from "../tests/support/special_files.ts";
import { makeTestDir } from "../tests/support/temp_dir.ts";
import {
  compareSnapshots,
  type ContainmentChange,
  NOT_A_SANDBOX,
  type SnapshotOptions,
  snapshotWatchList,
  type WatchRoot,
} from "./containment.ts";
import { containmentChangeSchema } from "./record.ts";

type At = (name: string) => string;

/** Looks, does something, looks again, and gives the changes with paths relative to the folder. */
async function changesOf(
  prepare: (at: At) => unknown,
  act: (at: At) => unknown,
  options: { roots?: (at: At) => WatchRoot[]; snapshot?: (at: At) => SnapshotOptions } = {},
): Promise<ContainmentChange[]> {
  await using dir = await makeTestDir("watch");
  const at: At = (name) => name === "" ? dir.path : `${dir.path}/${name}`;
  await Deno.mkdir(at("sub"));
  await Deno.writeTextFile(at("a"), "one");
  await Deno.writeTextFile(at("sub/b"), "two");
  await prepare(at);
  const roots = options.roots?.(at) ?? [{ path: dir.path, depth: "full" }];
  const snapshot = options.snapshot?.(at) ?? {};
  const before = await snapshotWatchList(roots, snapshot);
  await act(at);
  const changes = compareSnapshots(before, await snapshotWatchList(roots, snapshot));
  for (const change of changes) containmentChangeSchema.parse(change);
  return changes.map((change) => ({ ...change, path: change.path.slice(dir.path.length + 1) }));
}

const nothing = () => {};
const brief = (changes: ContainmentChange[]) => changes.map(({ path, change }) => [path, change]);

Deno.test("nothing changed is nothing told, whatever was read or touched meanwhile", async () => {
  const changes = await changesOf((at) => makeFifo(at("pipe")), async (at) => {
    await Deno.readTextFile(at("a"));
    await Deno.utime(at("sub/b"), 5, 5);
    await Deno.writeTextFile(at("new"), "");
    await Deno.remove(at("new"));
  });
  assertEquals(changes, []);
});

const MUTATIONS: [what: string, act: (at: At) => unknown, expected: [string, string][]][] = [
  ["a file is added", (at) => Deno.writeTextFile(at("c"), ""), [["c", "added"]]],
  ["a folder is added", (at) => Deno.mkdir(at("sub/d")), [["sub/d", "added"]]],
  ["a file is removed", (at) => Deno.remove(at("sub/b")), [["sub/b", "removed"]]],
  ["a byte is changed", (at) => Deno.writeTextFile(at("a"), "onE"), [["a", "modified"]]],
  ["a mode is changed", (at) => Deno.chmod(at("a"), 0o600), [["a", "mode"]]],
  [
    "a file becomes a link",
    (at) => Deno.remove(at("a")).then(() => Deno.symlink("sub/b", at("a"))),
    [["a", "kind"]],
  ],
  [
    "a folder becomes a link",
    (at) => Deno.rename(at("sub"), at("moved")).then(() => Deno.symlink("moved", at("sub"))),
    [["moved", "added"], ["moved/b", "added"], ["sub", "kind"], ["sub/b", "removed"]],
  ],
  ["a fifo is added", (at) => makeFifo(at("pipe")), [["pipe", "added"]]],
  [
    "a file becomes a fifo",
    (at) => Deno.remove(at("a")).then(() => makeFifo(at("a"))),
    [["a", "kind"]],
  ],
];

for (const [what, act, expected] of MUTATIONS) {
  Deno.test(`the watch tells that ${what}`, async () => {
    assertEquals(brief(await changesOf(nothing, act)), expected);
  });
}

Deno.test("a change that keeps size and time is seen, because contents are hashed", async () => {
  const [change, ...more] = await changesOf(nothing, async (at) => {
    const { mtime } = await Deno.lstat(at("a"));
    await Deno.writeTextFile(at("a"), "two");
    assert(mtime !== null);
    await Deno.utime(at("a"), mtime, mtime);
  });
  assertEquals([change?.change, more], ["modified", []]);
  assertEquals(change?.before?.startsWith("file, 3 bytes, sha256:"), true);
});

Deno.test("a link that points elsewhere is told, what it points to is not looked at", async () => {
  const changes = await changesOf(
    (at) => Deno.symlink("/", at("link")).then(() => Deno.symlink("a", at("other"))),
    (at) => Deno.remove(at("other")).then(() => Deno.symlink("sub/b", at("other"))),
  );
  assertEquals(changes, [{
    path: "other",
    change: "modified",
    before: 'link to "a"',
    after: 'link to "sub/b"',
  }]);
});

Deno.test("a root that is not there is watched for its appearance", async () => {
  const roots = (at: At): WatchRoot[] => [{ path: at("none"), depth: "full" }];
  assertEquals(await changesOf(nothing, nothing, { roots }), []);
  const [change] = await changesOf(nothing, (at) => Deno.writeTextFile(at("none"), "x"), { roots });
  assertEquals([change?.path, change?.change, change?.before], ["none", "added", null]);
});

Deno.test("a root that is a link is watched, and so is what it leads to", async () => {
  const roots = (at: At): WatchRoot[] => [{ path: at("rc"), depth: "full" }];
  const prepare = (at: At) => Deno.symlink("sub/b", at("rc"));
  assertEquals(
    brief(await changesOf(prepare, (at) => Deno.writeTextFile(at("sub/b"), "x"), { roots })),
    [["sub/b", "modified"]],
  );
  assertEquals(
    brief(
      await changesOf(
        prepare,
        (at) => Deno.remove(at("rc")).then(() => Deno.symlink("a", at("rc"))),
        { roots },
      ),
    ),
    [["a", "added"], ["rc", "modified"], ["sub/b", "removed"]],
  );
  const folder = (at: At): WatchRoot[] => [{ path: at("dir"), depth: "full" }];
  assertEquals(
    brief(
      await changesOf(
        (at) => Deno.symlink("sub", at("dir")),
        (at) => Deno.writeTextFile(at("sub/new"), ""),
        { roots: folder },
      ),
    ),
    [["sub/new", "added"]],
  );
});

Deno.test("of an `entries` root only names, kinds and sizes on its top count", async () => {
  const roots = (at: At): WatchRoot[] => [{ path: at(""), depth: "entries", ignore: ["*.log"] }];
  const changes = await changesOf(nothing, async (at) => {
    await Deno.writeTextFile(at("sub/deep"), "");
    await Deno.writeTextFile(at("sub/b"), "changed");
    await Deno.chmod(at("a"), 0o600);
    await Deno.writeTextFile(at("x.log"), "");
    await Deno.writeTextFile(at("stray"), "");
  }, { roots });
  assertEquals(brief(changes), [["stray", "added"]]);
  const grown = await changesOf(nothing, (at) => Deno.writeTextFile(at("a"), "longer"), { roots });
  assertEquals(brief(grown), [["a", "modified"]]);
});

Deno.test("what is left out is not seen, and is named in the snapshot", async () => {
  await using dir = await makeTestDir("watch");
  await Deno.mkdir(`${dir.path}/report/deep`, { recursive: true });
  await Deno.mkdir(`${dir.path}/sub`);
  await Deno.writeTextFile(`${dir.path}/sub/x.tmp`, "");
  const roots: WatchRoot[] = [{ path: dir.path, depth: "full", ignore: ["sub/*.tmp"] }];
  const exclude = [`${dir.path}/report`, "/nowhere"];
  const { excluded, entries } = await snapshotWatchList(roots, { exclude });
  assertEquals(excluded, [`${dir.path}/report`, `${dir.path}/sub/x.tmp`]);
  assertEquals([...entries.keys()].sort(), [dir.path, `${dir.path}/sub`]);
});

Deno.test("what is left out may be written by way of a link, and so may the root", async () => {
  await using dir = await makeTestDir("watch");
  await Deno.mkdir(`${dir.path}/real/proj/report`, { recursive: true });
  await Deno.mkdir(`${dir.path}/real/proj/src`);
  await Deno.symlink("real", `${dir.path}/alias`);
  for (const [root, exclude] of [["alias", "real"], ["real", "alias"], ["alias", "alias"]]) {
    const roots: WatchRoot[] = [{ path: `${dir.path}/${root}/proj`, depth: "full" }];
    const options = { exclude: [`${dir.path}/${exclude}/proj/report/`] };
    const { entries, excluded } = await snapshotWatchList(roots, options);
    assertEquals([entries.size, excluded.length], [2, 1], `${root} ${exclude}`);
  }
  const all = { exclude: [`${dir.path}/alias/proj`] };
  const roots: WatchRoot[] = [{ path: `${dir.path}/real/proj`, depth: "full" }];
  assertEquals((await snapshotWatchList(roots, all)).entries.size, 0);
});

Deno.test("a file that was read a moment ago is not read again, unless it is another one now", async () => {
  await using dir = await makeTestDir("known");
  const path = `${dir.path}/a`;
  const roots: WatchRoot[] = [{ path: dir.path, depth: "full" }];
  await Deno.writeTextFile(path, "one");
  await Deno.link(path, `${dir.path}/twin`);
  const info = await Deno.lstat(path);
  // Not its real hash, so that it shows where the answer comes from.
  const told = "0".repeat(64);
  const hashNow = async (seen: Deno.FileInfo) => {
    const known = new Map([[path, { sha256: told, info: seen }]]);
    const { entries, roots: reports } = await snapshotWatchList(roots, { known });
    assertEquals(reports[0]?.files, 2);
    return [path, `${dir.path}/twin`].map((each) => entries.get(each)?.sha256);
  };
  const real = (await snapshotWatchList(roots)).entries.get(path)?.sha256;
  assert(real !== told && real !== null && real !== undefined);
  assertEquals(await hashNow(info), [told, told]);
  const later = new Date((info.mtime?.getTime() ?? 0) + 1);
  for (
    const other of [
      { size: 4 },
      { ino: (info.ino ?? 0) + 1 },
      { dev: info.dev + 1 },
      { mtime: later },
      { ctime: later },
    ]
  ) assertEquals(await hashNow({ ...info, ...other }), [real, real], JSON.stringify(other));
});

Deno.test("beyond a bound the answer is unknown, and what was seen is still compared", async () => {
  const snapshot = () => ({ filesMax: 1 });
  const changes = await changesOf(nothing, (at) => Deno.writeTextFile(at("a"), "ONE"), {
    snapshot,
  });
  assertEquals(brief(changes), [["", "unknown"], ["a", "modified"]]);
  assertStringIncludes(changes[0]?.after ?? "", "more than the bound of 1 files");
  const bytes = await changesOf(nothing, nothing, { snapshot: () => ({ bytesMax: 4 }) });
  assertEquals(brief(bytes), [["", "unknown"]]);
});

Deno.test("files on the bound are all seen", async () => {
  const snapshot = () => ({ filesMax: 2, bytesMax: 6 });
  assertEquals(await changesOf(nothing, nothing, { snapshot }), []);
});

Deno.test("of a JSON file with keys only these count, in any order", async () => {
  const roots = (at: At): WatchRoot[] => [
    { path: at("state.json"), depth: "full", keys: ["servers"] },
  ];
  const write = (value: unknown) => (at: At) =>
    Deno.writeTextFile(at("state.json"), typeof value === "string" ? value : JSON.stringify(value));
  const first = write({ runs: 1, servers: { a: 1, b: [2] } });
  const change = async (next: unknown) => brief(await changesOf(first, write(next), { roots }));
  assertEquals(await change({ servers: { b: [2], a: 1 }, runs: 2, more: "x" }), []);
  assertEquals(await change({ runs: 1, servers: { a: 1, b: [3] } }), [["state.json", "modified"]]);
  assertEquals(await change({ runs: 1 }), [["state.json", "modified"]]);
  assertEquals(await change("no JSON"), [["state.json", "modified"]]);
});

Deno.test("a path below two roots is told once, and with its content", async () => {
  const roots = (at: At): WatchRoot[] => [
    { path: at(""), depth: "entries" },
    { path: at("a"), depth: "full" },
    { path: at(""), depth: "full" },
  ];
  const changes = await changesOf(nothing, (at) => Deno.writeTextFile(at("a"), "ONE"), { roots });
  assertEquals(brief(changes), [["a", "modified"]]);
});

Deno.test("a file with two names is read once and told under both", async () => {
  const changes = await changesOf(
    (at) => Deno.link(at("a"), at("twin")),
    (at) => Deno.writeTextFile(at("twin"), "ONE"),
  );
  assertEquals(brief(changes), [["a", "modified"], ["twin", "modified"]]);
});

Deno.test("what cannot be read is unknown, also when it was so before", {
  ignore: Deno.uid() === 0, // Root reads everything.
}, async () => {
  const changes = await changesOf(async (at) => {
    await Deno.chmod(at("a"), 0o000);
    await Deno.chmod(at("sub"), 0o000);
  }, nothing);
  assertEquals(brief(changes), [["a", "unknown"], ["sub", "unknown"]]);
  assertStringIncludes(changes[0]?.after ?? "", "unreadable: ");
});

Deno.test("a snapshot reports per root, and says what is incomplete", async () => {
  await using dir = await makeTestDir("watch");
  await Deno.writeTextFile(`${dir.path}/a`, "12345");
  const roots: WatchRoot[] = [
    { path: `${dir.path}/none`, depth: "full" },
    { path: dir.path, depth: "full" },
  ];
  const { roots: reports } = await snapshotWatchList(roots);
  assertEquals(reports, [
    { path: `${dir.path}/none`, files: 0, bytes: 0, incomplete: null, truncated: false },
    { path: dir.path, files: 1, bytes: 5, incomplete: null, truncated: false },
  ]);
  await assertRejects(
    () => snapshotWatchList([{ path: "relative", depth: "full" }]),
    TypeError,
    "must be absolute",
  );
});

Deno.test("snapshots of different places cannot be compared", async () => {
  const one = await snapshotWatchList([{ path: "/nowhere/1", depth: "full" }]);
  const two = await snapshotWatchList([{ path: "/nowhere/2", depth: "full" }]);
  assertThrows(() => compareSnapshots(one, two), TypeError, "different places");
});

Deno.test("the sentence beside the watch list says what it is not", () => {
  assert(NOT_A_SANDBOX.startsWith("This is observation, not a sandbox: "));
});

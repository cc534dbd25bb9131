import { assertEquals, assertThrows } from "@std/assert";
import { makeTestDir } from "../tests/support/temp_dir.ts";
import { checkScope, type ScopeViolation } from "./allowlist.ts";
import { snapshotWatchList, type WatchRoot } from "./containment.ts";

type At = (name: string) => string;

/** A job's folder with sources and outputs, beside a folder of a similar name. */
async function scopeOf(
  allowed: string[],
  act: (at: At) => unknown,
  prepare: (at: At) => unknown = () => {},
): Promise<ScopeViolation[]> {
  await using dir = await makeTestDir("scope");
  const root = `${dir.path}/lab`;
  const at: At = (name) => `${root}/${name}`;
  await Deno.mkdir(at("src/deep"), { recursive: true });
  await Deno.mkdir(`${dir.path}/lab2`);
  await Deno.writeTextFile(`${dir.path}/lab2/secret`, "secret");
  await Deno.writeTextFile(at("src/a.txt"), "a");
  await Deno.writeTextFile(at("src/deep/b.txt"), "b");
  await Deno.mkdir(at("out"));
  await Deno.writeTextFile(at("out/old.md"), "old");
  await prepare(at);
  const roots: WatchRoot[] = [
    { path: root, depth: "full" },
    { path: `${dir.path}/lab2`, depth: "full" },
  ];
  const before = await snapshotWatchList(roots);
  await act(at);
  const after = await snapshotWatchList(roots);
  return checkScope({ root, allowed, before, after }).map((violation) => ({
    ...violation,
    path: violation.path.replace(`${dir.path}/`, "//"),
    realPath: violation.realPath.replace(`${dir.path}/`, "//"),
  }));
}

const brief = (violations: ScopeViolation[]) => violations.map(({ path, kind }) => [path, kind]);
const write = (name: string) => (at: At) => Deno.writeTextFile(at(name), "new");

Deno.test("a job that writes only what it may has no violations", async () => {
  for (const allowed of ["out", "out/", "./out", "out/*", "**/*.md", "out/**"]) {
    assertEquals(await scopeOf([allowed], write("out/new.md")), [], allowed);
  }
  assertEquals(await scopeOf(["."], write("src/a.txt")), []);
  assertEquals(
    await scopeOf(["fresh/*.md"], async (at) => {
      await Deno.mkdir(at("fresh"));
      await Deno.writeTextFile(at("fresh/1.md"), "");
    }),
    [],
  );
  assertEquals(await scopeOf(["out"], () => {}), []);
});

Deno.test("what was added, changed, removed or opened elsewhere is told", async () => {
  assertEquals(
    await scopeOf(["out"], async (at) => {
      await Deno.writeTextFile(at("src/a.txt"), "A");
      await Deno.remove(at("src/deep/b.txt"));
      await Deno.writeTextFile(at("stray"), "");
      await Deno.chmod(at("src/deep"), 0o700);
      await Deno.writeTextFile(at("out/fine"), "");
    }),
    [
      { path: "src/a.txt", realPath: "//lab/src/a.txt", kind: "outside-allowlist" },
      { path: "src/deep", realPath: "//lab/src/deep", kind: "outside-allowlist" },
      { path: "src/deep/b.txt", realPath: "//lab/src/deep/b.txt", kind: "outside-allowlist" },
      { path: "stray", realPath: "//lab/stray", kind: "outside-allowlist" },
    ],
  );
});

Deno.test("a name that only begins like an allowed one is not allowed", async () => {
  assertEquals(brief(await scopeOf(["out"], write("out2"))), [["out2", "outside-allowlist"]]);
  assertEquals(brief(await scopeOf(["ou*/x"], write("out/new.md"))), [
    ["out/new.md", "outside-allowlist"],
  ]);
  assertEquals(brief(await scopeOf(["out/*.md"], write("out/new.md.txt"))), [
    ["out/new.md.txt", "outside-allowlist"],
  ]);
});

Deno.test("a change in another watched root is outside, also in one of a similar name", async () => {
  assertEquals(brief(await scopeOf(["."], (at) => Deno.writeTextFile(at("../lab2/secret"), "x"))), [
    ["//lab2/secret", "outside-root"],
  ]);
});

Deno.test("a link that stays inside is nothing to tell, wherever it may be", async () => {
  const stays: [name: string, target: (at: At) => string][] = [
    ["out/to-file", () => "../src/a.txt"],
    ["out/to-folder", () => "../src"],
    ["out/absolute", (at) => at("src/a.txt")],
    ["out/dangling", () => "not-yet"],
  ];
  for (const [name, target] of stays) {
    assertEquals(await scopeOf(["out"], (at) => Deno.symlink(target(at), at(name))), [], name);
  }
  assertEquals(brief(await scopeOf(["out"], (at) => Deno.symlink("out", at("stray")))), [
    ["stray", "outside-allowlist"],
  ]);
});

Deno.test("a link that leads out is told even where links may be made", async () => {
  const leads: [name: string, target: (at: At) => string][] = [
    ["out/to-file", () => "../../lab2/secret"],
    ["out/to-folder", () => "../../lab2"],
    ["out/absolute", () => "/etc/passwd"],
    ["out/dangling", (at) => at("../lab2/not-yet")],
    ["out/prefix", (at) => `${at("").slice(0, -1)}2/secret`],
    ["out/loop", () => "loop"],
  ];
  for (const [name, target] of leads) {
    assertEquals(
      brief(await scopeOf(["out"], (at) => Deno.symlink(target(at), at(name)))),
      [[name, "link-out"]],
    );
  }
});

Deno.test("a link to a link is judged by where it ends", async () => {
  const prepare = (at: At) => Deno.symlink("../lab2", at("door"));
  assertEquals(
    brief(await scopeOf(["out"], (at) => Deno.symlink("../door/secret", at("out/x")), prepare)),
    [["out/x", "link-out"]],
  );
});

Deno.test("a file swapped for a link is told, allowed or not, when it leads out", async () => {
  const swap = (name: string, target: string) => (at: At) =>
    Deno.remove(at(name)).then(() => Deno.symlink(target, at(name)));
  assertEquals(
    await scopeOf(["out"], swap("out/old.md", "../../lab2/secret")),
    [{ path: "out/old.md", realPath: "//lab2/secret", kind: "swapped-for-link" }],
  );
  assertEquals(
    await scopeOf(["out"], swap("src/a.txt", "deep/b.txt")),
    [{ path: "src/a.txt", realPath: "//lab/src/deep/b.txt", kind: "swapped-for-link" }],
  );
  assertEquals(await scopeOf(["out"], swap("out/old.md", "../src/a.txt")), []);
});

Deno.test("a folder swapped for a link is told with everything that is gone", async () => {
  const violations = await scopeOf(["out"], async (at) => {
    await Deno.rename(at("src/deep"), at("out/moved"));
    await Deno.symlink("../../lab2", at("src/deep"));
  });
  assertEquals(violations, [
    { path: "src/deep", realPath: "//lab2", kind: "swapped-for-link" },
    { path: "src/deep/b.txt", realPath: "//lab/src/deep/b.txt", kind: "outside-allowlist" },
  ]);
});

Deno.test("an allowed path that is absolute, leads up or leads out is refused", async () => {
  for (const allowed of ["/etc", "../lab2", "out/../../lab2", "a\0b"]) {
    let thrown: unknown = null;
    await scopeOf([allowed], () => {}).catch((error) => thrown = error);
    assertThrows(
      () => {
        throw thrown;
      },
      RangeError,
      "must be relative to",
    );
  }
  let thrown: unknown = null;
  await scopeOf(["door/secret"], () => {}, (at) => Deno.symlink("../lab2", at("door")))
    .catch((error) => thrown = error);
  assertThrows(
    () => {
      throw thrown;
    },
    RangeError,
    "a link leads from it to",
  );
});

Deno.test("the folder may be given through a link, and with a slash at its end", async () => {
  await using dir = await makeTestDir("scope");
  await Deno.mkdir(`${dir.path}/lab`);
  await Deno.symlink("lab", `${dir.path}/alias`);
  for (const root of [`${dir.path}/alias`, `${dir.path}/lab/`]) {
    const roots: WatchRoot[] = [{ path: root, depth: "full" }];
    const before = await snapshotWatchList(roots);
    await Deno.writeTextFile(`${dir.path}/lab/x`, "");
    const after = await snapshotWatchList(roots);
    assertEquals(brief(checkScope({ root, allowed: ["out"], before, after })), [
      ["x", "outside-allowlist"],
    ]);
    await Deno.remove(`${dir.path}/lab/x`);
  }
});

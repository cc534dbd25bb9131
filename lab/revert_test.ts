import { assert, assertEquals, assertInstanceOf, assertRejects } from "@std/assert";
import { makeTestDir } from "../tests/support/temp_dir.ts";
import { checkScope, type ScopeViolation } from "./allowlist.ts";
import { snapshotWatchList, type WatchRoot, type WatchSnapshot } from "./containment.ts";
import { hashTree } from "./hash.ts";
import { revert, RevertRefusedError, type RevertReport } from "./revert.ts";
import { cloneTree } from "./tree_copy.ts";

/** A job's folder, its backup, and a folder outside that must never change. */
class Scene implements AsyncDisposable {
  readonly root: string;
  readonly backupDir: string;
  readonly outside: string;
  before!: WatchSnapshot;
  #hash = "";
  #outsideHash = "";
  readonly #dir: AsyncDisposable;

  private constructor(dir: { path: string } & AsyncDisposable) {
    this.#dir = dir;
    this.root = `${dir.path}/lab`;
    this.backupDir = `${dir.path}/backup`;
    this.outside = `${dir.path}/lab2`;
  }

  static async make(): Promise<Scene> {
    const scene = new Scene(await makeTestDir("revert"));
    await Deno.mkdir(scene.at("src/deep"), { recursive: true });
    await Deno.mkdir(scene.at("out"));
    await Deno.mkdir(`${scene.outside}/deep`, { recursive: true });
    await Deno.writeTextFile(`${scene.outside}/a.txt`, "precious");
    await Deno.writeTextFile(`${scene.outside}/b.txt`, "precious");
    await Deno.writeTextFile(scene.at("src/a.txt"), "a\n", { mode: 0o640 });
    await Deno.writeTextFile(scene.at("src/run.sh"), "#!/bin/sh\n");
    await Deno.chmod(scene.at("src/run.sh"), 0o755);
    await Deno.writeTextFile(scene.at("src/deep/b.txt"), "b");
    await Deno.symlink("a.txt", scene.at("src/link"));
    await cloneTree(scene.root, scene.backupDir);
    scene.before = await scene.#look();
    scene.#hash = (await hashTree(scene.root, { exclude: ["out"] })).sha256;
    scene.#outsideHash = (await hashTree(scene.outside)).sha256;
    return scene;
  }

  at(name: string): string {
    return `${this.root}/${name}`;
  }

  async #look(): Promise<WatchSnapshot> {
    const roots: WatchRoot[] = [{ path: this.root, depth: "full" }];
    return await snapshotWatchList(roots);
  }

  async violations(): Promise<ScopeViolation[]> {
    const { root, before } = this;
    return checkScope({ root, allowed: ["out"], before, after: await this.#look() });
  }

  async revert(violations?: ScopeViolation[]): Promise<RevertReport> {
    const { root, backupDir, before } = this;
    return await revert({
      root,
      backupDir,
      before,
      violations: violations ?? await this.violations(),
    });
  }

  /** Everything but `out` is as it was before the job, and nothing is left over. */
  async assertRestored(): Promise<void> {
    assertEquals(await this.violations(), []);
    assertEquals((await hashTree(this.root, { exclude: ["out"] })).sha256, this.#hash);
    await this.assertOutsideUntouched();
  }

  async assertOutsideUntouched(): Promise<void> {
    assertEquals((await hashTree(this.outside)).sha256, this.#outsideHash);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#dir[Symbol.asyncDispose]();
  }
}

const violation = (path: string): ScopeViolation => ({
  path,
  realPath: path,
  kind: "outside-allowlist",
});

type Act = (scene: Scene) => unknown;

async function swap(scene: Scene, name: string, target: string): Promise<void> {
  await Deno.remove(scene.at(name), { recursive: true });
  await Deno.symlink(target, scene.at(name));
}

const DAMAGES: [what: string, act: Act][] = [
  ["changed", (s) => Deno.writeTextFile(s.at("src/a.txt"), "changed")],
  ["emptied", (s) => Deno.truncate(s.at("src/a.txt"))],
  ["removed", (s) => Deno.remove(s.at("src/deep/b.txt"))],
  ["removed with its folder", (s) => Deno.remove(s.at("src"), { recursive: true })],
  ["opened to all", (s) => Deno.chmod(s.at("src/run.sh"), 0o777)],
  ["added", (s) => Deno.writeTextFile(s.at("src/new"), "")],
  ["added in a new folder", async (s) => {
    await Deno.mkdir(s.at("x/y/z"), { recursive: true });
    await Deno.writeTextFile(s.at("x/y/z/file"), "");
  }],
  ["made read-only together with its folder", async (s) => {
    await Deno.writeTextFile(s.at("src/deep/b.txt"), "changed");
    await Deno.chmod(s.at("src/deep/b.txt"), 0o444);
    await Deno.chmod(s.at("src/deep"), 0o555);
  }],
  ["turned into a folder", async (s) => {
    await Deno.remove(s.at("src/a.txt"));
    await Deno.mkdir(s.at("src/a.txt"));
    await Deno.writeTextFile(s.at("src/a.txt/x"), "");
  }],
  ["turned from a folder into a file", async (s) => {
    await Deno.remove(s.at("src/deep"), { recursive: true });
    await Deno.writeTextFile(s.at("src/deep"), "");
  }],
  ["swapped for a link to a file outside", (s) => swap(s, "src/a.txt", `${s.outside}/a.txt`)],
  ["swapped for a link to a folder outside", (s) => swap(s, "src/deep", "../../lab2")],
  ["swapped for a dangling link to outside", (s) => swap(s, "src/a.txt", `${s.outside}/new`)],
  ["swapped for a link inside", (s) => swap(s, "src/a.txt", "deep/b.txt")],
  ["swapped, the whole folder above it, for a link outside", (s) => swap(s, "src", s.outside)],
  ["swapped for a link that is its own target", (s) => swap(s, "src/a.txt", "a.txt")],
  ["a link that now points elsewhere", (s) => swap(s, "src/link", `${s.outside}/a.txt`)],
  ["a link that became a file", async (s) => {
    await Deno.remove(s.at("src/link"));
    await Deno.writeTextFile(s.at("src/link"), "");
  }],
  ["a new link to outside in an allowed folder", (s) => Deno.symlink("/etc", s.at("out/etc"))],
];

for (const [what, act] of DAMAGES) {
  Deno.test(`the revert mends what was ${what}`, async () => {
    await using scene = await Scene.make();
    await act(scene);
    assert((await scene.violations()).length > 0);
    const { restored, removed } = await scene.revert();
    assert(restored.length + removed.length > 0);
    await scene.assertRestored();
  });
}

Deno.test("the revert keeps what was allowed and says what it did", async () => {
  await using scene = await Scene.make();
  await Deno.writeTextFile(scene.at("out/result"), "result");
  await Deno.writeTextFile(scene.at("src/a.txt"), "changed");
  await Deno.writeTextFile(scene.at("stray"), "");
  assertEquals(await scene.revert(), { restored: ["src/a.txt"], removed: ["stray"] });
  assertEquals(await Deno.readTextFile(scene.at("out/result")), "result");
  await scene.assertRestored();
  assertEquals(await scene.revert(), { restored: [], removed: [] });
});

/** A record in which one entry is poisoned, and a harmless one that must then not be done either. */
const ATTACKS: [what: string, path: (scene: Scene) => string, prepare: Act, why: string][] = [
  ["an absolute path", (s) => `${s.outside}/a.txt`, () => {}, "it is absolute"],
  ["an absolute path inside", (s) => s.at("src/a.txt"), () => {}, "it is absolute"],
  ["..", () => "../lab2/a.txt", () => {}, 'it holds ".."'],
  [".. that comes back", () => "src/../src/a.txt", () => {}, 'it holds ".."'],
  ["a NUL byte", () => "src/a\0.txt", () => {}, "it holds a NUL byte"],
  ["an empty path", () => "", () => {}, "not written in its plain form"],
  ["a doubled slash", () => "src//a.txt", () => {}, "not written in its plain form"],
  [
    "a path below a link to outside that is not on the list",
    () => "door/a.txt",
    (s) => Deno.symlink(s.outside, s.at("door")),
    "outside",
  ],
  [
    "a path below a link that stays inside",
    () => "door/a.txt",
    (s) => Deno.symlink("src", s.at("door")),
    "below which no look ever finds a path",
  ],
  [
    "a path below a dangling link",
    () => "door/a.txt",
    (s) => Deno.symlink(`${s.outside}/new`, s.at("door")),
    "outside",
  ],
];

for (const [what, path, prepare, why] of ATTACKS) {
  Deno.test(`one entry with ${what} stops the whole revert before anything is written`, async () => {
    await using scene = await Scene.make();
    await Deno.writeTextFile(scene.at("src/a.txt"), "changed");
    await prepare(scene);
    const error = await assertRejects(
      () => scene.revert([violation("src/a.txt"), violation(path(scene)), violation("zzz")]),
      RevertRefusedError,
      why,
    );
    assertInstanceOf(error, RevertRefusedError);
    assertEquals(error.path, path(scene));
    assert(error.message.includes("Nothing was changed"));
    assertEquals(await Deno.readTextFile(scene.at("src/a.txt")), "changed");
    await scene.assertOutsideUntouched();
  });
}

Deno.test("a link that was there before the job does not count as cleared", async () => {
  await using scene = await Scene.make();
  await Deno.symlink(scene.outside, scene.at("old-door"));
  const before = await snapshotWatchList([{ path: scene.root, depth: "full" }]);
  const { root, backupDir } = scene;
  const violations = [violation("old-door"), violation("old-door/a.txt")];
  await assertRejects(
    () => revert({ root, backupDir, before, violations }),
    RevertRefusedError,
    "outside",
  );
  await scene.assertOutsideUntouched();
});

Deno.test("nothing is removed through a folder that was swapped for a link", async () => {
  await using scene = await Scene.make();
  await swap(scene, "src", scene.outside);
  // Forged: b.txt was never in src, so it seems to have been added; it is the one outside.
  const { restored, removed } = await scene.revert([
    ...await scene.violations(),
    violation("src/b.txt"),
    violation("src/deep"),
  ]);
  assertEquals(removed, []);
  assert(restored.includes("src/a.txt"));
  await scene.assertRestored();
});

Deno.test("a backup that does not hold what was there stops the whole revert", async () => {
  const spoil: [Act, string][] = [
    [(s) => Deno.remove(`${s.backupDir}/src/a.txt`), "does not hold it"],
    [(s) => Deno.writeTextFile(`${s.backupDir}/src/a.txt`, "other"), "holds other content"],
    [
      (s) =>
        Deno.remove(`${s.backupDir}/src/a.txt`)
          .then(() => Deno.symlink("run.sh", `${s.backupDir}/src/a.txt`)),
      "holds a symlink",
    ],
  ];
  for (const [act, why] of spoil) {
    await using scene = await Scene.make();
    await act(scene);
    await Deno.writeTextFile(scene.at("src/a.txt"), "changed");
    await Deno.writeTextFile(scene.at("stray"), "");
    await assertRejects(() => scene.revert(), RevertRefusedError, why);
    assertEquals(await Deno.readTextFile(scene.at("stray")), "");
  }
});

Deno.test("a restored file has its mode and time, and is a new file", async () => {
  await using scene = await Scene.make();
  const old = await Deno.lstat(`${scene.backupDir}/src/a.txt`);
  // A second name of the damaged file must not be written through either.
  await Deno.link(scene.at("src/a.txt"), `${scene.outside}/twin`);
  await Deno.writeTextFile(scene.at("src/a.txt"), "changed");
  await scene.revert();
  const now = await Deno.lstat(scene.at("src/a.txt"));
  assertEquals([now.mode, now.mtime], [old.mode, old.mtime]);
  assertEquals(await Deno.readTextFile(`${scene.outside}/twin`), "changed");
});

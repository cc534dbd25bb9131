// Finding outputs, and reading them.

import { assert, assertEquals, assertThrows } from "@std/assert";
import { makeSocket } from "../tests/support/special_files.ts";
import { makeTestDir } from "../tests/support/temp_dir.ts";
import {
  type ArtifactGlimpse,
  ARTIFACTS_MAX,
  artifactSignature,
  type ArtifactSpec,
  listArtifacts,
  readArtifacts,
} from "./artifacts.ts";
import { systemClock } from "./clock.ts";
import { hashBytes } from "./hash.ts";

/** Makes files: path to content. */
function write(root: string, files: Record<string, string>): void {
  for (const [path, text] of Object.entries(files)) {
    Deno.mkdirSync(`${root}/${path}`.replace(/\/[^/]*$/, ""), { recursive: true });
    Deno.writeTextFileSync(`${root}/${path}`, text);
  }
}

function paths(root: string, ...globs: string[]): string[] {
  return listArtifacts({ root, globs }).map((each) => each.path);
}

function problems(root: string, spec: Partial<ArtifactSpec> = {}): Record<string, string[]> {
  return Object.fromEntries(
    readArtifacts({ root, globs: ["*"], ...spec }).map((each) => [each.path, each.problems]),
  );
}

async function makeFifo(path: string): Promise<void> {
  const { success } = await new Deno.Command("mkfifo", { args: [path] }).output();
  assert(success);
}

Deno.test("listArtifacts() finds what the globs say, each file once, in order", async () => {
  await using dir = await makeTestDir("artifacts");
  write(dir.path, {
    "a/b.txt": "1",
    "a/c/d.txt": "2",
    "a/c/e.md": "3",
    "out/1.md": "4",
    "out/2.md": "5",
    "out/deep/3.md": "6",
    "top.txt": "7",
  });
  const table: [string[], string[]][] = [
    [["out/*.md"], ["out/1.md", "out/2.md"]],
    [["./out/*"], ["out/1.md", "out/2.md"]],
    [["out//*.md", "./out/./*.md", "out/1.md"], ["out/1.md", "out/2.md"]],
    [["**/*.txt"], ["a/b.txt", "a/c/d.txt", "top.txt"]],
    [["out/**"], ["out/1.md", "out/2.md", "out/deep/3.md"]],
    [["**/c/*"], ["a/c/d.txt", "a/c/e.md"]],
    [["**/c/e.md"], ["a/c/e.md"]],
    [["*/c/*.md"], ["a/c/e.md"]],
    [["*/*.txt"], ["a/b.txt"]],
    [["a/b.txt"], ["a/b.txt"]],
    [["a/{b.txt,c/e.md}"], ["a/b.txt", "a/c/e.md"]],
    [["out/[2-9].md"], ["out/2.md"]],
    [["a/../top.txt"], ["top.txt"]],
    [["out", "out/", "out/deep", "", ".", "./"], []],
    [["nothing/*.md", "nothing/1.md", "out/1.md/x", "out/1.md/*"], []],
    [[], []],
  ];
  for (const [globs, expected] of table) assertEquals(paths(dir.path, ...globs), expected);
  assertEquals(paths(`${dir.path}/not-there`, "*", "a.txt", "**/*"), []);
});

Deno.test("listArtifacts() leaves out hidden names that the glob does not name", async () => {
  await using dir = await makeTestDir("artifacts");
  write(dir.path, {
    "out/1.md": "",
    "out/.1.md.tmp": "",
    "out/.gitkeep": "",
    ".git/x.md": "",
    ".cache/y.md": "",
  });
  assertEquals(paths(dir.path, "out/*"), ["out/1.md"]);
  assertEquals(paths(dir.path, "**/*.md"), ["out/1.md"]);
  assertEquals(paths(dir.path, "**"), ["out/1.md"]);
  assertEquals(paths(dir.path, "out/.*"), ["out/.1.md.tmp", "out/.gitkeep"]);
  assertEquals(paths(dir.path, ".cache/*.md"), [".cache/y.md"]);
  assertEquals(paths(dir.path, "**/.cache/*.md"), [".cache/y.md"]);
});

Deno.test("listArtifacts() takes any name and any root", async () => {
  await using dir = await makeTestDir("artifacts");
  const root = `${dir.path}/a [1] {b,c} (d)*?\n+`;
  const names = [
    "sp ace.md",
    "new\nline.md",
    "[1].md",
    "{a,b}.md",
    "st*r.md",
    "qu?.md",
    "back\\slash.md",
    "(p)+@!.md",
    "ü—🎈.md",
    "-rf.md",
    "a|b:c.md",
  ];
  write(root, Object.fromEntries(names.map((name) => [`out/${name}`, name])));
  assertEquals(paths(root, "out/*.md"), names.map((name) => `out/${name}`).sort());
  assertEquals(paths(root, "**/*.md"), names.map((name) => `out/${name}`).sort());
  for (const name of names) {
    const quoted = name.replace(/[\\*?[\]{},()+@!|]/g, "\\$&");
    assertEquals(paths(root, `out/${quoted}`), [`out/${name}`]);
  }
  assertEquals(readArtifacts({ root, globs: ["out/*"] }).map((each) => each.problems.length), [
    ...names.map(() => 0),
  ]);
});

Deno.test("listArtifacts() counts files only, and never opens a fifo", async () => {
  await using dir = await makeTestDir("artifacts");
  write(dir.path, { "out/1.md": "x", "out/folder.md/inner": "x" });
  await makeFifo(`${dir.path}/out/fifo.md`);
  await Deno.symlink("fifo.md", `${dir.path}/out/to-fifo.md`);
  await Deno.symlink("folder.md", `${dir.path}/out/to-folder.md`);
  await makeSocket(`${dir.path}/out/socket.md`);
  assertEquals(paths(dir.path, "out/*.md", "out/fifo.md", "out/to-fifo.md"), ["out/1.md"]);
  assertEquals(readArtifacts({ root: dir.path, globs: ["out/*"] }).length, 1);
});

Deno.test("listArtifacts() follows links that stay inside, and names those that do not", async () => {
  await using dir = await makeTestDir("artifacts");
  const root = `${dir.path}/project`;
  write(dir.path, { "outside/secret.md": "secret", "project-2/near.md": "near" });
  write(root, { "real/1.md": "whole\n", "out/plain.md": "plain" });
  await Deno.symlink("../real/1.md", `${root}/out/inside.md`);
  await Deno.symlink("../../outside/secret.md", `${root}/out/outside.md`);
  await Deno.symlink("../../project-2/near.md", `${root}/out/near.md`);
  await Deno.symlink("nowhere.md", `${root}/out/dangling.md`);
  await Deno.symlink("loop.md", `${root}/out/loop.md`);
  await Deno.symlink("/dev/zero", `${root}/out/zero.md`);
  const read = readArtifacts({ root, globs: ["out/*.md"] });
  const why = "it is a link that leads out of the project or nowhere";
  assertEquals(Object.fromEntries(read.map((each) => [each.path, each.problems])), {
    "out/dangling.md": [why],
    "out/inside.md": [],
    "out/loop.md": [why],
    "out/near.md": [why],
    "out/outside.md": [why],
    "out/plain.md": [],
  });
  const hashes = read.map((each) => each.sha256);
  assert(!hashes.includes(hashBytes(new TextEncoder().encode("secret"))), "it was read");
  const inside = read.find((each) => each.path === "out/inside.md");
  assertEquals(inside?.sha256, hashBytes(new TextEncoder().encode("whole\n")));
  assertEquals(inside?.bytes, 6);
});

Deno.test("listArtifacts() goes through a named link to a folder only while inside", async () => {
  await using dir = await makeTestDir("artifacts");
  const root = `${dir.path}/project`;
  write(dir.path, { "outside/secret.md": "secret" });
  write(root, { "real/1.md": "1" });
  await Deno.symlink("real", `${root}/latest`);
  await Deno.symlink("../outside", `${root}/escape`);
  await Deno.symlink(".", `${root}/real/self`);
  assertEquals(paths(root, "latest/*.md"), ["latest/1.md"]);
  assertEquals(paths(root, "latest/1.md"), ["latest/1.md"]);
  assertEquals(paths(root, "escape/*.md", "escape/secret.md", "escape/**"), []);
  assertEquals(paths(root, "../outside/*.md", "../outside/secret.md"), []);
  // A pattern follows no link, or one file would be counted under several names.
  assertEquals(paths(root, "*/1.md"), ["real/1.md"]);
  assertEquals(paths(root, "**/*.md"), ["real/1.md"]);
});

Deno.test("listArtifacts() refuses a glob that matches far too much", () => {
  // Counted without making so many files: the same folder is listed by a stub.
  const original = Deno.readDirSync;
  const lstat = Deno.lstatSync;
  try {
    Deno.readDirSync = () =>
      Array.from({ length: ARTIFACTS_MAX + 1 }, (_, i) => ({
        name: `${i}.md`,
        isFile: true,
        isDirectory: false,
        isSymlink: false,
      })).values();
    const info = lstat("/");
    Deno.lstatSync = () => ({ ...info, isFile: true, isDirectory: false, isSymlink: false });
    assertThrows(
      () => listArtifacts({ root: "/nowhere", globs: ["*.md"] }),
      RangeError,
      'Cannot watch the outputs: "*.md" matches more than 100000 files',
    );
  } finally {
    Deno.readDirSync = original;
    Deno.lstatSync = lstat;
  }
});

Deno.test("readArtifacts() hashes each output, and says what is wrong with it", async () => {
  await using dir = await makeTestDir("artifacts");
  write(dir.path, { whole: "line\nEND\n", half: "line\nE", empty: "", other: "END no more" });
  assertEquals(problems(dir.path), { empty: ["it is empty"], half: [], other: [], whole: [] });
  assertEquals(problems(dir.path, { minBytes: 7 }), {
    empty: ["it is empty"],
    half: ["it has 6 bytes; a whole one has at least 7"],
    other: [],
    whole: [],
  });
  assertEquals(problems(dir.path, { endsWith: "END", emptyAllowed: true, minBytes: 1 }), {
    empty: [],
    half: ['it does not end with "END"'],
    other: ['it does not end with "END"'],
    whole: [],
  });
  const [one] = readArtifacts({ root: dir.path, globs: ["whole"] });
  const info = await Deno.stat(`${dir.path}/whole`);
  assertEquals(one, {
    path: "whole",
    bytes: 9,
    sha256: hashBytes(new TextEncoder().encode("line\nEND\n")),
    mtimeMs: info.mtime?.getTime() ?? -1,
    inode: info.ino,
    problems: [],
  });
});

Deno.test("endsWith overlooks white space after the mark, unless the mark itself ends with it", async () => {
  await using dir = await makeTestDir("artifacts");
  const holds = (text: string, endsWith: string) => {
    Deno.writeTextFileSync(`${dir.path}/file`, text);
    return problems(dir.path, { endsWith }).file?.length === 0;
  };
  assertEquals(holds("END", "END"), true);
  assertEquals(holds("END\n", "END"), true);
  assertEquals(holds("END\r\n\t \n", "END"), true);
  assertEquals(holds(`END${"\n".repeat(4000)}`, "END"), true);
  assertEquals(holds("END.", "END"), false);
  assertEquals(holds("XEND", "END"), true);
  assertEquals(holds("EN", "END"), false);
  assertEquals(holds("text\n", "\n"), true);
  assertEquals(holds("text", "\n"), false);
  assertEquals(holds("END\n", "END\n"), true);
  assertEquals(holds("END\n\n", "END\n"), false);
  assertEquals(holds("END", "END\n"), false);
  assertEquals(holds("das Ende — fertig ✓", "— fertig ✓"), true);
  assertEquals(holds(`${"ü".repeat(50_000)}fin🎈\n`, "fin🎈"), true);
  // Cut inside the last character of the mark.
  const cut = new TextEncoder().encode("fin🎈").subarray(0, 6);
  await Deno.writeFile(`${dir.path}/file`, cut);
  assertEquals(problems(dir.path, { endsWith: "fin🎈" }).file?.length, 1);
  // Bytes that are no text do not hide a mark.
  await Deno.writeFile(`${dir.path}/file`, new Uint8Array([255, 254, 0, 69, 78, 68]));
  assertEquals(problems(dir.path, { endsWith: "END" }).file, []);
});

/** Lets the system refuse some files while `act` runs, by the end of their path. */
function refusing<T>(errors: Record<string, Error>, act: () => T): T {
  const original = Deno.realPathSync;
  try {
    Deno.realPathSync = (path) => {
      const name = Object.keys(errors).find((each) => `${path}`.endsWith(each));
      if (name !== undefined) throw errors[name];
      return original(path);
    };
    return act();
  } finally {
    Deno.realPathSync = original;
  }
}

Deno.test("readArtifacts() leaves out what goes meanwhile, and says what cannot be read", async () => {
  await using dir = await makeTestDir("artifacts");
  write(dir.path, { closed: "xy", gone: "x", good: "x" });
  const errors = {
    closed: new Deno.errors.PermissionDenied("not yours"),
    gone: new Deno.errors.NotFound("gone"),
  };
  const read = refusing(errors, () => readArtifacts({ root: dir.path, globs: ["*"] }));
  assertEquals(read.map(({ path, bytes, problems }) => [path, bytes, problems]), [
    ["closed", 2, ["it cannot be read: not yours"]],
    ["good", 1, []],
  ]);
  assertEquals(read[0]?.sha256, hashBytes(new Uint8Array(0)));
});

Deno.test("artifactSignature() changes with each step of progress, and only then", () => {
  const one: ArtifactGlimpse = { path: "a", bytes: 1, mtimeMs: 5, inode: 9, strayLink: false };
  const base = artifactSignature([one]);
  assertEquals(artifactSignature([{ ...one }]), base);
  const others: ArtifactGlimpse[][] = [
    [],
    [one, { ...one, path: "b" }],
    [{ ...one, path: "b" }],
    [{ ...one, bytes: 2 }],
    [{ ...one, mtimeMs: 6 }],
    [{ ...one, inode: 8 }],
    [{ ...one, inode: null }],
  ];
  assertEquals(new Set([base, ...others.map(artifactSignature)]).size, others.length + 1);
});

Deno.test("a look at 1,000 outputs takes a few milliseconds, because it is done all the time", async () => {
  await using dir = await makeTestDir("artifacts");
  write(dir.path, Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`out/${i}.md`, "x"])));
  // Folders that cannot hold an output are not even read.
  write(dir.path, Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`lib/${i}/x.js`, ""])));
  const spec = { root: dir.path, globs: ["*/[0-9]*.md"] };
  assertEquals(listArtifacts(spec).length, 1000);
  const times = Array.from({ length: 9 }, () => {
    const beganMs = systemClock.nowMs();
    artifactSignature(listArtifacts(spec));
    return systemClock.nowMs() - beganMs;
  }).sort((a, b) => a - b);
  // About 5 ms on an idle machine; the bound is for a busy one.
  assert((times[0] ?? Infinity) < 40, `${times.map((ms) => ms.toFixed(1)).join(" ")} ms`);
});

// A workspace that is made fresh again, whatever a run has done to it.

import { assertEquals } from "@std/assert";
import { ALONE } from "../lab/file_crew.ts";
import { hashFile, systemClock } from "../lab/mod.ts";
import { makeTestDir } from "../tests/support/temp_dir.ts";
import { FreshCopy } from "./fresh_copy.ts";

const FILES: Record<string, string> = {
  "run.sh": "echo run\n",
  "src/a.txt": "aaaa\n",
  "src/b.txt": "bbbb\n",
  "src/deep/c.txt": "cccc\n",
};

interface Place extends AsyncDisposable {
  copy: FreshCopy;
  workspace: string;
}

async function makePlace(): Promise<Place> {
  const dir = await makeTestDir("fresh");
  const root = `${dir.path}/failure-lab-0123456789abcdef`;
  const pristine = `${root}/pristine`;
  const workspace = `${root}/work/project`;
  const hashes = new Map<string, string>();
  for (const [path, text] of Object.entries(FILES)) {
    const full = `${pristine}/${path}`;
    await Deno.mkdir(full.slice(0, full.lastIndexOf("/")), { recursive: true });
    await Deno.writeTextFile(full, text);
    await Deno.utime(full, 1000, 1000);
    hashes.set(path, hashFile(full).sha256);
  }
  await Deno.symlink("src/a.txt", `${pristine}/link`);
  await Deno.chmod(`${pristine}/run.sh`, 0o755);
  const copy = new FreshCopy({
    pristine,
    workspace,
    labRoot: root,
    hashes,
    clock: systemClock,
    crew: ALONE,
  });
  return { copy, workspace, [Symbol.asyncDispose]: () => dir[Symbol.asyncDispose]() };
}

/** Everything that can be seen of the workspace. */
function picture(workspace: string): string[] {
  const lines: string[] = [];
  const look = (folder: string) => {
    for (const entry of Deno.readDirSync(`${workspace}/${folder}`)) {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      const full = `${workspace}/${path}`;
      const info = Deno.lstatSync(full);
      const mode = ((info.mode ?? 0) & 0o7777).toString(8);
      const mtimeMs = info.mtime?.getTime();
      if (entry.isSymlink) lines.push(`${path} -> ${Deno.readLinkSync(full)}`);
      else if (entry.isDirectory) {
        lines.push(`${path}/ ${mode} ${mtimeMs}`);
        look(path);
      } else lines.push(`${path} ${mode} ${mtimeMs} ${Deno.readTextFileSync(full)}`);
    }
  };
  look("");
  return lines.sort();
}

/** What runs do, and how the workspace is made fresh after it. */
const DEEDS: Record<string, [how: string, deed: (dir: string) => void]> = {
  "nothing": ["mended", () => {}],
  "outputs in a new folder": ["mended", (dir) => {
    Deno.mkdirSync(`${dir}/out/deep`, { recursive: true });
    Deno.writeTextFileSync(`${dir}/out/deep/1.txt`, "1");
  }],
  "a file beside others": ["mended", (dir) => Deno.writeTextFileSync(`${dir}/src/new.txt`, "new")],
  "a changed file": ["mended", (dir) => Deno.writeTextFileSync(`${dir}/src/a.txt`, "other\n")],
  "a file changed in secret": ["mended", (dir) => {
    // The same length, and the old time put back.
    Deno.writeTextFileSync(`${dir}/src/a.txt`, "AAAA\n");
    Deno.utimeSync(`${dir}/src/a.txt`, 1000, 1000);
  }],
  "a removed file": ["mended", (dir) => Deno.removeSync(`${dir}/src/b.txt`)],
  "a file replaced by rename": ["mended", (dir) => {
    Deno.writeTextFileSync(`${dir}/src/.a`, "aaaa\n");
    Deno.utimeSync(`${dir}/src/.a`, 1000, 1000);
    Deno.renameSync(`${dir}/src/.a`, `${dir}/src/a.txt`);
  }],
  "other rights": ["mended", (dir) => Deno.chmodSync(`${dir}/run.sh`, 0o600)],
  "a new time": ["mended", (dir) => Deno.utimeSync(`${dir}/src/deep/c.txt`, 5, 5)],
  "a link out": ["mended", (dir) => Deno.symlinkSync("/etc", `${dir}/src/etc`)],
  "a changed link": ["cloned", (dir) => {
    Deno.removeSync(`${dir}/link`);
    Deno.symlinkSync("/etc", `${dir}/link`);
  }],
  "a removed folder": ["cloned", (dir) => Deno.removeSync(`${dir}/src/deep`, { recursive: true })],
  "a file for a folder": ["cloned", (dir) => {
    Deno.removeSync(`${dir}/src/deep`, { recursive: true });
    Deno.writeTextFileSync(`${dir}/src/deep`, "no folder");
  }],
  "a file in and out again": ["cloned", (dir) => {
    Deno.writeTextFileSync(`${dir}/src/gone`, "x");
    Deno.removeSync(`${dir}/src/gone`);
  }],
  "everything gone": ["cloned", (dir) => Deno.removeSync(dir, { recursive: true })],
};

for (const [name, [how, deed]] of Object.entries(DEEDS)) {
  Deno.test(`refresh() makes the workspace fresh after: ${name}`, async () => {
    await using place = await makePlace();
    assertEquals(await place.copy.refresh(), "cloned");
    const fresh = picture(place.workspace);
    place.copy.use();
    deed(place.workspace);
    assertEquals(await place.copy.refresh(), how);
    assertEquals(picture(place.workspace), fresh);
    // And once more, from what was mended.
    place.copy.use();
    deed(place.workspace);
    await place.copy.refresh();
    assertEquals(picture(place.workspace), fresh);
  });
}

Deno.test("refresh() does nothing to a workspace in which nothing ran", async () => {
  await using place = await makePlace();
  await place.copy.refresh();
  assertEquals(await place.copy.refresh(), "untouched");
});

Deno.test("touched() names new and changed files", async () => {
  await using place = await makePlace();
  assertEquals(await place.copy.touched(), null);
  await place.copy.refresh();
  place.copy.use();
  assertEquals(await place.copy.touched(), []);
  await Deno.mkdir(`${place.workspace}/out`);
  await Deno.writeTextFile(`${place.workspace}/out/1.txt`, "1");
  await Deno.writeTextFile(`${place.workspace}/run.sh`, "echo other\n");
  assertEquals((await place.copy.touched())?.sort(), ["out/1.txt", "run.sh"]);
});

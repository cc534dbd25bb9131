// A workspace that is made fresh again, whatever a run has done to it.

import { assertEquals } from "@std/assert";
import { systemClock } from "../lab/mod.ts";
import { makeTestDir } from "../tests/support/temp_dir.ts";
import { FreshCopy } from "./fresh_copy.ts";
import { copyProject } from "./project_copy.ts";

const FILES: Record<string, string> = {
  "run.sh": "echo run\n",
  "src/a.txt": "aaaa\n",
  "src/b.txt": "bbbb\n",
  "src/deep/c.txt": "cccc\n",
};

interface Place extends AsyncDisposable {
  copy: FreshCopy;
  project: string;
  workspace: string;
}

async function makePlace(): Promise<Place> {
  const dir = await makeTestDir("fresh");
  const root = `${dir.path}/failure-lab-0123456789abcdef`;
  const projectDir = `${dir.path}/project`;
  const workspace = `${root}/work/project`;
  await Deno.mkdir(root);
  for (const [path, text] of Object.entries(FILES)) {
    const full = `${projectDir}/${path}`;
    await Deno.mkdir(full.slice(0, full.lastIndexOf("/")), { recursive: true });
    await Deno.writeTextFile(full, text);
    await Deno.utime(full, 1000, 1000);
  }
  await Deno.symlink("src/a.txt", `${projectDir}/link`);
  await Deno.chmod(`${projectDir}/run.sh`, 0o755);
  const copy = new FreshCopy({
    projectDir,
    workspace,
    labRoot: root,
    fill: async (to) => {
      const { manifest } = await copyProject({ from: projectDir, to, labRoot: root });
      return new Map(manifest.map(({ path, sha256 }) => [path, sha256]));
    },
    clock: systemClock,
  });
  return {
    copy,
    project: projectDir,
    workspace,
    [Symbol.asyncDispose]: () => dir[Symbol.asyncDispose](),
  };
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

Deno.test("refresh() does not put back a file that the project has changed since", async () => {
  await using place = await makePlace();
  await place.copy.refresh();
  place.copy.use();
  await Deno.remove(`${place.workspace}/src/a.txt`);
  await Deno.writeTextFile(`${place.project}/src/a.txt`, "AAAA\n");
  // Whoever fills the workspace is asked again, and finds out about it (see rehearse.ts).
  assertEquals(await place.copy.refresh(), "cloned");
});

Deno.test("backup() is a second copy, made once", async () => {
  await using place = await makePlace();
  await place.copy.refresh();
  const dir = await place.copy.backup();
  assertEquals(picture(dir), picture(place.workspace));
  await Deno.writeTextFile(`${place.project}/src/a.txt`, "other\n");
  assertEquals(await place.copy.backup(), dir);
  assertEquals(await Deno.readTextFile(`${dir}/src/a.txt`), "aaaa\n");
});

// The git state of a folder.

import { assert, assertEquals, assertMatch } from "@std/assert";
import { makeTestDir } from "../tests/support/temp_dir.ts";
import { gitState } from "./git_state.ts";
import { findProgram, SYSTEM_PATH } from "./system_tools.ts";

const hasGit = findProgram("git", SYSTEM_PATH, "/") !== null;

async function git(cwd: string, ...args: string[]): Promise<string> {
  const identity = ["-c", "user.name=test", "-c", "user.email=test@example.invalid"];
  const { success, stdout, stderr } = await new Deno.Command("git", {
    args: [...identity, "-c", "commit.gpgsign=false", ...args],
    cwd,
    env: { PATH: SYSTEM_PATH, HOME: cwd, GIT_CONFIG_NOSYSTEM: "1" },
    clearEnv: true,
  }).output();
  assert(success, new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout).trim();
}

Deno.test({
  name: "gitState() gives head and whether something is changed, and changes nothing",
  ignore: !hasGit,
  async fn() {
    await using dir = await makeTestDir("git");
    const { path } = dir;
    await git(path, "init", "-q");
    assertEquals(await gitState(path), null, "no commit yet");
    await Deno.writeTextFile(`${path}/a.txt`, "1");
    await git(path, "add", "a.txt");
    await git(path, "commit", "-q", "-m", "one");
    const head = await git(path, "rev-parse", "HEAD");
    assertMatch(head, /^[0-9a-f]{40,64}$/);
    const index = await Deno.readFile(`${path}/.git/index`);
    assertEquals(await gitState(path), { head, dirty: false });
    await Deno.writeTextFile(`${path}/new.txt`, "not under control");
    assertEquals(await gitState(path), { head, dirty: false });
    await Deno.writeTextFile(`${path}/a.txt`, "2");
    assertEquals(await gitState(path), { head, dirty: true });
    await Deno.mkdir(`${path}/deep`);
    assertEquals(await gitState(`${path}/deep`), { head, dirty: true });
    assertEquals(await Deno.readFile(`${path}/.git/index`), index, "the index was written");
  },
});

Deno.test({
  name: "gitState() runs no program that the folder's own settings name",
  ignore: !hasGit,
  async fn() {
    await using dir = await makeTestDir("git");
    const { path } = dir;
    await git(path, "init", "-q");
    await Deno.writeTextFile(`${path}/a.txt`, "1");
    await git(path, "add", "a.txt");
    await git(path, "commit", "-q", "-m", "one");
    await Deno.writeTextFile(`${path}/monitor`, `#!/bin/sh\ntouch ${path}/was-run\n`);
    await Deno.chmod(`${path}/monitor`, 0o755);
    await git(path, "config", "core.fsmonitor", `${path}/monitor`);
    assertEquals((await gitState(path))?.dirty, false);
    assertEquals([...Deno.readDirSync(path)].some((entry) => entry.name === "was-run"), false);
  },
});

Deno.test("gitState() is null where there is no git tree and where there is no folder", async () => {
  await using dir = await makeTestDir("git");
  assertEquals(await gitState(dir.path), null);
  assertEquals(await gitState(`${dir.path}/nothing`), null);
});

Deno.test({
  name: "gitState() is null when git may not be run",
  permissions: { read: true },
  async fn() {
    assertEquals(await gitState("/"), null);
  },
});

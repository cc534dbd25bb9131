import { assert, assertEquals } from "@std/assert";
import { makeTestDir } from "../tests/support/temp_dir.ts";
import { compareSnapshots, snapshotWatchList } from "./containment.ts";
import { defaultWatchList, WATCHED_AGENT_FILES, WATCHED_SHELL_FILES } from "./watch_list.ts";

Deno.test("the list has the program, the project, and what the next session starts from", () => {
  const roots = defaultWatchList({ projectDir: "/home/u/p", kitPath: "/opt/lab", home: "/home/u" });
  const paths = roots.map((root) => root.path);
  for (
    const path of ["/opt/lab", "/home/u/p", "/home/u/.bashrc", "/home/u/.claude.json"]
      .concat("/home/u/.claude/settings.json", "/home/u/.ssh/authorized_keys")
  ) assert(paths.includes(path), path);
  // The driver may read what is watched, and may not write to it: never the whole home folder.
  assert(!paths.includes("/home/u"));
  assertEquals(new Set(paths).size, paths.length);
});

Deno.test("no list of names is absolute or leads up, and no private key is opened", () => {
  for (const file of [...WATCHED_SHELL_FILES, ...WATCHED_AGENT_FILES]) {
    assert(!file.startsWith("/") && !file.includes(".."), file);
  }
  const roots = defaultWatchList({ kitPath: "/opt/lab", home: "/home/u" });
  const ssh = roots.filter((root) => root.path.startsWith("/home/u/.ssh"));
  assertEquals(
    ssh.map(({ path, depth }) => [path.slice(13), depth]),
    [["/authorized_keys", "full"], ["/config", "full"], ["", "entries"]].map(
      ([path, depth]) => [path?.replace(/^\//, ""), depth],
    ),
  );
});

Deno.test("without a home only the program and the project are watched", () => {
  for (const home of [null, "", "/", "relative"]) {
    assertEquals(
      defaultWatchList({ projectDir: "/p", kitPath: "/k", home }).map((root) => root.path),
      ["/k", "/p"],
    );
  }
  assertEquals(defaultWatchList({ projectDir: "/k", kitPath: "/k", home: null }), [
    { path: "/k", depth: "full" },
  ]);
});

Deno.test("what a running session writes is no change, what a stray job would write is one", async () => {
  await using dir = await makeTestDir("home");
  const home = dir.path;
  await Deno.mkdir(`${home}/.claude/projects`, { recursive: true });
  await Deno.mkdir(`${home}/kit/dist`, { recursive: true });
  await Deno.writeTextFile(`${home}/.claude.json`, '{"numStartups":1,"mcpServers":{}}');
  await Deno.writeTextFile(`${home}/.bash_history`, "ls\n");
  const roots = defaultWatchList({ kitPath: `${home}/kit`, home });
  const before = await snapshotWatchList(roots);
  await Deno.writeTextFile(`${home}/.claude.json`, '{"numStartups":2,"mcpServers":{}}');
  await Deno.writeTextFile(`${home}/.claude/projects/session.jsonl`, "{}\n");
  await Deno.writeTextFile(`${home}/.bash_history`, "ls\nls\n");
  await Deno.writeTextFile(`${home}/kit/dist/failure-lab`, "built");
  const quiet = await snapshotWatchList(roots);
  assertEquals(compareSnapshots(before, quiet), []);
  await Deno.writeTextFile(`${home}/.claude/settings.json`, '{"hooks":{}}');
  await Deno.writeTextFile(`${home}/.claude.json`, '{"numStartups":2,"mcpServers":{"x":{}}}');
  await Deno.writeTextFile(`${home}/.bashrc`, "");
  const changes = compareSnapshots(before, await snapshotWatchList(roots));
  assertEquals(changes.map(({ path, change }) => [path.slice(home.length + 1), change]), [
    [".bashrc", "added"],
    [".claude.json", "modified"],
    [".claude/settings.json", "added"],
  ]);
});

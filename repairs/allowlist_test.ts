import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { inFolder, isPidGone, isThere, namesIn, read, textOf, write } from "./_test_tools.ts";
import { runInScope, type RunInScopeOptions, ScopeGuard } from "./allowlist.ts";
import { RepairError } from "./errors.ts";

/** A job's folder with something in it, and a neighbour that is none of its business. */
function prepare(dir: string): { root: string; outside: string } {
  const root = `${dir}/job`;
  write(`${root}/out/old.txt`, "old\n");
  write(`${root}/src/a.txt`, "a\n");
  write(`${root}/src/b.txt`, "b\n");
  write(`${dir}/outside/theirs.txt`, "theirs\n");
  Deno.chmodSync(`${root}/src/a.txt`, 0o640);
  Deno.symlinkSync("b.txt", `${root}/src/link`);
  return { root, outside: `${dir}/outside` };
}

function run(root: string, script: string, more: Partial<RunInScopeOptions> = {}) {
  return runInScope({
    argv: ["sh", "-c", script],
    root,
    cwd: root,
    allow: ["out"],
    graceMs: 100,
    stdin: "null",
    ...more,
  });
}

/** Everything below a folder as text, to compare. */
function contents(dir: string, at = ""): string[] {
  return namesIn(`${dir}/${at}`).flatMap((name) => {
    const path = at === "" ? name : `${at}/${name}`;
    const info = Deno.lstatSync(`${dir}/${path}`);
    const mode = ((info.mode ?? 0) & 0o777).toString(8);
    if (info.isSymlink) return [`${path} -> ${Deno.readLinkSync(`${dir}/${path}`)}`];
    if (info.isDirectory) return [`${path}/ ${mode}`, ...contents(dir, path)];
    return [`${path} ${mode} ${read(`${dir}/${path}`)}`];
  });
}

Deno.test("runInScope leaves a job that stays in its scope alone, and keeps its exit code", () =>
  inFolder(async (dir) => {
    const { root } = prepare(dir);
    const result = await run(root, "echo new >out/new.txt; ln -s new.txt out/inside; exit 4");
    assertEquals([result.outcome, result.exitCode], ["clean", 4]);
    assertEquals(namesIn(`${root}/out`), ["inside", "new.txt", "old.txt"]);
  }));

for (
  const [name, script] of [
    ["a new file", "echo x >stray.txt; mkdir -p deep/er; echo x >deep/er/stray.txt"],
    ["a changed file", "echo changed >src/a.txt; echo more >>src/b.txt"],
    ["a changed mode", "chmod 777 src/a.txt"],
    ["a removed file and a removed folder", "rm -r src"],
    ["a path with ..", "echo x >out/../src/a.txt; echo x >out/../stray.txt"],
    ["an absolute path", 'echo x >"$PWD/src/a.txt"'],
    [
      "a file swapped for a link that leads out",
      "rm src/a.txt; ln -s ../../outside/theirs.txt src/a.txt",
    ],
    ["a folder swapped for a link that leads out", "rm -r src; ln -s ../outside src"],
    ["a dangling link", "ln -s ../../outside/nothing src/dangling"],
    ["a link that was changed", "ln -sfn ../../outside/theirs.txt src/link"],
  ] as const
) {
  Deno.test(`runInScope puts back ${name}, byte for byte, and keeps the work inside`, () =>
    inFolder(async (dir) => {
      const { root, outside } = prepare(dir);
      const before = contents(root);
      const neighbours = contents(outside);
      const result = await run(root, `${script}; echo done >out/done.txt`);
      assertEquals([result.outcome, result.exitCode], ["reverted", 0]);
      assertEquals(read(`${root}/out/done.txt`), "done\n");
      await Deno.remove(`${root}/out/done.txt`);
      assertEquals(contents(root), before);
      assertEquals(contents(outside), neighbours);
    }));
}

Deno.test("runInScope takes away a link in an allowed place that leads out", () =>
  inFolder(async (dir) => {
    const { root } = prepare(dir);
    const result = await run(root, "ln -s ../../outside out/escape; echo ok >out/ok.txt");
    assertEquals(result.parts[0]?.violations.map((each) => each.kind), ["link-out"]);
    assertEquals(namesIn(`${root}/out`), ["ok.txt", "old.txt"]);
  }));

Deno.test("runInScope tells of a write through a link that was there, without being asked", () =>
  inFolder(async (dir) => {
    const { root, outside } = prepare(dir);
    await Deno.symlink("../../outside", `${root}/out/outbox`);
    const said: string[] = [];
    const result = await run(root, "echo x >out/outbox/escaped.txt", {
      say: (text) => said.push(text),
    });
    assertEquals([result.outcome, result.exitCode], ["outside-changed", 5]);
    assertStringIncludes(said.join("\n"), "To have it put back: --protect");
    assertEquals(namesIn(outside), ["escaped.txt", "theirs.txt"], "it was not declared");
  }));

Deno.test("runInScope undoes a write through a link in a place that was declared as protected", () =>
  inFolder(async (dir) => {
    const { root, outside } = prepare(dir);
    await Deno.symlink("../../outside", `${root}/out/outbox`);
    const before = contents(outside);
    const result = await run(
      root,
      "echo x >out/outbox/escaped.txt; echo x >>out/outbox/theirs.txt; echo in >out/in.txt",
      { protect: [outside], keepDir: `${dir}/kept` },
    );
    assertEquals([result.outcome, result.exitCode], ["reverted", 0]);
    assertEquals(contents(outside), before);
    assertEquals(read(`${root}/out/in.txt`), "in\n");
    assertEquals(
      read(`${dir}/kept${outside}/escaped.txt`),
      "x\n",
      "the lost work can be carried over",
    );
  }));

Deno.test("runInScope restores another work tree with its owner's own edits, and leaves its .git alone", () =>
  inFolder(async (dir) => {
    const main = `${dir}/main`;
    write(`${main}/f`, "1\n");
    write(`${main}/g`, "1\nowner\n");
    write(`${main}/.git/HEAD`, "ref\n");
    const { root } = prepare(dir);
    const result = await run(
      root,
      `echo 2 >${main}/f; rm ${main}/g; echo commit >${main}/.git/log`,
      {
        protect: [main],
      },
    );
    assertEquals(result.outcome, "reverted");
    assertEquals([read(`${main}/f`), read(`${main}/g`)], ["1\n", "1\nowner\n"]);
    assertEquals(read(`${main}/.git/log`), "commit\n");
  }));

Deno.test("runInScope protects a single file", () =>
  inFolder(async (dir) => {
    const { root, outside } = prepare(dir);
    const result = await run(root, `echo x >${outside}/theirs.txt; echo y >${outside}/other.txt`, {
      protect: [`${outside}/theirs.txt`],
    });
    assertEquals(result.outcome, "reverted");
    assertEquals(read(`${outside}/theirs.txt`), "theirs\n");
    assertEquals(isThere(`${outside}/other.txt`), true, "its neighbours are not declared");
  }));

Deno.test("runInScope tells of changes in watched places and does not touch them", () =>
  inFolder(async (dir) => {
    const { root, outside } = prepare(dir);
    const result = await run(root, `echo x >${outside}/theirs.txt`, { watch: [outside] });
    assertEquals([result.outcome, result.exitCode], ["outside-changed", 5]);
    assertEquals(result.outside.map((each) => each.path), [`${outside}/theirs.txt`]);
    assertEquals(read(`${outside}/theirs.txt`), "x\n");
  }));

Deno.test("runInScope compares and reverts nothing while the job still writes", () =>
  inFolder(async (dir) => {
    const { root } = prepare(dir);
    const script = "sh -c 'echo $$ >out/pid; while :; do echo x >>stray; sleep 0.05; done' & " +
      "while ! [ -s out/pid ]; do sleep 0.05; done";
    const result = await run(root, script);
    const pid = Number(await textOf(`${root}/out/pid`));
    try {
      assertEquals([result.outcome, result.exitCode], ["still-running", 3]);
      assertEquals(isThere(`${root}/stray`), true);
    } finally {
      Deno.kill(pid, "SIGKILL");
      await isPidGone(pid);
    }
  }));

Deno.test("ScopeGuard refuses allowed paths that lead out, before anything runs", () =>
  inFolder(async (dir) => {
    const { root, outside } = prepare(dir);
    await Deno.symlink("../outside", `${root}/way-out`);
    for (const allow of ["/etc", "../outside", "out/../..", "way-out"]) {
      await assertRejects(() => ScopeGuard.open({ root, allow: [allow] }), RangeError);
    }
    await assertRejects(
      () => ScopeGuard.open({ root, allow: ["out"], protect: [`${outside}/none`] }),
      RepairError,
      "Cannot protect",
    );
  }));

Deno.test("ScopeGuard reverts nothing at all when one path cannot be put back", () =>
  inFolder(async (dir) => {
    const { root } = prepare(dir);
    await using guard = await ScopeGuard.open({ root, allow: ["out"] });
    write(`${root}/src/a.txt`, "changed\n");
    write(`${root}/src/b.txt`, "changed\n");
    await Deno.remove(`${guard.copiesDir}/copy-0/src/b.txt`);
    const findings = await guard.settle();
    assertEquals(findings.outcome, "refused");
    assertStringIncludes(findings.parts[0]?.refused ?? "", "Nothing was changed");
    assertEquals(read(`${root}/src/a.txt`), "changed\n");
  }));

Deno.test("ScopeGuard leaves no copy behind", () =>
  inFolder(async (dir) => {
    const { root } = prepare(dir);
    const guard = await ScopeGuard.open({ root, allow: ["out"] });
    assertEquals(isThere(`${guard.copiesDir}/copy-0/src/a.txt`), true);
    await guard[Symbol.asyncDispose]();
    assertEquals(isThere(guard.copiesDir), false);
  }));

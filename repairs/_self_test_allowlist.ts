/**
 * The self-test of `allowlist`.
 *
 * @module
 */
import {
  runInScope,
  SCOPE_BROKEN_EXIT,
  type ScopeFindings,
  ScopeGuard,
  type ScopeOptions,
} from "./allowlist.ts";
import { expect, runSelfTest, type SelfTestOptions, type SelfTestResult } from "./self_testing.ts";

async function prepare(dir: string): Promise<{ root: string; outside: string }> {
  const [root, outside] = [`${dir}/job`, `${dir}/outside`];
  for (const folder of [root, outside, `${root}/out`, `${root}/src`]) await Deno.mkdir(folder);
  await Deno.writeTextFile(`${root}/src/a.txt`, "a\n");
  await Deno.writeTextFile(`${outside}/theirs.txt`, "theirs\n");
  return { root, outside };
}

function namesIn(dir: string): string {
  return [...Deno.readDirSync(dir)].map((entry) => entry.name).sort().join();
}

async function guarded(
  options: ScopeOptions,
  job: () => Promise<void>,
): Promise<ScopeFindings> {
  await using guard = await ScopeGuard.open(options);
  await job();
  return await guard.settle();
}

async function insideIsKept(dir: string): Promise<string> {
  const { root } = await prepare(dir);
  const findings = await guarded({ root, allow: ["out"] }, async () => {
    await Deno.writeTextFile(`${root}/out/new.txt`, "new\n");
    await Deno.symlink("new.txt", `${root}/out/link`);
  });
  expect(findings.outcome === "clean", findings.outcome);
  expect(await Deno.readTextFile(`${root}/out/link`) === "new\n", "work inside was lost");
  return "work in the allowed place stayed, a link that stays inside as well";
}

async function outsideOfScopeIsPutBack(dir: string): Promise<string> {
  const { root } = await prepare(dir);
  const findings = await guarded({ root, allow: ["out"] }, async () => {
    await Deno.writeTextFile(`${root}/out/new.txt`, "new\n");
    await Deno.writeTextFile(`${root}/out/../src/a.txt`, "changed\n");
    await Deno.writeTextFile(`${root}/stray.txt`, "stray\n");
  });
  const text = await Deno.readTextFile(`${root}/src/a.txt`);
  expect(findings.outcome === "reverted" && text === "a\n", `${findings.outcome}, "${text}"`);
  const names = namesIn(root);
  expect(names === "out,src", `left: ${names}`);
  return "a changed file is as before, a stray one gone";
}

async function swappedLinkIsNotFollowed(dir: string): Promise<string> {
  const { root, outside } = await prepare(dir);
  const findings = await guarded({ root, allow: ["out"] }, async () => {
    await Deno.remove(`${root}/src`, { recursive: true });
    await Deno.symlink("../outside", `${root}/src`);
    await Deno.symlink("../../outside", `${root}/out/escape`);
  });
  const isLink = (await Deno.lstat(`${root}/src`)).isSymlink;
  expect(!isLink && findings.outcome === "reverted", `${findings.outcome}, link: ${isLink}`);
  const names = namesIn(outside);
  expect(names === "theirs.txt", `the revert wrote outside: ${names}`);
  return "the links are gone, the folder is back, nothing was written through them";
}

async function protectedPlaceIsPutBack(dir: string): Promise<string> {
  const { root, outside } = await prepare(dir);
  await Deno.symlink("../../outside", `${root}/out/outbox`);
  const write = () => Deno.writeTextFile(`${root}/out/outbox/theirs.txt`, "escaped\n");
  const told = await guarded({ root, allow: ["out"] }, write);
  expect(told.outcome === "outside-changed", `not told: ${told.outcome}`);
  await Deno.writeTextFile(`${outside}/theirs.txt`, "theirs\n");
  const findings = await guarded({ root, allow: ["out"], protect: [outside] }, write);
  const text = await Deno.readTextFile(`${outside}/theirs.txt`);
  expect(findings.outcome === "reverted" && text === "theirs\n", `${findings.outcome}, "${text}"`);
  return "a write through a link was told, and put back where it was declared";
}

async function scopeIsCheckedFirst(dir: string): Promise<string> {
  const { root } = await prepare(dir);
  for (const allow of ["/etc", "../outside", "out/../.."]) {
    const isRefused = await ScopeGuard.open({ root, allow: [allow] })
      .then((guard) => guard[Symbol.asyncDispose]().then(() => false), () => true);
    expect(isRefused, `"${allow}" was allowed`);
  }
  const guard = await ScopeGuard.open({ root, allow: ["out"] });
  const copies = guard.copiesDir;
  await guard[Symbol.asyncDispose]();
  const isLeft = await Deno.stat(copies).then(() => true, () => false);
  expect(!isLeft, `a copy was left in "${copies}"`);
  return "scopes that lead out are refused, and no copy stays";
}

async function foreignGitIsLeftAlone(dir: string): Promise<string> {
  const { root, outside } = await prepare(dir);
  await Deno.mkdir(`${outside}/.git`);
  const findings = await guarded({ root, allow: ["out"], protect: [outside] }, async () => {
    await Deno.writeTextFile(`${outside}/.git/commit`, "kept\n");
    await Deno.writeTextFile(`${outside}/stray`, "stray\n");
  });
  const names = namesIn(outside);
  expect(findings.outcome === "reverted" && names === ".git,theirs.txt", names);
  expect(namesIn(`${outside}/.git`) === "commit", "a commit of a linked work tree was undone");
  return "a protected place is as before, commits in its .git stayed";
}

async function liveWritersAreNotReverted(dir: string): Promise<string> {
  const { root } = await prepare(dir);
  const script = "sh -c 'echo $$ >out/pid; while :; do echo x >>stray; sleep 0.05; done' & " +
    "while ! [ -s out/pid ]; do sleep 0.05; done";
  const argv = ["sh", "-c", script];
  const result = await runInScope({ argv, root, cwd: root, allow: ["out"], stdin: "null" });
  const pid = Number(await Deno.readTextFile(`${root}/out/pid`));
  // It is ours: the job that was just started says that this is its child.
  if (result.job.left.some((each) => each.pid === pid)) Deno.kill(pid, "SIGKILL");
  expect(result.outcome === "still-running" && result.exitCode === 3, result.outcome);
  return "nothing is reverted while the job still writes";
}

async function outsideIsNoSuccess(dir: string): Promise<string> {
  const { root, outside } = await prepare(dir);
  const argv = ["sh", "-c", `echo x >${outside}/theirs.txt`];
  const result = await runInScope({ argv, root, cwd: root, allow: ["out"], watch: [outside] });
  expect(result.exitCode === SCOPE_BROKEN_EXIT, `exit ${result.exitCode}`);
  return `a change outside ends with exit ${result.exitCode}`;
}

/** Tries `allowlist` in small folders. Takes about two seconds. Requires `ps`. */
export function selfTestAllowlist(options: SelfTestOptions = {}): Promise<SelfTestResult> {
  return runSelfTest(
    "allowlist",
    {
      "work inside is kept": insideIsKept,
      "what is outside the scope is put back": outsideOfScopeIsPutBack,
      "a revert never follows a link out": swappedLinkIsNotFollowed,
      "a protected place is put back from its own copy": protectedPlaceIsPutBack,
      "the .git of a protected place is left alone": foreignGitIsLeftAlone,
      "scopes that lead out are refused": scopeIsCheckedFirst,
      "nothing is reverted under a living writer": liveWritersAreNotReverted,
      "a change outside is no success": outsideIsNoSuccess,
    },
    options,
    3,
  );
}

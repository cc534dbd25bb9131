/**
 * The self-test of `allowlist`.
 *
 * @module
 */
import { type ScopeFindings, ScopeGuard, type ScopeOptions } from "./allowlist.ts";
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

/** Tries `allowlist` in small folders. Takes less than a second. Requires `ps`. */
export function selfTestAllowlist(options: SelfTestOptions = {}): Promise<SelfTestResult> {
  return runSelfTest("allowlist", {
    "work inside is kept": insideIsKept,
    "what is outside the scope is put back": outsideOfScopeIsPutBack,
    "a revert never follows a link out": swappedLinkIsNotFollowed,
    "a protected place is put back from its own copy": protectedPlaceIsPutBack,
  }, options);
}

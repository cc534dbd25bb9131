// The living stranger whose number comes to stand in a lock: it must never outlive the lab.

import { assert, assertEquals } from "@std/assert";
import { waitUntil } from "../../lab/clock.ts";
import { denoRunArgs } from "../../tests/support/child_deno.ts";
import { cleanUpAfterEach, endChildAfterTest, isPidAlive } from "../../tests/support/processes.ts";
import { makeTestDir } from "../../tests/support/temp_dir.ts";
import { startStranger } from "./_stranger.ts";

cleanUpAfterEach();

Deno.test("a stranger lives until it is let go, carries no marker, and says how it was ended", async () => {
  const stranger = startStranger();
  assert(await isPidAlive(stranger.pid));
  assertEquals(stranger.ended(), null);
  await stranger[Symbol.asyncDispose]();
  assertEquals(await isPidAlive(stranger.pid), false);
  await using other = startStranger();
  Deno.kill(other.pid, "SIGTERM");
  assert(await waitUntil(() => other.ended() !== null, { limitMs: 5000 }));
  assertEquals(other.ended(), "SIGTERM");
});

Deno.test("a stranger ends when the lab is killed", async () => {
  await using dir = await makeTestDir("stranger");
  const script = `${dir.path}/lab.ts`;
  const module = new URL("./_stranger.ts", import.meta.url).href;
  await Deno.writeTextFile(
    script,
    `import { startStranger } from ${JSON.stringify(module)};
console.log(startStranger().pid);
setInterval(() => {}, 1000);
`,
  );
  const [run = "run", ...args] = denoRunArgs(script);
  const lab = new Deno.Command(Deno.execPath(), {
    args: [run, "--no-check", ...args],
    stdin: "null",
    stdout: "piped",
    stderr: "null",
    detached: true,
  }).spawn();
  endChildAfterTest(lab);
  const reader = lab.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const pid = Number((await reader.read()).value);
  await reader.cancel();
  assert(await isPidAlive(pid), `the stranger (pid ${pid}) was not started`);
  lab.kill("SIGKILL");
  await lab.status;
  const isGone = await waitUntil(async () => !await isPidAlive(pid), { limitMs: 5000 });
  assert(isGone, "the stranger outlived the lab");
});

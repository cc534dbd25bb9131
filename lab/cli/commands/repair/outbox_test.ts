import { assertEquals, assertStringIncludes } from "@std/assert";
import {
  inFolder,
  isPidGone,
  read,
  runWrapper,
  startWrapper,
  textOf,
  write,
} from "../../../../repairs/_test_tools.ts";

const SEND = 'echo "$FAILURE_LAB_KEY" >>sent';

function send(dir: string, flags: string[], script = SEND) {
  return runWrapper(dir, [
    "outbox",
    "send",
    "--box",
    "box",
    "--key",
    "unit-1",
    ...flags,
    "--",
    "sh",
    "-c",
    script,
  ]);
}

function status(dir: string) {
  return runWrapper(dir, ["outbox", "status", "--box", "box"]);
}

Deno.test("repair outbox send runs the command once per key, and per content", () =>
  inFolder(async (dir) => {
    write(`${dir}/m`, "text");
    for (let run = 1; run <= 2; run++) assertEquals((await send(dir, ["--content", "m"])).code, 0);
    assertEquals(read(`${dir}/sent`).trim().split("\n").length, 1);
    write(`${dir}/m`, "text, corrected");
    const { code, stderr } = await send(dir, ["--content", "m"]);
    assertEquals([code, stderr], [0, ""]);
    assertEquals(read(`${dir}/sent`).trim().split("\n").length, 2);
    assertEquals((await status(dir)).code, 0);
  }));

Deno.test("repair outbox send does not send again what a killed run may have sent", () =>
  inFolder(async (dir) => {
    {
      await using wrapper = await startWrapper(
        dir,
        [
          "outbox",
          "send",
          "--box",
          "box",
          "--key",
          "unit-1",
          "--",
          "sh",
          "-c",
          `${SEND}; echo $$ >pid; sleep 60`,
        ],
      );
      const pid = Number(await textOf(`${dir}/pid`));
      wrapper.child.kill("SIGKILL");
      await isPidGone(pid);
    }
    assertEquals((await status(dir)).code, 3);
    const again = await send(dir, []);
    assertEquals(again.code, 3, again.stderr);
    assertStringIncludes(again.stderr, "neither sent again nor marked as sent");
    // The log does not name it: that alone proves nothing.
    assertEquals((await send(dir, ["--sent-log", "other"])).code, 3);
    const found = await send(dir, ["--sent-log", "sent"]);
    assertEquals(found.code, 0);
    assertStringIncludes(found.stderr, "was sent before");
    assertEquals(read(`${dir}/sent`), "unit-1\n");
  }));

Deno.test("repair outbox send parks with 75 while the other side asks it to wait, also after a restart", () =>
  inFolder(async (dir) => {
    const busy = 'echo x >>calls; echo 3600 >"$FAILURE_LAB_RETRY_AFTER_FILE"; exit 75';
    for (let run = 1; run <= 3; run++) {
      const { code, stderr } = await send(dir, ["--max-wait", "1s"], busy);
      assertEquals(code, 75);
      assertStringIncludes(stderr, "is parked after 1 attempts");
    }
    assertEquals(read(`${dir}/calls`), "x\n");
    const list = await status(dir);
    assertEquals(list.code, 75);
    assertStringIncludes(list.stdout, "waiting  unit-1  (1 attempts, next in");
  }));

Deno.test("repair outbox settle takes a person's answer", () =>
  inFolder(async (dir) => {
    assertEquals((await send(dir, [], "exit 65")).code, 1);
    assertEquals((await status(dir)).code, 1);
    const settle = (...flags: string[]) =>
      runWrapper(dir, ["outbox", "settle", "--box", "box", "--key", "unit-1", ...flags]);
    assertEquals((await settle()).code, 2);
    assertEquals((await settle("--not-sent")).code, 0);
    assertEquals((await send(dir, [])).code, 0);
    assertEquals(read(`${dir}/sent`), "unit-1\n");
  }));

Deno.test("repair outbox says what it needs before it does anything", () =>
  inFolder(async (dir) => {
    for (
      const [args, words] of [
        [["send", "--box", "b", "--", "true"], "--key unit-03"],
        [["send", "--key", "k", "--", "true"], "--box .outbox"],
        [["send", "--box", "b", "--key", "k", "--match", "x", "--", "true"], "add --sent-log"],
        [
          ["send", "--box", "b", "--key", "k", "--sent-log", "l", "--match", "(", "--", "true"],
          "--match cannot be used",
        ],
        [["send", "--box", "b", "--key", "k", "--not-sent", "x", "--", "true"], "exit codes"],
        [["status", "--box", "none"], "no such folder"],
      ] as const
    ) {
      const { code, stderr } = await runWrapper(dir, ["outbox", ...args]);
      assertEquals(code, 2, stderr);
      assertStringIncludes(stderr, words);
    }
    const missing = await runWrapper(dir, [
      "outbox",
      "send",
      "--box",
      "b",
      "--key",
      "k",
      "--",
      "no-such-program",
    ]);
    assertEquals(missing.code, 127);
    assertEquals(
      (await runWrapper(dir, ["outbox", "status", "--box", "b"])).code,
      75,
      "and it may be tried again",
    );
  }));

import { assertEquals, assertThrows } from "@std/assert";
import { systemClock } from "../lab/mod.ts";
import { inFolder, namesIn, read, write } from "./_test_tools.ts";
import { sendByJob, sentLogProbe, shellProbe } from "./outbox_job.ts";

const TOKEN = "cd".repeat(16);

function sh(script: string, cwd: string) {
  return sendByJob({
    job: { argv: ["sh", "-c", script], cwd, graceMs: 100 },
    clock: systemClock,
    scratchDir: cwd,
    notSentCodes: [75, 7],
    refusedCodes: [65],
  });
}

Deno.test("sendByJob believes exit codes only where they were declared", () =>
  inFolder(async (dir) => {
    for (
      const [script, sent] of [["exit 0", true], ["exit 75", false], ["exit 7", false]]
        .concat([["exit 65", false], ["exit 1", "unknown"], ["kill -9 $$", "unknown"]]) as [
          string,
          boolean | "unknown",
        ][]
    ) {
      const answer = await sh(script, dir).send({ key: "a", number: 1, token: TOKEN });
      assertEquals(answer.sent, sent, script);
      assertEquals(answer.isRefused === true, script === "exit 65");
    }
  }));

Deno.test("sendByJob hands over key and attempt, and takes Retry-After back", () =>
  inFolder(async (dir) => {
    const script = 'echo "$FAILURE_LAB_KEY $FAILURE_LAB_ATTEMPT" >seen; ' +
      'echo 90 >"$FAILURE_LAB_RETRY_AFTER_FILE"; exit 75';
    const answer = await sh(script, dir).send({ key: "unit 3", number: 2, token: TOKEN });
    assertEquals([read(`${dir}/seen`), answer.retryAfterMs], ["unit 3 2\n", 90_000]);
    assertEquals(namesIn(dir), ["seen"]);
  }));

Deno.test("sendByJob calls a command that cannot be started not sent, and ends the run", () =>
  inFolder(async (dir) => {
    const job = sendByJob({
      job: { argv: ["no-such-program"], cwd: dir },
      clock: systemClock,
      scratchDir: dir,
      notSentCodes: [],
      refusedCodes: [],
    });
    const answer = await job.send({ key: "a", number: 1, token: TOKEN });
    assertEquals([answer.sent, answer.endsRun, job.startError()?.exitCode], [false, true, 127]);
  }));

Deno.test("shellProbe: exit 0 sent, 1 not sent, all else unknown", async () => {
  assertEquals(await shellProbe('test "$FAILURE_LAB_KEY" = a')("a"), true);
  assertEquals(await shellProbe('test "$FAILURE_LAB_KEY" = a')("b"), false);
  assertEquals(await shellProbe("exit 2")("a"), "unknown");
  assertEquals(await shellProbe("kill -9 $$")("a"), "unknown");
});

Deno.test("sentLogProbe finds a key as a word, and calls its absence what it was told to", () =>
  inFolder(async (dir) => {
    const log = `${dir}/sent.log`;
    assertEquals(await sentLogProbe(log, undefined, false)("a"), "unknown");
    assertEquals(await sentLogProbe(log, undefined, true)("a"), false);
    write(log, "ok unit-1\nok unit-12 (2)\n");
    assertEquals(await sentLogProbe(log, undefined, true)("unit-1"), true);
    assertEquals(await sentLogProbe(log, undefined, true)("unit-2"), false);
    assertEquals(await sentLogProbe(log, undefined, true)("unit"), false);
    assertEquals(await sentLogProbe(log, "^ok {key} \\(\\d\\)$", true)("unit-12"), true);
    assertEquals(await sentLogProbe(log, "^ok {key}$", true)("unit-1."), false);
    assertThrows(() => sentLogProbe(log, "(", true), SyntaxError);
  }));

Deno.test("sentLogProbe does not believe absence in a log whose last line was cut", () =>
  inFolder(async (dir) => {
    write(`${dir}/sent.log`, "ok a\nok un");
    assertEquals(await sentLogProbe(`${dir}/sent.log`, undefined, true)("unit-1"), "unknown");
    assertEquals(await sentLogProbe(`${dir}/sent.log`, undefined, true)("a"), true);
  }));

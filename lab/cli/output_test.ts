import { assertEquals, assertStringIncludes } from "@std/assert";
import type { Clock } from "../clock.ts";
import { VERSION } from "../version.ts";
import { captureOutput, createOutput, type Sink, visible } from "./output.ts";

function sinkThat(write: (bytes: Uint8Array) => number): Sink {
  return { isTerminal: () => false, writeSync: write };
}

function clockAt(now: { ms: number }): Clock {
  return {
    nowMs: () => now.ms,
    wallMs: () => now.ms,
    wallIso: () => "2026-01-01T00:00:00.000Z",
    sleep: () => Promise.resolve(),
  };
}

Deno.test("control characters, colours and bidi overrides become visible", () => {
  assertEquals(
    visible("a\x1b[31mb\x07\x9b\u202e\u2066\r\n\tc"),
    "a\\x1b[31mb\\x07\\x9b\\u{202e}\\u{2066}\\r\\n\\tc",
  );
  assertEquals(visible("x\u200b\ufeff\ud800y\u{e0041}"), "x\\u{200b}\\u{feff}\\u{d800}y\\u{e0041}");
  assertEquals(visible("two\nlines\x00", { keepNewlines: true }), "two\nlines\\x00");
  assertEquals(visible("naïve 日本 👩‍🚀 ✓ \\n"), "naïve 日本 👩‍🚀 ✓ \\n");
});

Deno.test("texts end with one line end and go to their stream", () => {
  const output = captureOutput();
  output.out("one");
  output.out("two\n");
  output.err("three");
  assertEquals([output.stdout, output.stderr], ["one\ntwo\n", "three\n"]);
});

Deno.test("a write in pieces arrives whole, also when the pipe is full for a moment", () => {
  const pieces: number[] = [];
  let turns = 0;
  const output = createOutput({
    stdout: sinkThat((bytes) => {
      if (++turns % 2 === 0) throw new Deno.errors.WouldBlock("full");
      const some = bytes.subarray(0, 3);
      pieces.push(...some);
      return some.length;
    }),
  });
  output.out("größer als drei");
  assertEquals(new TextDecoder().decode(new Uint8Array(pieces)), "größer als drei\n");
});

Deno.test("a reader that left is no error, and nothing more is sent to it", () => {
  let calls = 0;
  const output = createOutput({
    stdout: sinkThat(() => {
      calls += 1;
      throw new Deno.errors.BrokenPipe("gone");
    }),
  });
  output.out("one");
  output.out("two");
  assertEquals([calls, output.problem], [1, null]);
});

Deno.test("a full disk behind standard output is kept as a problem", () => {
  const output = createOutput({
    stdout: sinkThat(() => {
      throw new Error("No space left on device (os error 28)");
    }),
  });
  output.out("one");
  assertStringIncludes(output.problem ?? "", "No space left");
});

Deno.test("progress rewrites one line, at a bounded rate, and only on a terminal", () => {
  const now = { ms: 0 };
  const output = captureOutput({ isTerminal: true, columns: 50, clock: clockAt(now) });
  output.progress(`unit 1 ${"x".repeat(80)}`);
  output.progress("too soon");
  now.ms += 100;
  output.progress("unit 2\n\x1b[5m");
  output.out("done");
  const lines = output.stderr.split("\r\x1b[2K");
  assertEquals(lines.length, 4, "two progress lines and one that clears");
  assertEquals(lines[1]?.length, 49);
  assertEquals(lines[2], "unit 2\\n\\x1b[5m");
  assertEquals(lines[3], "");
  const piped = captureOutput({ clock: clockAt(now) });
  piped.progress("unit 1");
  piped.clearProgress();
  assertEquals(piped.stderr, "");
});

Deno.test("colour needs a terminal, no NO_COLOR, and a terminal that is not dumb", () => {
  const paint = (isTerminal: boolean, vars: Record<string, string>) => {
    const sink: Sink = { isTerminal: () => isTerminal, writeSync: (bytes) => bytes.length };
    return createOutput({ stdout: sink, stderr: sink, env: (name) => vars[name] }).style.red("x");
  };
  assertEquals(paint(true, { TERM: "xterm" }), "\x1b[31mx\x1b[39m");
  assertEquals(paint(true, { TERM: "dumb" }), "x");
  assertEquals(paint(true, { NO_COLOR: "1" }), "x");
  assertEquals(paint(true, { NO_COLOR: "" }), "\x1b[31mx\x1b[39m");
  assertEquals(paint(false, {}), "x");
});

Deno.test("the width is the terminal's, or COLUMNS, or 100, and never absurd", () => {
  const width = (isTerminal: boolean, columns: number | null, asked?: string) => {
    const sink: Sink = { isTerminal: () => isTerminal, writeSync: (bytes) => bytes.length };
    return createOutput({
      stdout: sink,
      stderr: sink,
      columns: () => columns,
      env: (name) => name === "COLUMNS" ? asked : undefined,
    }).width;
  };
  assertEquals(width(true, 120), 120);
  assertEquals(width(true, 5), 40);
  assertEquals(width(false, 120), 100);
  assertEquals(width(false, null, "72"), 72);
  assertEquals(width(false, null, "nonsense"), 100);
  assertEquals(width(true, null), 100);
});

Deno.test("a program whose reader leaves goes on, and a full disk is told", async () => {
  const module = JSON.stringify(new URL("./output.ts", import.meta.url).href);
  const script = `import { createOutput } from ${module};
    const output = createOutput();
    for (let line = 0; line < 50_000; line++) output.out("line " + line);
    Deno.stderr.writeSync(new TextEncoder().encode("end " + output.problem));`;
  const sh = async (line: string) => {
    const { code, stderr } = await new Deno.Command("bash", {
      args: ["-c", line],
      env: { DENO: Deno.execPath(), SCRIPT: script },
    }).output();
    return { code, stderr: new TextDecoder().decode(stderr) };
  };
  const program = 'printf %s "$SCRIPT" | "$DENO" run --quiet --no-config --no-lock --allow-env -';
  const gone = await sh(`${program} | head -n 1; exit \${PIPESTATUS[1]}`);
  assertEquals(gone, { code: 0, stderr: "end null" });
  const full = await sh(`${program} > /dev/full`);
  assertStringIncludes(full.stderr, "end No space left");
});

Deno.test("--version is answered by main.ts alone", async () => {
  const main = new URL("../../main.ts", import.meta.url).pathname;
  const { code, stdout } = await new Deno.Command(Deno.execPath(), {
    // Without an import map nothing of lab/cli could be loaded.
    args: ["run", "--quiet", "--no-config", "--no-lock", main, "--version"],
  }).output();
  assertEquals([code, new TextDecoder().decode(stdout)], [0, `failure-lab ${VERSION}\n`]);
});

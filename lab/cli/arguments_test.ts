import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { parseArguments } from "./arguments.ts";
import type { Command } from "./command.ts";
import { UsageError } from "./errors.ts";
import { parseBytes, parseDurationMs } from "./flag_values.ts";
import { CONTRACT_FLAGS, LAB_FLAGS, REPEAT_FLAG, REPORT_FLAGS, SEED_FLAG } from "./flags.ts";

const probe: Command = {
  name: "probe",
  summary: "Try the arguments",
  usage: "probe [ID…] [flags] -- ARGV",
  description: "Only for tests.",
  flags: [...REPORT_FLAGS, ...LAB_FLAGS, REPEAT_FLAG, SEED_FLAG, ...CONTRACT_FLAGS],
  positionals: [{ name: "ID", summary: "an id", repeatable: true }],
  rest: { name: "ARGV", summary: "the command" },
  examples: [],
  run: () => Promise.resolve(0),
};

const strictProbe: Command = {
  ...probe,
  flags: [],
  positionals: [{ name: "KIND", summary: "what", required: true, choices: ["check", "mend"] }, {
    name: "FILE",
    summary: "which file",
    required: true,
  }],
  rest: { name: "ARGV", summary: "the command", required: true },
};

function refusal(args: string[], command = probe): string {
  return assertThrows(() => parseArguments(command, args), UsageError).message;
}

Deno.test("a value may follow its flag or stand after an equals sign", () => {
  for (
    const args of [["--report", "out/x y", "01", "--json"], ["--json", "--report=out/x y", "01"]]
  ) {
    const { flags, positionals } = parseArguments(probe, args);
    assertEquals(flags.string("report"), "out/x y");
    assertEquals(flags.boolean("json"), true);
    assertEquals(positionals, ["01"]);
  }
});

Deno.test("values keep equals signs, newlines and a leading dash after the equals sign", () => {
  const { flags } = parseArguments(probe, ["--start=a=b\nc", "--label=-x", "--ends-with=--"]);
  assertEquals(flags.string("start"), "a=b\nc");
  assertEquals(flags.string("label"), "-x");
  assertEquals(flags.string("ends-with"), "--");
});

Deno.test("repeatable flags collect in order, and text that looks like a number stays text", () => {
  const { flags, positionals } = parseArguments(probe, [
    "--watch=1",
    "007",
    "--watch",
    "2",
    "--env",
    "A=",
    "--env=B=1=2",
  ]);
  assertEquals(flags.strings("watch"), ["1", "2"]);
  assertEquals(flags.strings("env"), ["A=", "B=1=2"]);
  assertEquals(flags.strings("artifacts"), []);
  assertEquals(positionals, ["007"]);
});

Deno.test("switches take no word away from the arguments", () => {
  const { flags, positionals } = parseArguments(probe, ["--json", "true", "--keep=false", "false"]);
  assertEquals(flags.boolean("json"), true);
  assertEquals(flags.boolean("keep"), false);
  assertEquals(flags.given("keep"), true);
  assertEquals(positionals, ["true", "false"]);
});

Deno.test("a negatable switch can be set both ways and has a default", () => {
  assertEquals(parseArguments(probe, []).flags.boolean("control"), true);
  assertEquals(parseArguments(probe, []).flags.given("control"), false);
  assertEquals(parseArguments(probe, ["--no-control"]).flags.boolean("control"), false);
  assertEquals(parseArguments(probe, ["--control"]).flags.boolean("control"), true);
});

Deno.test("what stands after -- is not touched", () => {
  const { rest, positionals } = parseArguments(probe, ["--json", "--", "--json", "--", "-h", ""]);
  assertEquals(rest, ["--json", "--", "-h", ""]);
  assertEquals(positionals, []);
});

Deno.test("unknown flags are refused with the nearest known one", () => {
  assertStringIncludes(refusal(["--repot", "x"]), `"--repot". Did you mean --report?`);
  assertStringIncludes(refusal(["--jsno"]), "Did you mean --json?");
  assertStringIncludes(refusal(["-keep"]), "Did you mean --keep?");
  assertStringIncludes(refusal(["--no-contrl"]), "Did you mean --no-control?");
  assertStringIncludes(refusal(["--version"]), "failure-lab --version");
  for (const flag of ["--frobnicate", "--no-json", "-x", "-5", "--=x", "---", "--keep.it"]) {
    assertStringIncludes(refusal([flag]), "does not know the flag");
  }
  assert(!refusal(["--frobnicate"]).includes("Did you mean"));
});

Deno.test("prototype names are unknown flags and change nothing", () => {
  for (
    const name of ["__proto__", "constructor", "__proto__.polluted", "constructor.prototype.p"]
  ) {
    for (const args of [[`--${name}=1`], [`--${name}`, "1"], [`--no-${name}`]]) {
      assertStringIncludes(refusal(args), "does not know the flag");
    }
  }
  assertEquals(({} as Record<string, unknown>)["polluted"], undefined);
  assertEquals(({} as Record<string, unknown>)["p"], undefined);
});

Deno.test("a flag that may be given once is refused the second time", () => {
  assertStringIncludes(refusal(["--report", "a", "--report=a"]), "--report may be given only once");
  assertStringIncludes(refusal(["--json", "--json"]), "--json may be given only once");
  assertStringIncludes(refusal(["--control", "--no-control"]), "--control may be given only once");
});

Deno.test("missing and empty values are refused", () => {
  assertStringIncludes(refusal(["--report"]), "last argument");
  assertStringIncludes(refusal(["--report", "--json"]), `"--json" follows it`);
  assertStringIncludes(refusal(["--report", "--", "x"]), "last argument");
  assertStringIncludes(refusal(["--report="]), "empty value");
  assertStringIncludes(refusal(["--report", ""]), "empty value");
  assertStringIncludes(refusal(["--json=yes"]), "is a switch");
  assertStringIncludes(refusal(["--no-control=true"]), "is a switch");
  assertStringIncludes(refusal(["--json="]), "is a switch");
});

Deno.test("numbers are read strictly", () => {
  assertEquals(parseArguments(probe, ["--repeat=20"]).flags.integer("repeat"), 20);
  assertEquals(parseArguments(probe, []).flags.integer("repeat"), 1);
  assertEquals(parseArguments(probe, []).flags.integer("seed"), undefined);
  for (const text of ["0", "1001", "3.5", "1e2", "0x10", "ten", " 3", "3 ", "NaN", "--5"]) {
    assertStringIncludes(refusal([`--repeat=${text}`]), "whole number from 1 to 1000");
  }
});

Deno.test("durations take a unit or the unit in the flag's name", () => {
  const read = (text: string) =>
    parseArguments(probe, [`--run-seconds=${text}`]).flags.durationMs("run-seconds");
  assertEquals(["60", "60s", "1m", "0.5", "500ms", "1.5h"].map(read), [
    60_000,
    60_000,
    60_000,
    500,
    500,
    5_400_000,
  ]);
  assertEquals(
    parseArguments(probe, ["--run-seconds=90s"]).flags.durationSeconds("run-seconds"),
    90,
  );
  for (const text of ["", "s", "-1", "1 m", "1d", "1m30s", "1e3", "Infinity", "1."]) {
    assertEquals(parseDurationMs(text, "s"), null, text);
  }
  assertStringIncludes(refusal(["--run-seconds=2d"]), "number of seconds");
  assertStringIncludes(refusal(["--run-seconds=0"]), "must be from 10 ms");
  assertStringIncludes(refusal(["--run-seconds=25h"]), "to 24 h");
});

Deno.test("sizes are whole bytes", () => {
  assertEquals(["0", "12", "10KB", "1 KiB", "1.5MiB", "2GB", "5b"].map(parseBytes), [
    0,
    12,
    10_000,
    1024,
    1_572_864,
    2e9,
    5,
  ]);
  for (const text of ["", "KB", "-1", "1.5", "1TBB", "1.0001KiB"]) {
    assertEquals(parseBytes(text), null, text);
  }
  assertStringIncludes(refusal(["--min-bytes=lots"]), "whole number of bytes");
});

Deno.test("environment pairs and JSON pointers are checked at once", () => {
  assertStringIncludes(refusal(["--env", "LANG"]), "NAME=VALUE");
  assertStringIncludes(refusal(["--env", "1A=x"]), "NAME=VALUE");
  assertStringIncludes(refusal(["--done-at", "done"]), "JSON pointer");
  assertEquals(parseArguments(probe, ["--done-at=/a~1b/0"]).flags.string("done-at"), "/a~1b/0");
});

Deno.test("arguments that are not flags are counted and checked", () => {
  const ok = parseArguments(strictProbe, ["check", "state.json", "--", "true"]);
  assertEquals(ok.positionals, ["check", "state.json"]);
  assertStringIncludes(refusal(["check", "--", "x"], strictProbe), "needs FILE");
  assertStringIncludes(refusal(["chekc", "f", "--", "x"], strictProbe), "Did you mean check?");
  assertStringIncludes(
    refusal(["check", "f", "g", "--", "x"], strictProbe),
    "takes only KIND FILE",
  );
  assertStringIncludes(refusal(["check", "", "--", "x"], strictProbe), "is empty");
  assertStringIncludes(refusal(["check", "f"], strictProbe), `needs ARGV after "--"`);
  assertStringIncludes(refusal(["check", "f", "--"], strictProbe), `needs ARGV after "--"`);
  assertStringIncludes(refusal(["check", "f", "--", ""], strictProbe), "is empty");
  const { rest: _, ...noRest } = probe;
  assertStringIncludes(refusal(["--", "x"], noRest), "takes nothing after");
});

Deno.test("help wins over everything that is wrong, but not after --", () => {
  assertEquals(parseArguments(probe, ["--bogus", "--report", "--help"]).help, true);
  assertEquals(parseArguments(probe, ["-h"]).help, true);
  assertEquals(parseArguments(probe, ["--", "--help"]).help, false);
});

Deno.test("error texts show control characters instead of sending them", () => {
  const message = refusal(["--repeat=\x1b[31m1\n"]);
  assert(!message.includes("\x1b"), message);
  assertStringIncludes(message, `"\\x1b[31m1\\n"`);
});

Deno.test("asking for a flag that a command does not declare is our own mistake", () => {
  const { flags } = parseArguments(probe, []);
  assertThrows(() => flags.string("json"), Error, "declares no string flag --json");
  assertThrows(() => flags.given("nonsense"), Error, "declares no flag --nonsense");
});

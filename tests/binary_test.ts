// The built program as a person meets it: help, demo, drills, usage errors. In any folder, with only
// the system's programs in PATH.

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { waitUntil } from "../lab/clock.ts";
import { readProcessTable } from "../lab/process_table.ts";
import { sendSignal } from "../lab/signals.ts";
import { EXIT_CODE_TEXTS } from "../lab/verdict.ts";
import { Bench, finished } from "./support/binary.ts";
import { cleanUpAfterEach } from "./support/processes.ts";

cleanUpAfterEach();

Deno.test("--version and --help answer on standard output", async () => {
  await using bench = await Bench.make("version");
  const version = await bench.run(["--version"]);
  assertEquals([version.code, version.stderr], [0, ""]);
  assertMatch(version.stdout, /^failure-lab \d+\.\d+\.\d+\n$|^\d+\.\d+\.\d+\n$/);
  const help = await bench.run(["--help"]);
  assertEquals([help.code, help.stderr], [0, ""]);
  for (const [code, text] of EXIT_CODE_TEXTS) {
    assert(help.stdout.includes(String(code)), `${code} ${text}`);
  }
  for (const name of ["demo", "drills", "rehearse", "replay", "repair"]) {
    assertMatch(help.stdout, new RegExp(`^ {2}${name} `, "m"));
  }
});

Deno.test("every command explains itself with an example", async () => {
  await using bench = await Bench.make("help");
  const { stdout } = await bench.run(["--help"]);
  const names = [...stdout.matchAll(/^ {2}([a-z][a-z-]+) {2,}/gm)].map((match) => match[1] ?? "");
  assert(names.length >= 12, `commands found: ${names.join(", ")}`);
  for (const name of names) {
    const help = await bench.run([name, "--help"]);
    assertEquals([help.code, help.stderr], [0, ""], name);
    assertStringIncludes(help.stdout, `failure-lab ${name}`);
  }
});

Deno.test("demo shows three failures and their recoveries, and leaves a report", async () => {
  await using bench = await Bench.make("demo");
  const { code, stdout, stderr } = await bench.run(["demo"], { cwd: "/" });
  assertEquals(code, 0, stdout + stderr);
  for (const id of ["01-hung-process", "03-torn-checkpoint", "06-hollow-success"]) {
    assertStringIncludes(stdout, id);
  }
  assertStringIncludes(stdout, "12/12");
  assertStringIncludes(stdout.replace(/\s+/g, " "), "not a sandbox");
  const report = /\S+\/report\.json/.exec(stdout)?.[0];
  assert(report !== undefined && report.startsWith(bench.path), `report at ${report}`);
  const html = await Deno.readTextFile(report.replace(/json$/, "html"));
  assertStringIncludes(html, "<!DOCTYPE html>");
  const runs = JSON.parse(await Deno.readTextFile(report)).runs;
  assertEquals(runs.length, 6);
  for (const { expected } of runs) assertEquals(expected.met, true);
});

Deno.test("demo works where nothing but the temp dir can be written", async () => {
  await using bench = await Bench.make("bare");
  const child = new Deno.Command(Deno.env.get("FAILURE_LAB_BINARY") ?? "", {
    args: ["demo"],
    cwd: "/",
    env: { PATH: "/usr/bin:/bin", TMPDIR: bench.temp },
    clearEnv: true,
    stdin: "null",
  });
  const { code, stdout } = await child.output();
  assertEquals(code, 0, new TextDecoder().decode(stdout));
});

Deno.test("drills by id give JSON and the keyed verdicts, in each half", async () => {
  await using bench = await Bench.make("drills");
  const { code, set } = await bench.runJson(["drills", "03", "hollow-success", "--seed", "7"]);
  assertEquals(code, 0);
  const seen = set.runs.map(({ record, grade }) =>
    `${record.subject} ${record.half} ${grade.verdict}`
  );
  assertEquals(seen, [
    "03-torn-checkpoint broken fail",
    "03-torn-checkpoint repaired pass",
    "06-hollow-success broken fail",
    "06-hollow-success repaired pass",
  ]);
  const disarmed = await bench.runJson(["drills", "01", "--half", "disarmed"]);
  assertEquals(disarmed.set.runs.map(({ grade }) => grade.verdict), ["unproven"]);
});

const USAGE: [string[], RegExp][] = [
  [["demmo"], /demo/],
  [["drills", "--repaet", "2"], /--repeat/],
  [["drills", "--seed", "1", "--seed", "2"], /--seed/],
  [["drills", "03-torn-chekpoint"], /03-torn-checkpoint/],
  [["drills", "--half", "brokn"], /broken/],
  [["drills", "--repeat", "0"], /--repeat/],
  [["show"], /show/],
  [["show", "99"], /99/],
  [["rehearse", "--run-seconds", "soon"], /--run-seconds/],
  [["drills", "--report"], /--report/],
];

for (const [args, says] of USAGE) {
  Deno.test(`'${args.join(" ")}' is refused with exit 2 and a way on`, async () => {
    await using bench = await Bench.make("usage");
    const { code, stdout, stderr } = await bench.run(args);
    assertEquals([code, stdout], [2, ""], stderr);
    assertMatch(stderr, says);
    assertEquals(/\n\s+at /.test(stderr), false, `a stack trace: ${stderr}`);
  });
}

Deno.test("Ctrl-C ends drills, cleans up and gives 130 with a report of what was done", async () => {
  await using bench = await Bench.make("interrupt");
  const child = bench.start(["drills", "--repeat", "50"]);
  assert(await waitUntil(() => bench.labs().length > 0, { limitMs: 10_000 }));
  // A keeper and a worker at least: a half is on its way.
  const children = async () =>
    (await readProcessTable()).filter((row) => row.ppid === child.pid && row.name === "sh");
  assert(await waitUntil(async () => (await children()).length > 1, { limitMs: 10_000 }));
  await sendSignal("INT", [child.pid]);
  const done = await finished(child, 20_000);
  assertEquals([done.code, done.signal], [130, null], done.stderr);
});

import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { parseContract } from "../../../rehearsal/mod.ts";
import { PRESETS } from "../../../rehearsal/presets/mod.ts";
import { makeTestDir } from "../../../tests/support/temp_dir.ts";
import { systemClock } from "../../clock.ts";
import { parseArguments } from "../arguments.ts";
import { UsageError } from "../errors.ts";
import { captureOutput } from "../output.ts";
import { command, initProject, type Input } from "./init.ts";

const SCRIPT = "for i in 1 2 3; do echo x > out/$i.md; done\necho >> state.jsonl\n";

/** Somebody who types these lines; with `null` the input ends. */
function typing(lines: readonly (string | null)[], isTerminal = true): Input & { left: number } {
  const queue = [...lines];
  return {
    isTerminal,
    readLine: () => Promise.resolve(queue.shift() ?? null),
    close: () => Promise.resolve(),
    get left() {
      return queue.length;
    },
  };
}

async function init(
  args: readonly string[],
  input: Input = typing([], false),
  signal: AbortSignal = new AbortController().signal,
) {
  const out = captureOutput();
  const { flags, positionals, rest } = parseArguments(command, args);
  const code = await initProject({
    flags,
    positionals,
    rest,
    out,
    signal,
    interruptedBy: () => null,
    clock: systemClock,
    rerun: "",
  }, input);
  return { code, stdout: out.stdout, stderr: out.stderr };
}

async function projectDir(name: string, files: Record<string, string> = { "run.sh": SCRIPT }) {
  const dir = await makeTestDir(name);
  for (const [path, text] of Object.entries(files)) {
    await Deno.writeTextFile(`${dir.path}/${path}`, text);
  }
  const file = `${dir.path}/failure-lab.json`;
  return {
    path: dir.path,
    file,
    contract: async () => JSON.parse(await Deno.readTextFile(file)),
    names: () => [...Deno.readDirSync(dir.path)].map((entry) => entry.name).sort(),
    [Symbol.asyncDispose]: () => dir[Symbol.asyncDispose](),
  };
}

Deno.test("init --yes writes what it found, as a contract that holds, and says where from", async () => {
  await using dir = await projectDir("init-yes");
  const { code, stdout, stderr } = await init(["--yes", "--project", dir.path]);
  assertEquals([code, stderr], [0, ""]);
  assertEquals(await dir.contract(), {
    start: "sh run.sh",
    resume: "sh run.sh",
    artifacts: { paths: ["out/*.md"], count: 3 },
    checkpoint: { path: "state.jsonl" },
  });
  parseContract(await dir.contract(), "it");
  assertEquals(stdout.split("\n")[0], dir.file);
  assertStringIncludes(stdout, "- start: found in run.sh");
  assertStringIncludes(stdout, '"lock", for stale locks: {"lock": {"path": "run.lock"}}');
  assertStringIncludes(stdout, `failure-lab doctor --project ${dir.path}`);
  assertEquals(dir.names(), ["failure-lab.json", "run.sh"], "nothing else stays behind");
});

Deno.test("init asks with the default shown; Enter takes it, - leaves a part out", async () => {
  await using dir = await projectDir("init-ask");
  const input = typing(["", "sh again.sh", "", "12", "y", "-", "my.lock", ""]);
  const { code, stderr } = await init(["--project", dir.path], input);
  assertEquals([code, input.left], [0, 0]);
  assertEquals(await dir.contract(), {
    start: "sh run.sh",
    resume: "sh again.sh",
    artifacts: { paths: ["out/*.md"], count: 12, sameAsControl: true },
    lock: { path: "my.lock" },
  });
  assertStringIncludes(stderr, "How is the job started?");
  assertStringIncludes(stderr, "Enter takes: sh run.sh   (found in run.sh)");
  assertStringIncludes(stderr, "Enter takes: state.jsonl   (the script names it; - for none)");
});

Deno.test("init guesses the rest from the command that was chosen", async () => {
  await using dir = await projectDir("init-choice", {
    "run.sh": SCRIPT,
    "other.sh": "seq 9 | xargs -I% sh -c 'echo > pages/%.html'\n",
    Makefile: "all:\n\tmkdir -p out\n",
  });
  const input = typing(["sh other.sh", "", "", "", "", "", "", ""]);
  await init(["--project", dir.path], input);
  const { start, resume, artifacts } = await dir.contract();
  assertEquals([start, resume, artifacts.paths, artifacts.count], [
    "sh other.sh",
    "sh other.sh",
    ["pages/*.html"],
    9,
  ]);
  await init(["--project", dir.path, "--force"], typing(["1", "", "", "", "", "", "", ""]));
  assertEquals((await dir.contract()).start, "make -s all");
});

Deno.test("init asks again after an answer that no contract may hold, and gives up at last", async () => {
  await using dir = await projectDir("init-wrong");
  const answers = ["", "", "/etc/*", "../x", "out/*", "many", "0", "3", "maybe", "n", "", "", ""];
  const { code, stderr } = await init(["--project", dir.path], typing(answers));
  assertEquals(code, 0);
  assertEquals((await dir.contract()).artifacts, { paths: ["out/*"], count: 3 });
  for (
    const text of ["must be a path inside the project", "whole number", "at least 1", "y or n"]
  ) {
    assertStringIncludes(stderr, text);
  }
  await Deno.remove(dir.file);
  const error = await assertRejects(
    () => init(["--project", dir.path], typing(["", "", ...Array(9).fill("/x")])),
    UsageError,
  );
  assertStringIncludes(error.message, "Nothing was written");
  assertEquals(dir.names(), ["run.sh"]);
});

Deno.test("init writes nothing at the end of the input or after Ctrl-C", async () => {
  await using dir = await projectDir("init-stop");
  for (let lines = 0; lines < 8; lines++) {
    await assertRejects(
      () => init(["--project", dir.path], typing(Array(lines).fill(""))),
      UsageError,
      "Nothing was written",
    );
    const stop = new AbortController();
    const input = typing([]);
    let count = 0;
    input.readLine = () => {
      if (count++ < lines) return Promise.resolve("");
      stop.abort(new DOMException("Ctrl-C", "AbortError"));
      return Promise.reject(stop.signal.reason);
    };
    await assertRejects(
      () => init(["--project", dir.path], input, stop.signal),
      DOMException,
      "Ctrl-C",
    );
    assertEquals(dir.names(), ["run.sh"], `after ${lines} answers`);
  }
  const late = new AbortController();
  late.abort(new DOMException("Ctrl-C", "AbortError"));
  await assertRejects(() => init(["--yes", "--project", dir.path], undefined, late.signal));
  assertEquals(dir.names(), ["run.sh"]);
});

Deno.test("init without a terminal says --yes, and replaces a file only when told so", async () => {
  await using dir = await projectDir("init-there");
  const error = await assertRejects(() => init(["--project", dir.path]), UsageError);
  assertStringIncludes(error.message, "--yes");
  await Deno.writeTextFile(dir.file, "mine\n");
  const refused = await assertRejects(() => init(["--yes", "--project", dir.path]), UsageError);
  assertStringIncludes(refused.message, "--force replaces it");
  const no = await init(["--project", dir.path], typing([""]));
  assertEquals([no.code, await Deno.readTextFile(dir.file)], [2, "mine\n"]);
  await assertRejects(() => init(["--project", dir.path], typing(["y", "", null])), UsageError);
  assertEquals(await Deno.readTextFile(dir.file), "mine\n");
  assertEquals((await init(["--project", dir.path], typing(["y", ...Array(8).fill("")]))).code, 0);
  assertEquals((await dir.contract()).start, "sh run.sh");
  await Deno.writeTextFile(dir.file, "mine\n");
  assertEquals((await init(["--yes", "--force", "--project", dir.path])).code, 0);
  assertEquals((await dir.contract()).start, "sh run.sh");
});

Deno.test("init lays the flags over what it found, and does not ask for them", async () => {
  await using dir = await projectDir("init-flags");
  const flags = ["--start", "make x", "--count", "5", "--done-at", "/n", "--checkpoint", "s.json"];
  const input = typing(["", "", "", "", ""]);
  const { code } = await init(["--project", dir.path, ...flags, "--no-control"], input);
  assertEquals([code, input.left], [0, 0]);
  const contract = await dir.contract();
  assertEquals([contract.start, contract.artifacts.count, contract.control], ["make x", 5, false]);
  assertEquals(contract.checkpoint, { path: "s.json", doneAt: "/n" });
});

Deno.test("init needs a start, a folder, and parts that make a contract", async () => {
  await using dir = await projectDir("init-needs", { "README.md": "x" });
  const cases: [string[], string][] = [
    [["--project", dir.path], "Say it with --start"],
    [["--project", `${dir.path}/README.md`], "is not a folder"],
    [["--project", `${dir.path}/no`], "is not a folder"],
    [["--project", dir.path, "--start", "x", "--count", "2", "--kill-after", "3"], "killAfterArt"],
    [["--project", dir.path, "--start", "x", "--config", `${dir.path}/no/x.json`], "--config FILE"],
  ];
  for (const [args, text] of cases) {
    const error = await assertRejects(() => init(["--yes", ...args]), Error);
    assertStringIncludes(error.message, text);
  }
  assertEquals(dir.names(), ["README.md"]);
  const { stdout } = await init(["--yes", "--project", dir.path, "--start", "x"]);
  assertStringIncludes(stdout, "- artifacts: no folder of outputs was found");
  assertEquals((await dir.contract()).artifacts, { paths: ["out/*"] });
});

Deno.test("init knows every preset by its name", async () => {
  const flag = command.flags.find((each) => each.name === "preset");
  assert(flag?.kind === "string");
  assertEquals(flag.choices, PRESETS.map((preset) => preset.id));
  await using dir = await projectDir("init-preset");
  const { stdout } = await init(["--yes", "--preset", "claude", "--project", dir.path]);
  assertStringIncludes((await dir.contract()).start, "claude -p");
  assertStringIncludes(stdout, "costs money in every run");
});

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { REPLAYS } from "../../../rehearsal/mod.ts";
import { cleanUpAfterEach } from "../../../tests/support/processes.ts";
import { makeTestDir } from "../../../tests/support/temp_dir.ts";
import { systemClock } from "../../clock.ts";
import { readProcessTable } from "../../process_table.ts";
import { parseArguments } from "../arguments.ts";
import { captureOutput } from "../output.ts";
import { checkMachine, type Machine, thisMachine } from "./_doctor_machine.ts";
import { command, examine } from "./doctor.ts";

cleanUpAfterEach();

function machine(dir: string, more: Partial<Machine> = {}): Machine {
  return { ...thisMachine(systemClock, [`${dir}/reports/one`]), tmpdir: dir, ...more };
}

async function doctor(dir: string, args: readonly string[], more: Partial<Machine> = {}) {
  const out = captureOutput();
  const { flags, positionals, rest } = parseArguments(command, args);
  const code = await examine({
    flags,
    positionals,
    rest,
    out,
    signal: new AbortController().signal,
    interruptedBy: () => null,
    clock: systemClock,
    rerun: "",
  }, machine(dir, more));
  return { code, stdout: out.stdout, json: () => JSON.parse(out.stdout) };
}

/** Ids of checks that are not ok. */
async function problems(dir: string, more: Partial<Machine>): Promise<string[]> {
  const checks = await checkMachine(machine(dir, more));
  return checks.filter((check) => check.state !== "ok").map(({ id, state }) => `${id} ${state}`);
}

Deno.test("doctor finds all there on a machine that can run the lab, and leaves nothing", async () => {
  await using dir = await makeTestDir("doctor");
  assertEquals(await problems(dir.path, {}), []);
  const names = (await Array.fromAsync(Deno.readDir(dir.path))).map((entry) => entry.name);
  assertEquals(names, []);
  const left = (await readProcessTable()).filter((row) =>
    row.ppid === Deno.pid && row.name === "sh"
  );
  assertEquals(left, []);
});

Deno.test("doctor names each thing that is lacking, and what to do", async () => {
  await using dir = await makeTestDir("doctor-lacks");
  await Deno.mkdir(`${dir.path}/bin`);
  for (const name of ["ps", "kill", "sh", "sleep"]) {
    await Deno.symlink(`/bin/${name}`, `${dir.path}/bin/${name}`);
  }
  await Deno.writeTextFile(`${dir.path}/file`, "");
  const wrongClock = (offMs: number) => ({
    ...systemClock,
    wallMs: () => systemClock.wallMs() + offMs,
  });
  const unmarked = async () => (await readProcessTable()).map((row) => ({ ...row, marker: null }));
  const cases: [Partial<Machine>, string[]][] = [
    [{ path: `${dir.path}/bin` }, ["awk lacking", "processes lacking"]],
    [{ readTable: () => Promise.resolve([]), clock: quickClock() }, ["processes lacking"]],
    [{ readTable: () => Promise.reject(new Error("no ps")) }, ["processes lacking"]],
    [{ readTable: unmarked, os: "linux" }, ["marker lacking"]],
    [{ readTable: unmarked, os: "darwin" }, ["marker warning"]],
    [{ clock: wrongClock(60_000) }, ["start-times lacking", "file-times lacking"]],
    [{ clock: wrongClock(-1e12) }, ["start-times lacking", "file-times lacking", "clock lacking"]],
    [{ tmpdir: `${dir.path}/nothing` }, ["temp-dir lacking"]],
    [{ freeBytes: () => 5e6 }, ["temp-space lacking"]],
    [{ freeBytes: () => 5e8 }, ["temp-space warning"]],
    [{ freeBytes: () => null }, ["temp-space warning"]],
    [{ reportDirs: [`${dir.path}/file/x/one`] }, ["report-dir lacking"]],
    [
      { reportDirs: [`${dir.path}/file/x/one`, `${dir.path}/reports/one`] },
      ["report-dir warning"],
    ],
  ];
  for (const [more, expected] of cases) {
    assertEquals(await problems(dir.path, more), expected, JSON.stringify(expected));
  }
});

/** A clock on which waiting takes no time. */
function quickClock() {
  let ms = 0;
  return {
    ...systemClock,
    nowMs: () => ms,
    sleep: (for_: number) => {
      ms += for_;
      return Promise.resolve();
    },
  };
}

Deno.test("doctor ends with 4 when something is lacking, and with 0 for a warning", async () => {
  await using dir = await makeTestDir("doctor-exit");
  const lacking = await doctor(dir.path, ["--json"], { freeBytes: () => 5 });
  assertEquals([lacking.code, lacking.json().exitCode], [4, 4]);
  const warned = await doctor(dir.path, [], { freeBytes: () => 5e8 });
  assertEquals(warned.code, 0);
  assertStringIncludes(warned.stdout, "warning  temp-space");
});

Deno.test("doctor says what the contract allows, and which declaration is missing", async () => {
  await using dir = await makeTestDir("doctor-contract");
  const args = ["--project", dir.path, "--start", "sh run.sh", "--resume", "sh run.sh"];
  const rest = ["--artifacts", "out/*", "--count", "3"];
  const { code, json } = await doctor(dir.path, [...args, ...rest, "--json"]);
  assertEquals(code, 0);
  const { contract } = json();
  assertEquals(
    contract.replays.map((each: { id: string }) => each.id),
    REPLAYS.map(({ id }) => id),
  );
  const lock = contract.replays.find((each: { id: string }) => each.id === "stale-lock");
  assertEquals(lock.allowed, []);
  assertStringIncludes(lock.missing, '"lock"');
  const more = await doctor(dir.path, [...args, ...rest, "--lock", "run.lock"]);
  assertStringIncludes(more.stdout, "yes      stale-lock");
  assertStringIncludes(more.stdout, `of ${REPLAYS.length} failures. (exit 0)`);
  const wrong = await doctor(
    dir.path,
    ["--project", dir.path, "--start", "no-such-program"].concat(
      ["--resume", "x", "--artifacts", "out/*"],
    ),
  );
  assertEquals(wrong.code, 0, "sh is what runs it");
});

Deno.test("doctor finds a program that is not there before a run does", async () => {
  await using dir = await makeTestDir("doctor-program");
  const contract = { start: ["no-such-program"], resume: "x", artifacts: { paths: ["out/*"] } };
  await Deno.writeTextFile(`${dir.path}/failure-lab.json`, JSON.stringify(contract));
  const { code, stdout } = await doctor(dir.path, ["--project", dir.path]);
  assertEquals(code, 4);
  assertStringIncludes(stdout, '"no-such-program" was not found');
  assertStringIncludes(stdout, "these commands cannot run: start");
});

Deno.test("doctor takes a wrong contract for a usage error, and none for none", async () => {
  await using dir = await makeTestDir("doctor-wrong");
  await Deno.writeTextFile(`${dir.path}/c.json`, '{"start":"x","resumme":"x"}');
  const wrong = await doctor(dir.path, ["--config", `${dir.path}/c.json`]);
  assertEquals(wrong.code, 2);
  assertStringIncludes(wrong.stdout, 'did you mean "resume"');
  const asJson = await doctor(dir.path, ["--config", `${dir.path}/c.json`, "--json"]);
  assertStringIncludes(asJson.json().contract.error, "resumme");
  const missing = await doctor(dir.path, ["--project", dir.path]);
  assertEquals(missing.code, 2);
  assertStringIncludes(missing.stdout, "failure-lab init");
  assert((await doctor(dir.path, [])).stdout.includes("This machine has all that is needed"));
});

import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import { denoRunArgs } from "../tests/support/child_deno.ts";
import { startInLab, startShell } from "../tests/support/lab_command.ts";
import { cleanUpAfterEach, endChildAfterTest, newMarker } from "../tests/support/processes.ts";
import { makeTestDir } from "../tests/support/temp_dir.ts";
import { systemClock } from "./clock.ts";
import { startKeeper } from "./keeper.ts";
import { ENV_PROGRAM, spawn, startErrorPhase, withLinkerVariables } from "./process.ts";
import { readProcessTable } from "./process_table.ts";
import { phaseSchema } from "./record.ts";

cleanUpAfterEach();

async function listDir(path: string): Promise<string[]> {
  return (await Array.fromAsync(Deno.readDir(path))).map((entry) => entry.name).sort();
}

Deno.test("spawn() runs a command, keeps its output, and tells how it ended", async () => {
  await using dir = await makeTestDir("spawn");
  await using command = startShell(dir.path, "echo out; echo err >&2; exit 3");
  const { spawned } = command;
  assertEquals(spawned.ended, null);
  assertEquals(await spawned.status, { exitCode: 3, signal: null });
  assertEquals(spawned.ended, { exitCode: 3, signal: null });
  assert(await spawned.waitPipes(5000));
  await spawned.release();
  const phase = spawned.record();
  assertEquals(phaseSchema.parse(phase), phase);
  assertEquals([phase.stdoutTail, phase.stderrTail, phase.stdoutBytes], ["out\n", "err\n", 4]);
  assert(phase.endedMs! >= phase.startedMs);
  const names = await listDir(dir.path);
  assertEquals(names.length, 2);
  assertEquals(await Deno.readTextFile(`${dir.path}/${names[1]}`), "out\n");
});

Deno.test("spawn() tells a death by signal from an exit with 128+n", async () => {
  await using dir = await makeTestDir("spawn");
  await using killed = startShell(dir.path, "kill -s KILL $$");
  await using exited = startShell(dir.path, "exit 137");
  assertEquals(await killed.spawned.status, { exitCode: null, signal: "SIGKILL" });
  assertEquals(await exited.spawned.status, { exitCode: 137, signal: null });
});

Deno.test("spawn() gives the command a session and a group of its own", async () => {
  await using dir = await makeTestDir("spawn");
  await using command = startShell(dir.path, "ps -o sid= -p $$ > sid; sleep 60");
  const sid = Number(await command.file("sid"));
  const row = (await readProcessTable()).find((each) => each.pid === command.spawned.pid);
  assertEquals([row?.pgid, row?.marker], [command.spawned.pid, command.marker]);
  assertEquals(sid, command.spawned.pid);
  await command.reap();
});

Deno.test("spawn() gives an end-of-file as stdin, although ours is open", {
  timeout: 20_000,
}, async () => {
  await using dir = await makeTestDir("spawn");
  const module = JSON.stringify(import.meta.resolve("../tests/support/lab_command.ts"));
  await Deno.writeTextFile(
    `${dir.path}/code.ts`,
    `
    import { startInLab } from ${module};
    await using command = startInLab(${JSON.stringify(dir.path)}, ["cat"]);
    console.log(JSON.stringify(await command.spawned.status));
  `,
  );
  const child = new Deno.Command(Deno.execPath(), {
    args: denoRunArgs(`${dir.path}/code.ts`),
    stdin: "piped", // Never closed: a cat that had it would wait for ever.
    stdout: "piped",
    stderr: "inherit",
    detached: true,
  }).spawn();
  endChildAfterTest(child);
  const { value } = await child.stdout.pipeThrough(new TextDecoderStream()).values().next();
  assertEquals(JSON.parse(value ?? ""), { exitCode: 0, signal: null });
  await child.stdin.close();
  await child.status;
});

Deno.test("spawn() gives the command none of the files and pipes that the lab has open", async () => {
  await using dir = await makeTestDir("spawn");
  const descriptors = async () => {
    await using command = startShell(dir.path, "cd /dev/fd && echo *");
    await command.spawned.status;
    await command.spawned.waitPipes(5000);
    return command.spawned.record().stdoutTail;
  };
  // What this process got from its own parent goes on to a child; compare with that.
  const before = await descriptors();
  assertMatch(before, /^0 1 .*2/);
  await using running = startShell(dir.path, "sleep 60");
  await using keeper = await startKeeper(newMarker());
  const files = Array.from({ length: 5 }, () => Deno.openSync(dir.path));
  assertEquals(await descriptors(), before);
  for (const file of files) file.close();
  await keeper.stop();
  await running.reap();
});

Deno.test("spawn() passes the given environment and nothing of its own", async () => {
  await using dir = await makeTestDir("spawn");
  await using command = startInLab(dir.path, ["env"], { PATH: "/usr/bin:/bin", A: "1\n2" });
  await command.spawned.status;
  await command.spawned.waitPipes(5000);
  assertEquals(
    command.spawned.record().stdoutTail.trim().split("\n").sort(),
    ["2", "A=1", `FAILURE_LAB_RUN=${command.marker}`, "PATH=/usr/bin:/bin"],
  );
});

Deno.test("spawn() sets loader variables although only an unscoped permission may", async () => {
  await using dir = await makeTestDir("spawn");
  const env = { LD_LIBRARY_PATH: "/nowhere", DYLD_FALLBACK_LIBRARY_PATH: "/nowhere" };
  await using command = startShell(dir.path, "echo $LD_LIBRARY_PATH", env);
  await command.spawned.status;
  await command.spawned.waitPipes(5000);
  assertEquals(command.spawned.record().stdoutTail, "/nowhere\n");
  assertEquals(command.spawned.record().argv, ["sh", "-c", "echo $LD_LIBRARY_PATH"]);
});

Deno.test("withLinkerVariables() moves loader variables into the argv and leaves the rest", () => {
  assertEquals(withLinkerVariables(["job", "x"], { A: "1" }), {
    argv: ["job", "x"],
    env: { A: "1" },
  });
  assertEquals(
    withLinkerVariables(["job", "x"], {
      LD_PRELOAD: "a b",
      A: "1",
      DYLD_X: "",
      XLD_Y: "2",
      LDX: "3",
    }),
    {
      argv: [ENV_PROGRAM, "LD_PRELOAD=a b", "DYLD_X=", "job", "x"],
      env: { A: "1", XLD_Y: "2", LDX: "3" },
    },
  );
});

Deno.test("spawn() leaves neither process nor file when the command cannot be started", async () => {
  await using dir = await makeTestDir("spawn");
  const missing = `${dir.path}/missing`;
  const notRunnable = `${dir.path}/text`;
  await Deno.writeTextFile(notRunnable, "no program");
  assertThrows(() => startInLab(dir.path, [missing]), Deno.errors.NotFound, missing);
  assertThrows(() => startInLab(dir.path, [notRunnable]), Deno.errors.PermissionDenied);
  assertEquals(await listDir(dir.path), ["text"]);
});

Deno.test("spawn() names a folder that does not exist", async () => {
  await using dir = await makeTestDir("spawn");
  const error = assertThrows(() =>
    spawn({
      argv: ["true"],
      cwd: `${dir.path}/missing`,
      env: {},
      marker: newMarker(),
      logDir: dir.path,
      logName: "log",
      clock: systemClock,
      runStartMs: 0,
    }), Deno.errors.NotFound);
  assertMatch(error.message, /missing/);
});

Deno.test("spawn() starts nothing when an output file is there already", async () => {
  await using dir = await makeTestDir("spawn");
  const options = {
    argv: ["sh", "-c", "echo ran > ran"],
    cwd: dir.path,
    env: {},
    marker: newMarker(),
    logDir: dir.path,
    logName: "log",
    clock: systemClock,
    runStartMs: 0,
  } as const;
  await Deno.writeTextFile(`${dir.path}/log.stderr`, "mine");
  assertThrows(
    () => spawn({ ...options, argv: ["sh", "-c", "echo ran > ran"] }),
    Deno.errors.AlreadyExists,
  );
  assertEquals(await listDir(dir.path), ["log.stderr"]);
});

Deno.test("startErrorPhase() is a valid record of a command that never ran", () => {
  const phase = startErrorPhase(["job"], 5, new Error("no such program"));
  assertEquals(phaseSchema.parse(phase), phase);
  assertEquals([phase.startError, phase.startedMs, phase.endedMs], ["no such program", 5, 5]);
});

Deno.test("spawn() takes 50 MB of output with bounded file, memory and time", async () => {
  await using dir = await makeTestDir("spawn");
  const script = "head -c 50000000 /dev/zero | tr '\\0' x; echo end";
  await using command = startShell(dir.path, script);
  const startMs = performance.now();
  assertEquals((await command.spawned.status).exitCode, 0);
  assert(await command.spawned.waitPipes(5000));
  assert(performance.now() - startMs < 10_000);
  const phase = command.spawned.record();
  assertEquals(phase.stdoutBytes, 50_000_004);
  assertEquals(phase.stdoutTail.length, 4096);
  assert(phase.stdoutTail.endsWith("xend\n"));
  for (const name of await listDir(dir.path)) {
    assert((await Deno.stat(`${dir.path}/${name}`)).size <= 16 * 1024 * 1024, name);
  }
});

Deno.test("waitPipes() is bounded while a child holds them, and sees their end", async () => {
  await using dir = await makeTestDir("spawn");
  await using command = startShell(dir.path, "sleep 60 & echo $! > pid");
  await command.spawned.status;
  const startMs = performance.now();
  assertEquals(await command.spawned.waitPipes(50), false);
  assertEquals(command.spawned.pipesClosed, false);
  assert(performance.now() - startMs < 2000);
  Deno.kill(Number(await command.file("pid")), "SIGKILL");
  assertEquals(await command.spawned.waitPipes(5000), true);
  assertEquals(command.spawned.pipesClosed, true);
});

Deno.test("release() lets go of pipes that are still held; they never count as closed", async () => {
  await using dir = await makeTestDir("spawn");
  await using command = startShell(dir.path, "sleep 60 & echo $! > pid");
  await command.spawned.status;
  await command.spawned.release();
  await command.spawned.release();
  assertEquals(command.spawned.pipesClosed, false);
  assertEquals(await command.spawned.waitPipes(0), false);
  await command.reap();
  assertEquals(command.spawned.pipesClosed, false);
});

Deno.test("noteEnd() is kept in the record and never taken back", async () => {
  await using dir = await makeTestDir("spawn");
  await using command = startShell(dir.path, "exit 0");
  const { spawned } = command;
  await spawned.status;
  assertEquals([spawned.record().limitHit, spawned.record().endedByLab], [null, false]);
  spawned.noteEnd({ limitHit: "idle" });
  spawned.noteEnd({ endedByLab: true });
  spawned.noteEnd({});
  assertEquals([spawned.record().limitHit, spawned.record().endedByLab], ["idle", true]);
});

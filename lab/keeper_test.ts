// The keeper watches over a real lab in a process of its own, which is then killed.

import { assert, assertEquals, assertRejects } from "@std/assert";
import { inOwnSession, TEST_PATH, waitForFile } from "../tests/support/lab_command.ts";
import {
  cleanUpAfterEach,
  isPidAlive,
  newMarker,
  startStranger,
  survivors,
} from "../tests/support/processes.ts";
import { type LabProgram, startLabProgram } from "../tests/support/start_lab_program.ts";
import { makeTestDir } from "../tests/support/temp_dir.ts";
import { waitUntil } from "./clock.ts";
import { startKeeper } from "./keeper.ts";
import { isAlive, MARKER_NAME, readProcessTable } from "./process_table.ts";
import { sendSignal } from "./signals.ts";
import { findProgram } from "./system_tools.ts";

cleanUpAfterEach();

/** What the lab promises when it is killed. */
const GONE_WITHIN_MS = 3000;

/** Waits until none of these pids is alive; gives the time that took, or fails. */
async function waitGone(pids: readonly number[], limitMs = GONE_WITHIN_MS): Promise<number> {
  const startMs = performance.now();
  const gone = await waitUntil(async () => {
    const table = await readProcessTable();
    return !table.some((row) => pids.includes(row.pid) && isAlive(row));
  }, { limitMs });
  assert(gone, `still alive ${limitMs} ms after the lab was killed`);
  return performance.now() - startMs;
}

/** Kills the lab and waits until these pids, and whatever carries its marker, are gone. */
async function killAndWait(lab: LabProgram, pids: readonly number[]): Promise<void> {
  await lab.kill();
  const tookMs = await waitGone(pids);
  // A process that was just being forked is hit by one of the next looks.
  const gone = await waitUntil(async () => (await survivors(lab.marker)).length === 0, {
    limitMs: GONE_WITHIN_MS - tookMs,
  });
  assert(gone, "something with the marker is still alive");
  // The keeper looks on for some seconds; a test of its own waits for that.
  await sendSignal("KILL", [lab.keeperPid!]);
}

Deno.test("keeper ends everything within 3 s when the lab is killed", async () => {
  await using dir = await makeTestDir("keeper");
  const path = dir.path;
  const inSession = inOwnSession(["sh", "-c", `echo $$ > ${path}/session; exec sleep 60`]);
  await using lab = await startLabProgram({
    tempDir: path,
    commands: [
      ["sh", "-c", `trap '' TERM HUP INT; sleep 60 & echo $! > ${path}/child; wait`],
      ["sh", "-c", `"$@" & exit 0`, "sh", ...inSession],
      ["sh", "-c", `kill -s STOP $$`],
      ["sh", "-c", `env -i sh -c 'echo $$ > ${path}/unmarked; exec sleep 60' & wait`],
    ],
  });
  const names = ["child", "session", "unmarked"];
  const pids = await Promise.all(
    names.map(async (name) => Number(await waitForFile(`${path}/${name}`))),
  );
  for (const pid of pids) assert(await isPidAlive(pid));
  await killAndWait(lab, [...lab.pids, ...pids]);
});

Deno.test("keeper ends unmarked members of a group whose leader is gone, and their children", async () => {
  await using dir = await makeTestDir("keeper");
  const path = dir.path;
  const inSession = inOwnSession(["sh", "-c", `echo $$ > ${path}/session; exec sleep 60`]);
  const member = `echo $$ > ${path}/member; "$@" & wait; sleep 60`;
  const script = `env -i PATH="$PATH" sh -c '${member}' sh "$@" & exit 0`;
  await using lab = await startLabProgram({
    tempDir: path,
    commands: [["sh", "-c", script, "sh", ...inSession]],
  });
  const pids = [
    Number(await waitForFile(`${path}/member`)),
    Number(await waitForFile(`${path}/session`)),
  ];
  await waitGone(lab.pids);
  for (const pid of pids) assert(await isPidAlive(pid));
  await killAndWait(lab, pids);
});

Deno.test("keeper ends a process without marker and group that the lab had seen", async () => {
  await using dir = await makeTestDir("keeper");
  const path = dir.path;
  const inner = inOwnSession(["sh", "-c", `echo $$ > ${path}/lost; exec sleep 60`]);
  const env = ["env", "-i", `PATH=${TEST_PATH}`];
  const script = `"$@" & while [ ! -e ${path}/look.looked ]; do sleep 0.02; done; exit 0`;
  await using lab = await startLabProgram({
    tempDir: path,
    commands: [["sh", "-c", script, "sh", ...env, ...inner]],
    lookAfter: `${path}/look`,
  });
  const pid = Number(await waitForFile(`${path}/lost`));
  await Deno.writeTextFile(`${path}/look`, "");
  await waitForFile(`${path}/look.looked`);
  await waitGone(lab.pids);
  assert(await isPidAlive(pid));
  await killAndWait(lab, [pid]);
});

Deno.test("keeper ends a child of a marked process that has none of the signs itself", async () => {
  await using dir = await makeTestDir("keeper");
  const path = dir.path;
  const inner = inOwnSession(["sh", "-c", `echo $$ > ${path}/child; exec sleep 60`]);
  const script = `env -i PATH="$PATH" "$@" & wait; sleep 60`;
  await using lab = await startLabProgram({
    tempDir: path,
    commands: [["sh", "-c", script, "sh", ...inner]],
  });
  const pid = Number(await waitForFile(`${path}/child`));
  await killAndWait(lab, [pid, ...lab.pids]);
});

Deno.test("keeper ends a chain of forks in a group whose leader is gone", async () => {
  await using dir = await makeTestDir("keeper");
  const path = dir.path;
  await Deno.writeTextFile(
    `${path}/link`,
    `[ -e ${path}/stop ] || sh ${path}/link & echo >> ${path}/beat\n`,
  );
  try {
    const argv = ["sh", "-c", `sh ${path}/link; exit 0`] as const;
    await using lab = await startLabProgram({ tempDir: path, commands: [[...argv]] });
    await waitForFile(`${path}/beat`);
    await waitGone(lab.pids);
    await lab.kill();
    // Each link adds a line. A chain that is over leaves the file alone.
    let lines = -1;
    const isOver = await waitUntil(async () => {
      const before = lines;
      lines = (await Deno.stat(`${path}/beat`)).size;
      return lines === before;
    }, { limitMs: GONE_WITHIN_MS, everyMs: 200 });
    assert(isOver, "the chain goes on");
  } finally {
    await Deno.writeTextFile(`${path}/stop`, "");
  }
});

Deno.test("keeper leaves strangers alone that only have a number of ours", async () => {
  await using dir = await makeTestDir("keeper");
  await using group = await startStranger(["sh", "-c", "sleep 60 & wait"]);
  await using single = await startStranger();
  await using dropped = await startStranger();
  await using exact = await startStranger(["sh", "-c", "sleep 60 & wait"]);
  const other = (row: typeof group.row, seconds: number) => ({
    pid: row.pid,
    name: row.name,
    startedSeconds: row.startedSeconds + seconds,
  });
  await using lab = await startLabProgram({
    tempDir: dir.path,
    commands: [["sleep", "60"]],
    leaders: [other(group.row, 3), other(dropped.row, 0), other(exact.row, 2)],
    dropped: [other(dropped.row, 0)],
    known: [other(single.row, -3)],
  });
  // One whose leader is told rightly goes, so that the others are not spared by a keeper that sleeps.
  await killAndWait(lab, [...lab.pids, exact.pid]);
  assertEquals(
    [await group.isAlive(), await single.isAlive(), await dropped.isAlive()],
    [true, true, true],
  );
  const members = (await readProcessTable()).filter((row) =>
    row.pgid === group.pid && isAlive(row)
  );
  assertEquals(members.length, 2);
});

Deno.test("keeper leaves a process alone that only quotes the marker", async () => {
  await using dir = await makeTestDir("keeper");
  await using lab = await startLabProgram({ tempDir: dir.path, commands: [["sleep", "60"]] });
  const quote = `${MARKER_NAME}=${lab.marker}`;
  await using stranger = await startStranger(["sh", "-c", "sleep 60; :", quote]);
  await killAndWait(lab, lab.pids);
  assertEquals(await stranger.isAlive(), true);
});

Deno.test("keeper survives Ctrl-C, TERM and hang-up", async () => {
  await using dir = await makeTestDir("keeper");
  await using lab = await startLabProgram({ tempDir: dir.path, commands: [["sleep", "60"]] });
  const row = (await readProcessTable()).find((each) => each.pid === lab.keeperPid);
  assertEquals(row?.pgid, lab.keeperPid, "in a group of its own, out of reach of Ctrl-C");
  for (const signal of ["INT", "TERM", "HUP"] as const) await sendSignal(signal, [lab.keeperPid!]);
  assert(await isPidAlive(lab.keeperPid!));
  await killAndWait(lab, lab.pids);
});

Deno.test("keeper that is stopped leaves every process alone, and can be stopped twice", async () => {
  const marker = newMarker();
  await using marked = await startStranger(["sleep", "60"], { [MARKER_NAME]: marker });
  const keeper = await startKeeper(marker);
  await keeper.addLeader(marked.row);
  await keeper.stop();
  await keeper.stop();
  await keeper.addLeader(marked.row); // Too late, and no error.
  assertEquals(await isPidAlive(keeper.pid), false);
  assertEquals(await marked.isAlive(), true);
});

Deno.test("keeper that somebody killed does not disturb the lab", async () => {
  const keeper = await startKeeper(newMarker());
  await sendSignal("KILL", [keeper.pid]);
  await waitGone([keeper.pid]);
  await keeper.addLeader({ pid: 5_000_000, startedSeconds: 1, name: "sh" });
  await keeper.stop();
});

Deno.test("keeper that is frozen is ended within its limit", async () => {
  const keeper = await startKeeper(newMarker());
  await sendSignal("STOP", [keeper.pid]);
  const startMs = performance.now();
  await keeper.stop();
  assert(performance.now() - startMs < 4000);
  assertEquals(await isPidAlive(keeper.pid), false);
});

const SHELLS: [string, ...string[]][] = [["dash"], ["bash", "--posix"], ["busybox", "ash"]];
const PRESENT = SHELLS.filter(([program]) => findProgram(program, TEST_PATH, "/") !== null);

Deno.test("keeper is tried in at least one shell besides that of the system", () => {
  assert(PRESENT.length > 0, "this machine has neither dash nor bash nor busybox");
});

/** Puts a program of busybox in place of the system's. */
async function useBusybox(dir: string, name: string): Promise<void> {
  await Deno.writeTextFile(`${dir}/${name}`, `#!/bin/sh\nexec busybox ${name} "$@"\n`);
  await Deno.chmod(`${dir}/${name}`, 0o755);
}

for (const shell of PRESENT) {
  Deno.test(`keeper works in ${shell.join(" ")}, where sleep takes no fractions`, async () => {
    await using dir = await makeTestDir("keeper");
    if (shell[0] === "busybox") await useBusybox(dir.path, "awk");
    await Deno.writeTextFile(
      `${dir.path}/sleep`,
      `#!/bin/sh\ncase $1 in *.*) echo "invalid" >&2; exit 1 ;; esac\nexec /bin/sleep "$1"\n`,
    );
    await Deno.chmod(`${dir.path}/sleep`, 0o755);
    await using lab = await startLabProgram({
      tempDir: dir.path,
      commands: [["sh", "-c", "sleep 60 & wait"], inOwnSession(["sleep", "60"])],
      keeper: {
        shell: [findProgram(shell[0], TEST_PATH, "/")!, ...shell.slice(1)],
        path: `${dir.path}:${TEST_PATH}`,
      },
    });
    await killAndWait(lab, lab.pids);
  });
}

Deno.test("keeper ends when its work is done", async () => {
  await using dir = await makeTestDir("keeper");
  await using lab = await startLabProgram({ tempDir: dir.path, commands: [["sleep", "60"]] });
  await lab.kill();
  await waitGone([lab.keeperPid!], 15_000);
});

Deno.test("startKeeper() throws where the shell cannot be started", async () => {
  const started = startKeeper(newMarker(), { shell: ["/no/such/shell"] });
  await assertRejects(() => started, Deno.errors.NotFound, "/no/such/shell");
});

// What a start does with the lab folders that earlier ones left.

import { assert, assertEquals, assertMatch } from "@std/assert";
import {
  cleanUpAfterEach,
  newMarker,
  startStranger,
  survivors,
} from "../tests/support/processes.ts";
import { runWithFlags } from "../tests/support/child_deno.ts";
import { startLabProgram } from "../tests/support/start_lab_program.ts";
import { scriptedClock } from "../tests/support/scripted_clock.ts";
import { makeTestDir } from "../tests/support/temp_dir.ts";
import { waitUntil } from "./clock.ts";
import { isAlive, MARKER_NAME, readProcessTable } from "./process_table.ts";
import { sendSignal } from "./signals.ts";
import { createLab, LAB_PREFIX, sweepLabs, type SweepReport } from "./workspace.ts";

cleanUpAfterEach();

async function names(path: string): Promise<string[]> {
  return (await Array.fromAsync(Deno.readDir(path))).map((entry) => entry.name).sort();
}

/** A folder as a lab leaves it, with whatever owner record. */
async function leaveLab(tempDir: string, name: string, owner: unknown): Promise<string> {
  const path = `${tempDir}/${LAB_PREFIX}${name}`;
  await Deno.mkdir(`${path}/logs`, { recursive: true });
  await Deno.mkdir(`${path}/workspace`);
  await Deno.writeTextFile(`${path}/workspace/file`, "work");
  if (owner !== undefined) {
    const text = typeof owner === "string" ? owner : JSON.stringify(owner);
    await Deno.writeTextFile(`${path}/owner.json`, text);
  }
  return path;
}

function ownerRecord(owner: unknown, marker: string = newMarker()): unknown {
  return { schema: "failure-lab/owner", version: 1, owner, marker };
}

/** A clock that is some minutes ahead of this machine's. */
function clockAhead(minutes: number) {
  return scriptedClock(Date.now() + minutes * 60_000);
}

const DEAD = { pid: 5_000_000, startedSeconds: 1_000_000, name: "failure-lab" };

Deno.test("sweepLabs() removes a lab whose owner is gone", async () => {
  await using dir = await makeTestDir("sweep");
  const path = await leaveLab(dir.path, "dead", ownerRecord(DEAD));
  const report = await sweepLabs({ tempDir: dir.path });
  assertEquals(report, { removed: [path], left: [], kept: [] });
  assertEquals(await names(dir.path), []);
});

Deno.test("sweepLabs() leaves a lab whose owner lives", async () => {
  await using dir = await makeTestDir("sweep");
  await using lab = await createLab({ tempDir: dir.path });
  await using stranger = await startStranger();
  const path = await leaveLab(dir.path, "strangers", ownerRecord(stranger.row));
  const report = await sweepLabs({ tempDir: dir.path, clock: clockAhead(60) });
  assertEquals(report.removed, []);
  assertEquals(report.left.map((each) => each.path).sort(), [lab.root, path].sort());
  assertMatch(report.left[0]!.reason, /^in use by (deno|sleep) \(pid \d+\)$/);
});

Deno.test("sweepLabs() removes a lab whose owner's pid belongs to another process now", async () => {
  await using dir = await makeTestDir("sweep");
  await using stranger = await startStranger();
  const forged = { ...stranger.row, startedSeconds: stranger.row.startedSeconds - 3 };
  const path = await leaveLab(dir.path, "forged", ownerRecord(forged));
  assertEquals((await sweepLabs({ tempDir: dir.path })).removed, [path]);
  assertEquals(await stranger.isAlive(), true);
});

Deno.test("sweepLabs() takes an owner that died and was not collected for dead", async () => {
  await using dir = await makeTestDir("sweep");
  await using parent = await startStranger(["sh", "-c", "true & exec sleep 60"]);
  const zombie = await waitUntil(
    async () => (await readProcessTable()).find((row) => row.ppid === parent.pid && !isAlive(row)),
    { limitMs: 5000 },
  );
  const path = await leaveLab(dir.path, "zombie", ownerRecord(zombie));
  assertEquals((await sweepLabs({ tempDir: dir.path })).removed, [path]);
});

const DAMAGED: [string, string][] = [
  ["empty", ""],
  ["half", `{"schema":"failure-lab/owner","version":1,"owner":{"pi`],
  ["of another kind", `{"schema":"other","owner":{"pid":5,"startedSeconds":5},"marker":"x"}`],
  ["without a pid", JSON.stringify(ownerRecord({ startedSeconds: 5 }))],
  ["with a pid that is no number", JSON.stringify(ownerRecord({ ...DEAD, pid: "5" }))],
  ["without an owner", JSON.stringify(ownerRecord(null))],
  ["with a marker that is none", JSON.stringify(ownerRecord(DEAD, "sleep"))],
  ["that is a list", "[]"],
  ["that is null", "null"],
];

for (const [name, text] of DAMAGED) {
  Deno.test(`sweepLabs() leaves and reports a lab with an owner record ${name}`, async () => {
    await using dir = await makeTestDir("sweep");
    const path = await leaveLab(dir.path, "damaged", text);
    const report = await sweepLabs({ tempDir: dir.path, clock: clockAhead(60) });
    assertEquals([report.removed, report.kept], [[], []]);
    assertEquals(report.left.map((each) => each.path), [path]);
    assertMatch(report.left[0]!.reason, /owner\.json cannot be read/);
  });
}

Deno.test("sweepLabs() removes what a lab left that was killed right at its start", async () => {
  await using dir = await makeTestDir("sweep");
  const at = (name: string) => `${dir.path}/${LAB_PREFIX}${name}`;
  await Deno.mkdir(at("1-empty"));
  await Deno.mkdir(at("2-logs"));
  await Deno.mkdir(`${at("2-logs")}/logs`);
  await Deno.mkdir(at("3-half"));
  await Deno.writeTextFile(`${at("3-half")}/owner.json.new`, `{"sch`);
  const early = await sweepLabs({ tempDir: dir.path, clock: clockAhead(9) });
  assertEquals(early, { removed: [], left: [], kept: [] }, "another lab may be starting right now");
  const late = await sweepLabs({ tempDir: dir.path, clock: clockAhead(11) });
  assertEquals(late.removed, [at("1-empty"), at("2-logs"), at("3-half")]);
});

Deno.test("sweepLabs() never touches links, files, and folders of someone else", async () => {
  await using dir = await makeTestDir("sweep");
  await using away = await makeTestDir("away");
  const target = await leaveLab(away.path, "target", ownerRecord(DEAD));
  const at = (name: string) => `${dir.path}/${LAB_PREFIX}${name}`;
  await Deno.symlink(target, at("link"));
  await Deno.symlink("/no/such/place", at("dangling"));
  await Deno.writeTextFile(at("file"), "text");
  await Deno.mkdir(at("notes"));
  await Deno.writeTextFile(`${at("notes")}/todo.md`, "mine");
  await Deno.mkdir(`${dir.path}/other`);
  await Deno.writeTextFile(`${dir.path}/other/owner.json`, JSON.stringify(ownerRecord(DEAD)));
  const before = await names(dir.path);
  const report = await sweepLabs({ tempDir: dir.path, clock: clockAhead(60) });
  assertEquals(report, { removed: [], left: [], kept: [] });
  assertEquals(await names(dir.path), before);
  assertEquals(await names(target), ["logs", "owner.json", "workspace"]);
});

Deno.test("sweepLabs() does not follow a link inside a lab that it removes", async () => {
  await using dir = await makeTestDir("sweep");
  await using away = await makeTestDir("away");
  await Deno.writeTextFile(`${away.path}/precious`, "mine");
  const path = await leaveLab(dir.path, "dead", ownerRecord(DEAD));
  await Deno.symlink(away.path, `${path}/workspace/out`);
  assertEquals((await sweepLabs({ tempDir: dir.path })).removed, [path]);
  assertEquals(await names(away.path), ["precious"]);
});

Deno.test("sweepLabs() ends what a dead lab left running before it removes the lab", async () => {
  await using dir = await makeTestDir("sweep");
  const marker = newMarker();
  await using left = await startStranger(["sh", "-c", "trap '' TERM; sleep 60 & wait"], {
    [MARKER_NAME]: marker,
  });
  const path = await leaveLab(dir.path, "dead", ownerRecord(DEAD, marker));
  assertEquals((await sweepLabs({ tempDir: dir.path })).removed, [path]);
  assertEquals([await left.isAlive(), await survivors(marker)], [false, []]);
});

Deno.test("sweepLabs() reports a temp dir that it cannot read instead of failing", async () => {
  const report = await sweepLabs({ tempDir: "/no/such/place" });
  assertEquals([report.removed, report.left.length], [[], 1]);
});

Deno.test("sweepLabs() is quiet in a temp dir without labs", async () => {
  await using dir = await makeTestDir("sweep");
  assertEquals(await sweepLabs({ tempDir: dir.path }), { removed: [], left: [], kept: [] });
});

Deno.test("sweepLabs() goes on with a lab whose removal was broken off", async () => {
  await using dir = await makeTestDir("sweep");
  await using codeDir = await makeTestDir("code");
  const path = await leaveLab(dir.path, "dead", ownerRecord(DEAD));
  // A start that may not remove the record gets stuck when everything else is gone.
  const module = JSON.stringify(import.meta.resolve("./workspace.ts"));
  const flags = ["--no-prompt", `--deny-write=${path}/owner.json`];
  const said = await runWithFlags(
    codeDir.path,
    flags,
    `
    import { sweepLabs } from ${module};
    console.log(JSON.stringify(await sweepLabs({ tempDir: ${JSON.stringify(dir.path)} })));
  `,
  );
  const first = JSON.parse(said) as SweepReport;
  assertEquals([first.removed, first.left.map((each) => each.path)], [[], [path]]);
  assertEquals(await names(path), ["owner.json"], "the record goes last");
  assertEquals((await sweepLabs({ tempDir: dir.path })).removed, [path]);
});

Deno.test("two sweeps at the same time do not disturb each other", async () => {
  await using dir = await makeTestDir("sweep");
  for (let i = 0; i < 10; i++) await leaveLab(dir.path, `dead-${i}`, ownerRecord(DEAD));
  const sweeps = await Promise.all([0, 1, 2].map(() => sweepLabs({ tempDir: dir.path })));
  assertEquals(await names(dir.path), []);
  assertEquals(sweeps.flatMap((each) => each.left), []);
});

Deno.test("a lab that is killed loses its processes within 3 s and its folder at the next start", async () => {
  await using dir = await makeTestDir("killed");
  await using program = await startLabProgram({
    tempDir: dir.path,
    commands: [["sh", "-c", "trap '' TERM; sleep 60 & wait"], ["sleep", "60"]],
  });
  const busy = await sweepLabs({ tempDir: dir.path });
  assertEquals(busy.left.map((each) => each.path), [program.root]);
  await program.kill();
  const gone = await waitUntil(async () => (await survivors(program.marker)).length === 0, {
    limitMs: 3000,
  });
  assert(gone, "something of the lab is still alive after 3 s");
  assertEquals(await names(dir.path), [program.root.slice(dir.path.length + 1)]);
  assertEquals((await sweepLabs({ tempDir: dir.path })).removed, [program.root]);
  assertEquals(await names(dir.path), []);
  await sendSignal("KILL", [program.keeperPid!]);
});

Deno.test("a lab whose keeper is killed with it is cleaned up by the next start", async () => {
  await using dir = await makeTestDir("killed");
  await using program = await startLabProgram({
    tempDir: dir.path,
    commands: [["sh", "-c", "sleep 60 & wait"]],
  });
  await sendSignal("KILL", [program.keeperPid!]);
  await program.kill();
  assert((await survivors(program.marker)).length > 0);
  assertEquals((await sweepLabs({ tempDir: dir.path })).removed, [program.root]);
  assertEquals(await survivors(program.marker), []);
});

for (const end of ["leave", "throw"] as const) {
  Deno.test(`a lab program that ends by itself (${end}) leaves neither folder nor keeper`, async () => {
    await using dir = await makeTestDir("ended");
    await using program = await startLabProgram({ tempDir: dir.path, end });
    assertEquals((await program.child.status).success, end === "leave");
    assertEquals(await names(dir.path), []);
    const keeperIsGone = await waitUntil(
      async () =>
        !(await readProcessTable()).some((row) => row.pid === program.keeperPid && isAlive(row)),
      { limitMs: 3000 },
    );
    assert(keeperIsGone);
  });
}

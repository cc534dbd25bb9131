/**
 * Self-tests of the lab's own modules: each does for real, in a disposable folder, what the drills
 * rely on. A machine on which one fails must not grade anything.
 *
 * @module
 */
import { join } from "@std/path";
import {
  checkSentinel,
  compareSnapshots,
  createLab,
  Driver,
  grade,
  isKillProven,
  Journal,
  MARKER_NAME,
  newRecord,
  plantSentinel,
  readArtifacts,
  readCheckpoint,
  readProcessTable,
  snapshotWatchList,
  startKeeper,
  systemClock,
  systemTool,
  VERSION,
  waitUntil,
} from "../../mod.ts";
import type { SelfTestResult } from "../../../repairs/mod.ts";

type Body = (dir: string) => Promise<string>;

function expect(condition: boolean, what: string): asserts condition {
  if (!condition) throw new Error(what);
}

async function seesItself(): Promise<string> {
  const table = await readProcessTable();
  const own = table.find((row) => row.pid === Deno.pid);
  expect(own !== undefined, "this process is not in the process table");
  const ageSeconds = systemClock.wallMs() / 1000 - own.startedSeconds;
  expect(ageSeconds > -3, `it seems to have started ${-ageSeconds} s from now`);
  return `${table.length} processes, this one with its start time`;
}

async function clockRuns(): Promise<string> {
  const beforeMs = systemClock.nowMs();
  await systemClock.sleep(20);
  const passedMs = systemClock.nowMs() - beforeMs;
  expect(passedMs >= 19, `20 ms took ${passedMs} ms`);
  return `20 ms took ${Math.round(passedMs)} ms`;
}

/** A leader that ends at once, a child that ignores TERM, and one in a session of its own. */
async function endsEverybody(dir: string): Promise<string> {
  const marker = "5".repeat(32);
  using journal = new Journal(null, systemClock);
  const driver = new Driver({
    marker,
    logDir: dir,
    clock: systemClock,
    journal,
    signal: new AbortController().signal,
  });
  const script = "(trap '' TERM; : >deaf; sleep 60) & " +
    "if command -v setsid >/dev/null; then setsid sleep 60 & fi; : >ready";
  try {
    const argv = [systemTool("sh"), "-c", script];
    await driver.start("tree", argv, dir, { PATH: "/usr/bin:/bin" });
    const isReady = () => exists(join(dir, "ready")) && exists(join(dir, "deaf"));
    expect(await waitUntil(isReady, { limitMs: 5000 }) === true, "its start was not seen");
    expect((await driver.alive()).length > 0, "what it left running was not seen");
    const kill = await driver.reap(30);
    expect(isKillProven(kill) === true, `not proven: ${JSON.stringify(kill.witnesses)}`);
    return `${kill.processes.length} processes ended, three witnesses agree`;
  } finally {
    await driver.reap(0);
    await driver.release();
  }
}

async function keeperEnds(): Promise<string> {
  const marker = "6".repeat(32);
  const keeper = await startKeeper(marker);
  await keeper.stop();
  const left = (await readProcessTable()).find((row) => row.pid === keeper.pid);
  expect(left === undefined, "the keeper is still there after it was told to go");
  return `${MARKER_NAME} is watched over, and the keeper goes when it is told`;
}

async function labGoes(): Promise<string> {
  const lab = await createLab();
  expect(exists(lab.root), "it was not made");
  await lab.remove();
  expect(!exists(lab.root), "it is still there");
  return "made and removed";
}

async function seesChanges(dir: string): Promise<string> {
  const sentinel = plantSentinel(dir);
  await Deno.mkdir(join(dir, "watched"));
  const path = join(dir, "watched", "file");
  await Deno.writeTextFile(path, "as it was");
  const roots = [{ path: join(dir, "watched"), depth: "full" as const }];
  const before = await snapshotWatchList(roots, { exclude: [] });
  expect(compareSnapshots(before, before).length === 0, "a change was seen where none is");
  const info = await Deno.stat(path);
  await Deno.writeTextFile(path, "as it wa5");
  if (info.mtime !== null) await Deno.utime(path, info.mtime, info.mtime);
  const after = await snapshotWatchList(roots, { exclude: [] });
  expect(compareSnapshots(before, after).length === 1, "a change of content was not seen");
  expect(checkSentinel(sentinel).intact, "the untouched sentinel counts as changed");
  await Deno.remove(sentinel.path);
  expect(!checkSentinel(sentinel).intact, "a sentinel that is gone counts as untouched");
  return "a change with the old size and the old time is seen";
}

async function readsOutputs(dir: string): Promise<string> {
  await Deno.writeTextFile(join(dir, "a.txt"), "half of it");
  await Deno.writeTextFile(join(dir, "b.txt"), "all of it\nEND\n");
  const artifacts = readArtifacts({ root: dir, globs: ["*.txt"], endsWith: "END" });
  expect(artifacts.length === 2, `${artifacts.length} outputs`);
  expect(artifacts[0]?.problems.length === 1, "half an output counts as whole");
  expect(artifacts[1]?.problems.length === 0, "a whole output counts as half");
  await Deno.writeTextFile(join(dir, "state.jsonl"), '{"path":"b.txt"}\n{"path":"c.t');
  const checkpoint = readCheckpoint({ root: dir, path: "state.jsonl" }, artifacts);
  expect(checkpoint.parses === false, "a torn checkpoint counts as whole");
  return "half an output and a torn checkpoint are told from whole ones";
}

function refusesForgeries(): Promise<string> {
  const bare = newRecord({
    id: "forged",
    kind: "drill",
    subject: "forged",
    half: "repaired",
    label: null,
    rerun: "",
    seed: 0,
    options: {},
    git: null,
    scope: [],
    contract: {
      sha256: "0".repeat(64),
      count: 1,
      contentChecks: [],
      emptyAllowed: false,
      declared: null,
    },
    startedAt: "2026-01-01T00:00:00.000Z",
    fault: { name: "forged", variant: null, armed: true },
  });
  const forged: [string, unknown][] = [
    ["nothing observed", bare],
    ["another version", { ...bare, version: 999 }],
    ["not a record", { verdict: "pass" }],
    ["nothing at all", null],
  ];
  const passed = forged.find(([, value]) => grade(value).verdict === "pass");
  expect(passed === undefined, `a record with ${passed?.[0]} passed`);
  return Promise.resolve(`${forged.length} forged records refused by version ${VERSION}`);
}

function exists(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch {
    return false;
  }
}

/** The lab's modules and what each must show. */
const BODIES: Record<string, { name: string; body: Body }> = {
  clock: { name: "time passes", body: clockRuns },
  processes: { name: "this process can be seen", body: seesItself },
  reaper: { name: "everybody is ended, with proof", body: endsEverybody },
  keeper: { name: "the keeper comes and goes", body: keeperEnds },
  workspace: { name: "a lab is removed", body: labGoes },
  containment: { name: "a change is seen", body: seesChanges },
  readers: { name: "what is half is seen", body: readsOutputs },
  grader: { name: "a forged record is refused", body: refusesForgeries },
};

/** Names of the lab's modules that have a self-test. */
export const LAB_MODULES: readonly string[] = Object.keys(BODIES);

/** Tests one module of the lab. Never rejects. */
export async function selfTestLab(module: string): Promise<SelfTestResult> {
  const test = BODIES[module];
  if (test === undefined) throw new RangeError(`The lab has no module "${module}"`);
  try {
    await using lab = await createLab();
    const detail = await test.body(lab.logs);
    return { module, ok: true, steps: [{ name: test.name, ok: true, detail }] };
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    return { module, ok: false, steps: [{ name: test.name, ok: false, detail }] };
  }
}

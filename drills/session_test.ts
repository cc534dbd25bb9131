import { assert, assertEquals, assertMatch } from "@std/assert";
import { isAlive, readProcessTable, type RunSet, systemClock } from "../lab/mod.ts";
import { type Expectation, loadAnswerKey, type Mode } from "./answer_key.ts";
import { findDrill } from "./catalog.ts";
import { loadDrills } from "./definition.ts";
import type { Scene } from "./scene.ts";
import { sceneOf } from "./scenes/mod.ts";
import { playDrills, type SessionOptions, type SessionResult } from "./session.ts";

const DRILL = findDrill(loadDrills(), "03-torn-checkpoint");
const REAL = sceneOf(DRILL.id);

/** Runs one drill with another scene, in a temp dir of its own, and sees that nothing is left. */
async function play(
  scene: Partial<Scene>,
  options: { modes?: Mode[]; expect?: Expectation; more?: Partial<SessionOptions> } = {},
): Promise<SessionResult> {
  const kit = await Deno.makeTempDir({ prefix: "drill-session-kit-" });
  await Deno.writeTextFile(`${kit}/program`, "watched");
  const before = labs();
  const key = structuredClone(loadAnswerKey());
  const drillKey = key.drills[DRILL.id];
  if (options.expect !== undefined && drillKey !== undefined) {
    for (const mode of ["broken", "repaired"] as const) drillKey[mode] = { "*": options.expect };
  }
  try {
    const result = await playDrills({
      command: "drills",
      runs: (options.modes ?? ["repaired"]).map((mode) => ({
        drill: DRILL,
        mode,
        variant: "cut-last-line",
        repeat: 1,
      })),
      key,
      rerun: "failure-lab drills 03",
      seed: 0,
      label: null,
      git: null,
      kitPath: kit,
      home: null,
      keep: false,
      clock: systemClock,
      signal: new AbortController().signal,
      ...options.more,
    }, () => ({ ...REAL, ...scene }));
    const kept = labs().filter((name) => !before.includes(name));
    assertEquals(kept.length, options.more?.keep ? 1 : 0);
    return result;
  } finally {
    await Deno.remove(kit, { recursive: true });
  }
}

/** Lab folders of this process; others may be at work on the same machine. */
function labs(): string[] {
  const temp = Deno.env.get("TMPDIR") ?? "/tmp";
  return namesIn(temp).filter((name) => name.startsWith("failure-lab-")).filter((name) => {
    try {
      const { owner } = JSON.parse(Deno.readTextFileSync(`${temp}/${name}/owner.json`));
      return owner.pid === Deno.pid;
    } catch {
      return false; // Gone meanwhile, or somebody else's.
    }
  });
}

async function countProcesses(argument: string): Promise<number> {
  const { stdout } = await new Deno.Command("ps", { args: ["-A", "-ww", "-o", "args="] }).output();
  assert((await readProcessTable()).some(isAlive));
  return new TextDecoder().decode(stdout).split("\n").filter((line) => line === argument).length;
}

function onlyRun({ runSet }: SessionResult): RunSet["runs"][number] {
  const [run] = runSet.runs;
  assert(run !== undefined);
  return run;
}

Deno.test("a session gives both halves what the answer key says", async () => {
  const { runSet } = await play({}, { modes: ["broken", "repaired", "disarmed", "control"] });
  assertEquals(runSet.runs.map((run) => run.expected?.met), [true, true, true, true]);
  assertEquals([runSet.verdict, runSet.exitCode, runSet.interrupted], ["pass", 0, null]);
  assertEquals(runSet.runs[1]?.record.artifacts.length, DRILL.units);
  assert((runSet.runs[1]?.record.recoveryMs ?? 0) > 0);
});

Deno.test("canary: a drill that must fail makes the session fail", async () => {
  const expect = { verdict: "fail", reasonId: "another-reason" } as const;
  const { runSet } = await play({}, { modes: ["broken"], expect });
  assertEquals(runSet.runs[0]?.expected, { ...expect, met: false });
  assertEquals([runSet.verdict, runSet.exitCode], ["fail", 1]);
});

Deno.test("canary: a repair that notices and stops is refused", async () => {
  const result = await play({
    async repair(stage) {
      await stage.repairAttempt(["notice"], () => Promise.resolve({ exitCode: 0, said: "torn" }));
    },
  });
  const { grade, expected, record } = onlyRun(result);
  assertEquals([grade.verdict, grade.reasonId], ["fail", "artifacts-complete"]);
  assertEquals(record.recoveryMs, null);
  assertEquals(expected?.met, false);
  assertEquals(result.runSet.exitCode, 1);
});

Deno.test("canary: a repair that makes finished work again is refused", async () => {
  const { grade } = onlyRun(
    await play({
      async repair(stage) {
        await Deno.remove(stage.path("state.jsonl"));
        await stage.attempt(stage.plan());
      },
    }),
  );
  assertEquals([grade.verdict, grade.reasonId], ["fail", "finished-rewritten"]);
});

Deno.test("a fault without evidence is never a pass", async () => {
  const { grade, record } = onlyRun(
    await play({
      async fail(stage) {
        await stage.runToHold(6);
        stage.noteFaultState();
        stage.deliver([]);
      },
    }),
  );
  assertEquals([record.fault.delivered, record.fault.provenAtMs], [false, null]);
  assertEquals([grade.verdict, grade.reasonId], ["unproven", "fault-delivered"]);
});

Deno.test("a scene that breaks is no verdict on the repair, and leaves nothing", async () => {
  const { record, grade } = onlyRun(
    await play({
      async repair(stage) {
        await stage.start("stray", stage.plan(), ["/bin/sh", "-c", "sleep 98765 & wait"]);
        throw new Error("the scene fell over");
      },
    }),
  );
  assertEquals(record.interrupted, "the lab failed: the scene fell over");
  assertEquals(grade.verdict === "pass", false);
  assertEquals(await countProcesses("sleep 98765"), 0);
});

Deno.test("a neighbour is no part of the run, and is ended with it all the same", async () => {
  const { grade, record } = onlyRun(
    await play({
      async repair(stage) {
        const argv = ["/bin/sh", "-c", "exec sleep 98764"];
        await stage.neighbours.start("other", argv, stage.workspace, {});
        await REAL.repair(stage);
        assertEquals(record98764(await stage.neighbours.alive()), 1);
      },
    }),
  );
  assertEquals(grade.verdict, "pass");
  assertEquals(record.interrupted, null);
  assertEquals(await countProcesses("sleep 98764"), 0);
});

function record98764(rows: readonly { name: string }[]): number {
  return rows.filter((row) => row.name === "sleep").length;
}

Deno.test("a write beside the workspace breaks containment: exit 5", async () => {
  const { runSet } = await play({
    async repair(stage) {
      for await (const entry of Deno.readDir(stage.options.dir)) {
        if (!entry.name.startsWith("SENTINEL")) continue;
        await Deno.remove(`${stage.options.dir}/${entry.name}`);
      }
      await REAL.repair(stage);
    },
  });
  assertEquals(runSet.runs[0]?.grade.reasonId, "sentinel");
  assertEquals(runSet.runs[0]?.expected?.met, false);
  assertEquals(runSet.exitCode, 5);
});

Deno.test("a change of the kit breaks containment: exit 5, and it says which file", async () => {
  const kit = await Deno.makeTempDir({ prefix: "drill-session-watched-" });
  try {
    await Deno.writeTextFile(`${kit}/program`, "watched");
    const { runSet } = await play({
      async repair(stage) {
        await Deno.writeTextFile(`${kit}/stray.txt`, "stray");
        await REAL.repair(stage);
      },
    }, { more: { kitPath: kit } });
    const [run] = runSet.runs;
    assertEquals(run?.record.containment?.changes[0]?.path, `${kit}/stray.txt`);
    assertEquals([run?.grade.verdict, runSet.exitCode], ["fail", 5]);
  } finally {
    await Deno.remove(kit, { recursive: true });
  }
});

Deno.test("a change of the user's configuration is seen by the wide look at the end", async () => {
  const home = await Deno.makeTempDir({ prefix: "drill-session-home-" });
  try {
    const { runSet } = await play({
      async repair(stage) {
        await Deno.writeTextFile(`${home}/.bashrc`, "stray");
        await REAL.repair(stage);
      },
    }, { more: { home } });
    const [run] = runSet.runs;
    assertEquals(run?.record.containment?.changes[0]?.path, `${home}/.bashrc`);
    assertEquals([run?.expected?.met, runSet.exitCode], [false, 5]);
  } finally {
    await Deno.remove(home, { recursive: true });
  }
});

Deno.test("an interrupted session keeps what was done, says so, and leaves nothing", async () => {
  const abort = new AbortController();
  const { runSet } = await play({
    async repair(stage) {
      abort.abort();
      await stage.attempt(stage.plan());
    },
  }, { modes: ["broken", "repaired", "broken"], more: { signal: abort.signal, lanes: 1 } });
  assertEquals(runSet.runs.length, 2);
  assertEquals(runSet.runs[0]?.expected?.met, true);
  assertEquals(runSet.runs[1]?.record.interrupted, "it was interrupted by the user");
  assertEquals(runSet.runs[1]?.expected, null);
  assertMatch(runSet.interrupted ?? "", /^2 of 3 runs/);
  assertEquals([runSet.verdict, runSet.exitCode], ["unproven", 3]);
});

Deno.test("a session that was interrupted before its first run is unproven", async () => {
  const { runSet } = await play({}, { more: { signal: AbortSignal.abort() } });
  assertEquals([runSet.runs.length, runSet.verdict, runSet.exitCode], [0, "unproven", 3]);
});

Deno.test("what a machine cannot do is not applicable, and expects nothing", async () => {
  const { runSet } = await play({ lacks: () => "This machine has no such program" });
  assertEquals(runSet.runs[0]?.grade.verdict, "not-applicable");
  assertEquals(runSet.runs[0]?.expected, null);
  assertEquals(runSet.exitCode, 3);
});

Deno.test("a kept lab is still there, with worker, workspace and journal", async () => {
  const { labKept } = await play({}, { more: { keep: true } });
  assert(labKept !== null);
  try {
    const half = namesIn(labKept).find((name) => /^\d/.test(name));
    const names = namesIn(`${labKept}/${half}`);
    for (const name of ["worker.sh", "naive.sh", "workspace", "journal.jsonl"]) {
      assert(names.includes(name), `${name} in ${names}`);
    }
  } finally {
    await Deno.remove(labKept, { recursive: true });
  }
});

function namesIn(dir: string): string[] {
  return [...Deno.readDirSync(dir)].map((entry) => entry.name);
}

Deno.test("halves that run at the same time are told in the order of the plan", async () => {
  const order: string[] = [];
  const other = Promise.withResolvers<void>();
  const { runSet } = await play({
    async fail(stage) {
      // The first half ends when another one has.
      if (stage.options.mode === "broken") await other.promise;
      await REAL.fail(stage);
    },
  }, {
    modes: ["broken", "repaired", "disarmed"],
    more: {
      lanes: 2,
      onRun: ({ runs }) => {
        order.push(`${runs.map((run) => run.record.options.mode)}`);
        other.resolve();
      },
    },
  });
  assertEquals(runSet.runs.map((run) => run.record.options.mode), [
    "broken",
    "repaired",
    "disarmed",
  ]);
  assertEquals(order.length, 3);
  assertEquals(order[0], "repaired");
  assertEquals(order[2], "broken,repaired,disarmed");
});

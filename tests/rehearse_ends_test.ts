// Ctrl-C, TERM, and SIGKILL of the program itself: nothing may be left. On the built program.

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { waitUntil } from "../lab/clock.ts";
import { sendSignal } from "../lab/signals.ts";
import { Bench, finished } from "./support/binary.ts";
import { cleanUpAfterEach } from "./support/processes.ts";

cleanUpAfterEach();

/** A job with a child of its own session, both of which ignore what can be ignored. */
const LONG = `
trap '' TERM INT HUP
setsid sh -c 'trap "" TERM INT HUP; while :; do date >>child.log; sleep 0.1; done' &
mkdir -p out
for i in 1 2 3 4 5 6; do echo $i >out/$i; touch "$STARTED"; sleep 30; done
`;

async function startLong(bench: Bench): Promise<Deno.ChildProcess> {
  await bench.write("run.sh", LONG);
  const started = `${bench.path}/started`;
  const child = bench.start([
    "rehearse",
    ...["--start", "sh run.sh", "--resume", "sh run.sh", "--artifacts", "out/*", "--count", "6"],
    ...["--grace-seconds", "200ms"],
  ], { env: { STARTED: started } });
  const isUp = await waitUntil(async () => {
    try {
      await Deno.lstat(started);
      return (await bench.processes()).some((row) => row.name === "sh" && row.pgid !== child.pid);
    } catch {
      return false;
    }
  }, { limitMs: 15_000 });
  assert(isUp, "the job did not start");
  return child;
}

for (const [signal, code] of [["INT", 130], ["TERM", 143]] as const) {
  Deno.test(`SIG${signal} ends a rehearsal, cleans up and gives ${code}`, async () => {
    await using bench = await Bench.make(`sig${signal.toLowerCase()}`);
    const child = await startLong(bench);
    await sendSignal(signal, [child.pid]);
    const done = await finished(child, 20_000);
    assertEquals([done.code, done.signal], [code, null], done.stderr);
    await bench.assertNothingLeft();
    const report = `${bench.path}/state/failure-lab/runs/latest/report.json`;
    assertStringIncludes(await Deno.readTextFile(report), "interrupted");
  });
}

Deno.test(
  "after SIGKILL of the program its processes are gone within 3 s, and the next start " +
    "removes its folder",
  async () => {
    await using bench = await Bench.make("sigkill");
    const child = await startLong(bench);
    assertEquals(bench.labs().length, 1);
    await sendSignal("KILL", [child.pid]);
    const done = await finished(child, 5000);
    assertEquals(done.signal, "SIGKILL");
    const gone = await waitUntil(async () => (await bench.processes()).length === 0, {
      limitMs: 3000,
      everyMs: 50,
    });
    assert(gone, "processes are left 3 s after the program was killed");
    assertEquals(bench.labs().length, 1);
    const quick = "mkdir -p out; for i in 1 2 3 4; do sleep 0.03; echo $i >out/$i; done";
    const next = await bench.run(
      ["rehearse", "--start", quick, "--resume", quick, "--artifacts", "out/*", "--count", "4"],
    );
    assert([0, 1].includes(next.code), next.stderr);
    assertEquals(bench.labs(), []);
  },
);

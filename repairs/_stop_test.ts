import { assertEquals, assertStringIncludes } from "@std/assert";
import type { KillRecord } from "../lab/mod.ts";
import { describeKill } from "./_stop.ts";

const KILL: KillRecord = {
  signals: [{ signal: "TERM", targets: 2, atMs: 0 }, { signal: "KILL", targets: 1, atMs: 300 }],
  processes: [],
  witnesses: { groupEmpty: true, markerEmpty: true, pipesClosed: true },
  survivors: [],
  elapsedMs: 400,
};

Deno.test("describeKill says what was ended, how, and what shows it", () => {
  assertEquals(
    describeKill(KILL),
    "Ended 2 processes (last signal: KILL). Proof: the group is empty, nobody carries the job's " +
      "mark, its output is closed.",
  );
  assertEquals(describeKill({ ...KILL, signals: [] }), "Nobody of the job was left.");
});

Deno.test("describeKill claims no proof that there is not", () => {
  const survivors = [{ pid: 7, startedSeconds: 1, name: "sh" }];
  assertStringIncludes(describeKill({ ...KILL, survivors }), "STILL ALIVE: sh (pid 7)");
  const witnesses = { ...KILL.witnesses, pipesClosed: false };
  assertStringIncludes(describeKill({ ...KILL, witnesses }), "still holds the job's output open");
});

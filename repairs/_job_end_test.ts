import { assertEquals } from "@std/assert";
import type { KillRecord } from "../lab/mod.ts";
import { exitCodeOf, isGone } from "./_job_end.ts";

const KILL: KillRecord = {
  signals: [],
  processes: [],
  witnesses: { groupEmpty: true, markerEmpty: true, pipesClosed: null },
  survivors: [],
  elapsedMs: 0,
};

Deno.test("exitCodeOf answers like a shell", () => {
  assertEquals(exitCodeOf({ exitCode: 0, signal: null }), 0);
  assertEquals(exitCodeOf({ exitCode: 137, signal: null }), 137);
  assertEquals(exitCodeOf({ exitCode: null, signal: "SIGKILL" }), 137);
  assertEquals(exitCodeOf({ exitCode: null, signal: "SIGTERM" }), 143);
  assertEquals(
    exitCodeOf({ exitCode: null, signal: null }),
    1,
    "an end that nobody saw is no success",
  );
});

Deno.test("isGone needs every witness; only pipes that are not ours need not be heard", () => {
  assertEquals(isGone(KILL), true);
  for (
    const witnesses of [
      { ...KILL.witnesses, groupEmpty: false },
      { ...KILL.witnesses, groupEmpty: null },
      { ...KILL.witnesses, markerEmpty: false },
      { ...KILL.witnesses, pipesClosed: false },
    ]
  ) assertEquals(isGone({ ...KILL, witnesses }), false);
  assertEquals(isGone({ ...KILL, survivors: [{ pid: 7, startedSeconds: 1, name: "sh" }] }), false);
});

import { assertEquals } from "@std/assert";
import { type Beat, judgeBeat, readBeat, writeLastBeat } from "./heartbeat_beat.ts";
import { inFolder, write } from "./_test_tools.ts";

const BEAT: Beat = {
  schema: "failure-lab/beat",
  version: 1,
  state: "watching",
  pid: 1,
  sequence: 4,
  changes: 2,
  files: 1,
  bytes: 9,
  atSeconds: 1000,
  progressAtSeconds: 990,
  everySeconds: 5,
  limitSeconds: 60,
  exitCode: null,
};

Deno.test("judgeBeat: silence and a beat without progress are no health", () => {
  assertEquals(judgeBeat(null, 1000).state, "silent");
  assertEquals(judgeBeat(BEAT, 1005).state, "healthy");
  assertEquals(judgeBeat(BEAT, 1017).state, "healthy");
  assertEquals(judgeBeat(BEAT, 1018).state, "silent");
  assertEquals(judgeBeat(BEAT, 1005, 4).state, "silent");
  const stuck = { ...BEAT, atSeconds: 1053 };
  assertEquals(judgeBeat({ ...stuck, atSeconds: 1052 }, 1052).state, "healthy");
  assertEquals(judgeBeat(stuck, 1053).state, "no-progress");
  assertEquals(judgeBeat({ ...BEAT, state: "finished", exitCode: 0 }, 9999).state, "finished");
});

Deno.test("readBeat takes half a beat, or another file, for none", () =>
  inFolder((dir) => {
    assertEquals(readBeat(`${dir}/beat`), null);
    write(`${dir}/beat`, JSON.stringify(BEAT).slice(0, 50));
    assertEquals(readBeat(`${dir}/beat`), null);
    write(`${dir}/beat`, JSON.stringify({ ...BEAT, version: 2 }));
    assertEquals(readBeat(`${dir}/beat`), null);
    write(`${dir}/beat`, JSON.stringify(BEAT));
    assertEquals(readBeat(`${dir}/beat`), BEAT);
  }));

Deno.test("writeLastBeat keeps what the watcher saw, and says how the job ended", () =>
  inFolder((dir) => {
    write(`${dir}/beat`, JSON.stringify(BEAT));
    writeLastBeat(`${dir}/beat`, 7, 1100);
    assertEquals(readBeat(`${dir}/beat`), {
      ...BEAT,
      state: "finished",
      atSeconds: 1100,
      exitCode: 7,
    });
    writeLastBeat(`${dir}/new`, 0, 1100);
    assertEquals(judgeBeat(readBeat(`${dir}/new`), 9999), {
      state: "finished",
      why: "the job ended with exit code 0",
      exitCode: 0,
    });
  }));

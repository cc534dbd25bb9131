import { assert, assertEquals } from "@std/assert";
import { waitUntil } from "./clock.ts";
import {
  MONITOR_ALERTS_NAME,
  MONITOR_BEAT_NAME,
  monitorArguments,
  type MonitorMode,
  writeMonitor,
} from "./monitor.ts";

const LIMIT_MS = 10_000;

/** Runs a monitor in a folder with an `out`; removing the folder ends it. */
async function withMonitor(
  mode: MonitorMode,
  act: (dir: string) => Promise<void>,
): Promise<void> {
  const base = await Deno.makeTempDir({ prefix: "monitor-test-" });
  await Deno.mkdir(`${base}/job/out`, { recursive: true });
  writeMonitor(`${base}/monitor.sh`);
  const child = new Deno.Command("/bin/sh", {
    args: ["../monitor.sh", ...monitorArguments(mode, 3)],
    cwd: `${base}/job`,
    env: { PATH: "/usr/bin:/bin" },
    clearEnv: true,
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  try {
    await act(`${base}/job`);
  } finally {
    child.kill("SIGKILL");
    await child.status;
    await Deno.remove(base, { recursive: true });
  }
}

async function exists(path: string): Promise<boolean> {
  return await Deno.lstat(path).then(() => true, () => false);
}

Deno.test("the monitor beats, and writes an alert when no output comes", async () => {
  await withMonitor("look", async (dir) => {
    const beats = () => exists(`${dir}/${MONITOR_BEAT_NAME}`);
    assert(await waitUntil(beats, { limitMs: LIMIT_MS }));
    const alerts = () => exists(`${dir}/${MONITOR_ALERTS_NAME}`);
    assert(await waitUntil(alerts, { limitMs: LIMIT_MS }));
  });
});

Deno.test("the blind monitor beats again and again, and never writes an alert", async () => {
  await withMonitor("beat", async (dir) => {
    const times = new Set<number>();
    const hasBeaten = await waitUntil(async () => {
      const info = await Deno.stat(`${dir}/${MONITOR_BEAT_NAME}`).catch(() => null);
      if (info?.mtime) times.add(info.mtime.getTime());
      return times.size > 6;
    }, { limitMs: LIMIT_MS });
    assert(hasBeaten, `${times.size} beats`);
    assertEquals(await exists(`${dir}/${MONITOR_ALERTS_NAME}`), false);
  });
});

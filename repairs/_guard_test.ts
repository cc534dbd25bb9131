import { assertEquals, assertThrows } from "@std/assert";
import { systemClock, waitUntil } from "../lab/mod.ts";
import { fencePath, openGuard, readGeneration } from "./_guard.ts";
import { findKernelLock } from "./_openers.ts";
import { RepairError } from "./errors.ts";
import { inFolder, read, WAIT_MS, write } from "./_test_tools.ts";

Deno.test("the guard lets one taker in at a time, and the next when it is given back", () =>
  inFolder(async (dir) => {
    const path = `${dir}/run.lock`;
    const first = await openGuard(path, WAIT_MS, systemClock);
    const second = openGuard(path, WAIT_MS, systemClock);
    assertEquals(first?.next(0), 1);
    first?.[Symbol.dispose]();
    using guard = await second;
    assertEquals([guard?.generation, guard?.next(0)], [1, 2]);
  }));

Deno.test("the generation grows, beyond every number that was met elsewhere, and stays on disk", () =>
  inFolder(async (dir) => {
    const path = `${dir}/run.lock`;
    assertEquals(readGeneration(path), 0);
    {
      using guard = await openGuard(path, WAIT_MS, systemClock);
      assertEquals([guard?.next(0), guard?.next(41), guard?.next(7)], [1, 42, 43]);
    }
    assertEquals([readGeneration(path), read(fencePath(path))], [43, "0000000000000043\n"]);
  }));

Deno.test("a generation that cannot be read is never taken for the first", () =>
  inFolder((dir) => {
    for (const text of ["x\n", "12", "-1\n", "00000000000000431\n"]) {
      write(fencePath(`${dir}/run.lock`), text);
      assertThrows(() => readGeneration(`${dir}/run.lock`), RepairError, "holds no number");
    }
  }));

Deno.test("a taker that waited in vain for the guard gets none, and does not keep it later", () =>
  inFolder(async (dir) => {
    const path = `${dir}/run.lock`;
    const first = await openGuard(path, WAIT_MS, systemClock);
    assertEquals(await openGuard(path, 100, systemClock), null);
    first?.[Symbol.dispose]();
    // The one that came too late gets the kernel lock now, and gives it back at once.
    const isFree = await waitUntil(async () => await findKernelLock(fencePath(path)) === "no", {
      limitMs: WAIT_MS,
    });
    assertEquals(isFree, true);
    using guard = await openGuard(path, WAIT_MS, systemClock);
    assertEquals(guard?.generation, 0);
  }));

import { assert, assertEquals, assertRejects } from "@std/assert";
import { Slices } from "./slices.ts";

Deno.test("a slice is over after its time, and a rest begins the next one", async () => {
  const slices = new Slices();
  assertEquals(slices.isOver, false);
  const endMs = performance.now() + 1000;
  while (!slices.isOver) assert(performance.now() < endMs);
  let ran = false;
  const timer = setTimeout(() => ran = true, 0);
  while (!ran) await slices.rest();
  clearTimeout(timer);
  assertEquals(slices.isOver, false);
});

Deno.test("a rest ends the work when it was aborted", async () => {
  const slices = new Slices(AbortSignal.abort(new Error("enough")));
  await assertRejects(() => slices.rest(), Error, "enough");
});

import { assertEquals } from "@std/assert";
import { ALONE, openFileCrew, startFileHelper } from "./file_crew.ts";

const hasSecondCore = navigator.hardwareConcurrency > 1;

Deno.test("a crew has a helper where there is a second core, until it is closed", () => {
  const crew = openFileCrew();
  assertEquals(crew.hasHelper, hasSecondCore);
  crew.warm();
  crew.warm();
  assertEquals(crew.hasHelper, hasSecondCore);
  crew.close();
  crew.close();
  crew.share("nobody is there to take it");
  assertEquals(crew.hasHelper, false);
  assertEquals(ALONE.hasHelper, false);
});

Deno.test("a helper that cannot be started is told to the one who waits for it", async () => {
  // More rights than this thread has: Deno refuses to start such a worker.
  using helper = startFileHelper({ ffi: true });
  using crew = openFileCrew({ port: helper.port });
  crew.warm();
  const endMs = performance.now() + 10_000;
  while (crew.hasHelper && performance.now() < endMs) {
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  assertEquals(crew.hasHelper, false);
});

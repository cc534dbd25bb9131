import { assert, assertEquals } from "@std/assert";
import { readPlace } from "./_place.ts";

Deno.test("readPlace gives the same place each time, with host and boot", async () => {
  const place = await readPlace();
  assertEquals(await readPlace(), place);
  assertEquals(place.host, Deno.hostname());
  assert(place.boot !== null && place.boot.length > 8, `boot is ${place.boot}`);
  if (Deno.build.os === "linux") assert(place.pidSpace?.startsWith("pid:["), `${place.pidSpace}`);
});

// Places that the runtime keeps closed.

import { assertEquals, assertThrows } from "@std/assert";
import { closedPath, isClosedPlace } from "./closed_places.ts";

Deno.test("closedPath() knows the runtime's answer, and no other", () => {
  assertEquals(closedPath(new Error('Requires all access to "/dev/shm/a"')), null);
  assertEquals(closedPath(new Deno.errors.NotCapable('Requires read access to "/home"')), null);
  assertEquals(closedPath(new Deno.errors.NotCapable('Requires all access to "/dev/a"')), "/dev/a");
});

Deno.test({
  name: "closedPath() reads what this runtime says",
  ignore: Deno.build.os !== "linux",
  fn: () => {
    const error = assertThrows(() => Deno.readTextFileSync("/proc/self/status"));
    assertEquals(closedPath(error), "/proc/self/status");
  },
});

Deno.test("isClosedPlace() goes by whole names", () => {
  const closed = ["/dev", "/dev/shm/lab", "/proc/1", "/sys"];
  const open = ["/development", "/home/dev", "/", "/tmp/dev", "/system"];
  assertEquals([...closed, ...open].filter(isClosedPlace), closed);
});

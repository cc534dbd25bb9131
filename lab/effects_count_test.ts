import { assertEquals } from "@std/assert";
import { readEffects } from "./effects_reader.ts";
import { makeTestDir } from "../tests/support/temp_dir.ts";

Deno.test("readEffects() counts by number where no control run names the keys", async () => {
  await using dir = await makeTestDir("effects");
  await Deno.writeTextFile(`${dir.path}/sent`, "a\nb\nb\n");
  const read = (count: number) => readEffects({ root: dir.path, path: "sent", count });
  assertEquals(read(2).missing, []);
  assertEquals(read(3).missing, ["(1 of 3, by number)"]);
  assertEquals(read(1).unexpected, ["b"]);
  assertEquals(read(2).doubled, [{ key: "b", count: 2 }]);
  // The control run's keys say more than a number.
  const known = readEffects({ root: dir.path, path: "sent", count: 9 }, ["a", "c"]);
  assertEquals([known.missing, known.unexpected], [["c"], ["b"]]);
});

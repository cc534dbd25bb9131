import { assertEquals } from "@std/assert";
import { VERSION } from "./version.ts";

Deno.test("the version in the code is the one in deno.json", async () => {
  const text = await Deno.readTextFile(new URL("../deno.json", import.meta.url));
  assertEquals(VERSION, (JSON.parse(text) as { version: string }).version);
});

import { assertEquals, assertThrows } from "@std/assert";
import { makeTestDir } from "../tests/support/temp_dir.ts";
import {
  EnvironmentError,
  findProgram,
  killQuietly,
  rememberSystemTools,
  SYSTEM_PATH,
  systemTool,
} from "./system_tools.ts";

async function makeProgram(path: string, mode = 0o755): Promise<void> {
  await Deno.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true });
  await Deno.writeTextFile(path, "#!/bin/sh\n");
  await Deno.chmod(path, mode);
}

Deno.test("findProgram() takes the first executable file in the order of the path", async () => {
  await using dir = await makeTestDir("tools");
  const at = dir.path;
  await Deno.mkdir(`${at}/a/tool`, { recursive: true }); // A folder of that name,
  await makeProgram(`${at}/b/tool`, 0o644); // a file that cannot be run,
  await makeProgram(`${at}/c/tool`); // and then the one.
  await makeProgram(`${at}/d/tool`);
  const path = ["nowhere", "a", "b", "c", "d"].map((name) => `${at}/${name}`).join(":");
  assertEquals(findProgram("tool", path, "/"), `${at}/c/tool`);
  assertEquals(findProgram("tool2", path, "/"), null);
});

Deno.test("findProgram() takes relative places from the given folder", async () => {
  await using dir = await makeTestDir("tools");
  await makeProgram(`${dir.path}/bin/tool`);
  await makeProgram(`${dir.path}/tool`);
  assertEquals(findProgram("tool", "bin", dir.path), `${dir.path}/bin/tool`);
  assertEquals(findProgram("./tool", "/usr/bin", dir.path), `${dir.path}/./tool`);
  assertEquals(findProgram("bin/tool", "/usr/bin", dir.path), `${dir.path}/bin/tool`);
  assertEquals(findProgram(`${dir.path}/tool`, "/usr/bin", "/"), `${dir.path}/tool`);
  assertEquals(findProgram("missing/tool", "/usr/bin", dir.path), null);
});

Deno.test("findProgram() finds nothing for an empty name", () => {
  assertEquals(findProgram("", SYSTEM_PATH, "/"), null);
});

Deno.test("systemTool() gives absolute places for ps, kill and sh", () => {
  for (const name of ["ps", "kill", "sh"]) assertEquals(systemTool(name).startsWith("/"), true);
});

Deno.test("systemTool() says what is missing and how to get it", () => {
  const error = assertThrows(() => systemTool("no-such-tool"), EnvironmentError, "no-such-tool");
  assertEquals(error.exitCode, 4);
});

Deno.test("rememberSystemTools() stands in for looking", () => {
  rememberSystemTools({ "a-tool-of-this-test": "/somewhere/tool" });
  assertEquals(systemTool("a-tool-of-this-test"), "/somewhere/tool");
});

Deno.test("killQuietly() ends a helper, and is content when it is over", async () => {
  const child = new Deno.Command("sleep", { args: ["60"] }).spawn();
  killQuietly(child);
  assertEquals((await child.status).signal, "SIGKILL");
  killQuietly(child);
});

// The README promises commands; these tests hold it, CI and the tasks to the same ones.

import { assertEquals, assertStringIncludes } from "@std/assert";
import { CONFIG, ROOT } from "./paths.ts";
import { EXIT_CODES } from "../lab/verdict.ts";
import { TASK_NAMES } from "./task.ts";

const TEST_COMMAND = "npx -y deno@2.9.6 task test";

Deno.test("CI runs the test command exactly as the README gives it", async () => {
  assertStringIncludes(await Deno.readTextFile(`${ROOT}/README.md`), `\n${TEST_COMMAND} `);
  assertStringIncludes(await Deno.readTextFile(`${ROOT}/.ci/run`), `\n${TEST_COMMAND} |`);
});

Deno.test("the README names only tasks that exist", async () => {
  const readme = await Deno.readTextFile(`${ROOT}/README.md`);
  const named = [...readme.matchAll(/(?:deno|deno@[\d.]+) task ([a-z]+)/g)].map((match) =>
    match[1]
  );
  assertEquals(named.filter((name) => !TASK_NAMES.includes(name ?? "")), []);
});

Deno.test("every task of deno.json has a description and goes through dist/task.ts", async () => {
  const { tasks } = JSON.parse(await Deno.readTextFile(CONFIG)) as {
    tasks: Record<string, { description: string; command: string }>;
  };
  assertEquals(Object.keys(tasks).sort(), [...TASK_NAMES].sort());
  for (const [name, { description, command }] of Object.entries(tasks)) {
    assertEquals(description.length > 0, true);
    assertEquals(command.endsWith(` dist/task.ts ${name}`), true);
    assertEquals(/--allow-all|-A\b/.test(command), false);
  }
});

Deno.test("the README lists each exit code of the program, and no other", async () => {
  const readme = await Deno.readTextFile(`${ROOT}/README.md`);
  const rows = readme.slice(readme.indexOf("## Exit codes")).matchAll(/^\| ([\d /]+?) +\|/gm);
  const listed = [...rows].flatMap(([, cell = ""]) => cell.split(" / ").map(Number));
  assertEquals(listed, Object.values(EXIT_CODES).sort((a, b) => a - b));
});

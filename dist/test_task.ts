// `deno task test`: builds the binary if it is out of date, runs every test against it, and ends
// with one plain line on stdout: `N passed, N failed`.

import { run } from "./child.ts";
import { freshBinary } from "./fresh_binary.ts";
import { BINARY, CACHE_DIR, ROOT } from "./paths.ts";
import { note, say } from "./say.ts";
import type { Toolchain } from "./toolchain.ts";
import { PROGRAM_FLAGS } from "./flags.ts";

/** How many tests passed and failed. */
export interface TestCount {
  passed: number;
  failed: number;
}

/** Counts the tests of a JUnit report; a step is part of its test, a skipped test is neither. */
export function countTests(junitXml: string): TestCount {
  const count: TestCount = { passed: 0, failed: 0 };
  for (const suite of junitXml.split("<testsuite ").slice(1)) {
    const cases = suite.split("<testcase ").slice(1).map((text) => ({
      name: /(?:^|\s)name="([^"]*)"/.exec(text)?.[1] ?? "",
      text,
    }));
    const names = new Set(cases.map((one) => one.name));
    for (const { name, text } of cases) {
      if (isStep(name, names) || text.includes("<skipped")) continue;
      if (/<(failure|error)[\s>]/.test(text)) count.failed++;
      else count.passed++;
    }
  }
  return count;
}

/** Deno writes a step as its own case with the name "test > step". */
function isStep(name: string, names: Set<string>): boolean {
  const separator = " &gt; ";
  let at = name.indexOf(separator);
  while (at !== -1) {
    if (names.has(name.slice(0, at))) return true;
    at = name.indexOf(separator, at + 1);
  }
  return false;
}

/** Runs the tests; extra arguments go to `deno test` (a file, `--filter`, …). */
export async function test(tools: Toolchain, args: string[]): Promise<number> {
  const problem = await freshBinary(tools);
  const junit = `${CACHE_DIR}/junit-${Deno.pid}.xml`;
  const code = await run(
    tools.deno,
    // Types are the business of the check task.
    ["test", "--no-check", ...PROGRAM_FLAGS, ...tools.importArgs, `--junit-path=${junit}`, ...args],
    { cwd: ROOT, env: { ...tools.env, FAILURE_LAB_BINARY: BINARY } },
  );
  const report = await Deno.readTextFile(junit).catch(() => "");
  await Deno.remove(junit).catch(() => {}); // absent when nothing ran
  const { passed, failed } = countTests(report);
  let failures = failed;
  if (problem !== undefined) {
    note(`error: the binary could not be built, which counts as one failure: ${problem}`);
    failures++;
  }
  if (code !== 0 && failed === 0) {
    note("error: the test run broke outside a test, which counts as one failure");
    failures++;
  }
  if (passed + failed === 0) note("error: no test ran, and nothing tested is never a pass");
  say(`${passed} passed, ${failures} failed`);
  return failures > 0 || passed === 0 ? 1 : 0;
}

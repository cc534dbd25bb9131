import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { makeTestDir } from "../../../tests/support/temp_dir.ts";
import { jsonReport } from "../../report/mod.ts";
import { UsageError } from "../errors.ts";
import { newRunSet } from "../run_set.ts";
import { systemClock } from "../../clock.ts";
import { readSavedRun, savedVerdictOf } from "./_saved_run.ts";

const REPORT = jsonReport(newRunSet("rehearse", systemClock));

Deno.test("readSavedRun() takes a folder, a file, or the newest report", async () => {
  await using dir = await makeTestDir("saved");
  const runs = `${dir.path}/failure-lab/runs`;
  await Deno.mkdir(`${runs}/one`, { recursive: true });
  await Deno.writeTextFile(`${runs}/one/report.json`, REPORT);
  await Deno.symlink("one", `${runs}/latest`);
  const env = (name: string) => name === "XDG_STATE_HOME" ? dir.path : undefined;
  const expected = `${runs}/one/report.json`;
  for (const name of [`${runs}/one`, `${runs}/one/`, expected, `${runs}/latest`, "latest"]) {
    const { path, set } = readSavedRun(name, "RUN", env);
    assertEquals([path, set.command], [expected, "rehearse"], name);
  }
});

Deno.test("readSavedRun() looks for the newest report in the temp dir when home has none", async () => {
  await using dir = await makeTestDir("saved-temp");
  await Deno.mkdir(`${dir.path}/failure-lab-reports/latest`, { recursive: true });
  await Deno.writeTextFile(`${dir.path}/failure-lab-reports/latest/report.json`, REPORT);
  const env = (name: string) => ({ HOME: `${dir.path}/no`, TMPDIR: dir.path })[name];
  assertEquals(
    readSavedRun("latest", "RUN", env).path,
    `${dir.path}/failure-lab-reports/latest/report.json`,
  );
});

Deno.test("readSavedRun() names argument, value and what to do for whatever is no report", async () => {
  await using dir = await makeTestDir("saved-bad");
  const file = async (name: string, content: string | Uint8Array) => {
    const path = `${dir.path}/${name}`;
    await Deno.writeFile(
      path,
      typeof content === "string" ? new TextEncoder().encode(content) : content,
    );
    return path;
  };
  await Deno.mkdir(`${dir.path}/empty`);
  const cases: [string, string][] = [
    [`${dir.path}/nothing`, "which is not there"],
    [`${dir.path}/empty`, "a folder without a report.json"],
    [await file("half.json", REPORT.slice(0, 50)), "it is not JSON"],
    [await file("other.json", "{}"), 'must be "failure-lab/run-set"'],
    [await file("old.json", REPORT.replace('"version": 1', '"version": 0')), "version 0"],
    [await file("latin.json", new Uint8Array([0x22, 0xe9, 0x22])), "it is not UTF-8 text"],
    ["latest", "failure-lab rehearse"],
  ];
  for (const [name, text] of cases) {
    const error = assertThrows(
      () => readSavedRun(name, "BEFORE", () => `${dir.path}/home`),
      UsageError,
    );
    assertStringIncludes(error.message, "BEFORE is ");
    assertStringIncludes(error.message, text, name);
  }
});

Deno.test("savedVerdictOf() gives what is there, and null for anything else", () => {
  assertEquals(savedVerdictOf({ verdict: "pass" }), "pass");
  for (const value of [null, 1, "pass", {}, { verdict: 1 }]) {
    assertEquals(savedVerdictOf(value), null);
  }
});

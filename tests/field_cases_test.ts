// Runners whose failure was reported in public, at the size of a few shell lines: the naive resume
// must get the right verdict for the right reason, and a resume that recovers must pass. Each folder
// of field_cases/ holds the failing runner, its contract and the resume; expected.json is the key.
//
// The runner fails by itself ("startFails" in the contract), so nothing is done to it from outside.

import { assert, assertEquals } from "@std/assert";
import { copy } from "@std/fs";
import { ROOT } from "../dist/paths.ts";
import { Bench, onlyRun } from "./support/binary.ts";
import { cleanUpAfterEach } from "./support/processes.ts";

cleanUpAfterEach();

interface Expected {
  resume: string;
  verdict: string;
  reasonId?: string;
}

const CASES = `${ROOT}/tests/field_cases`;
const KEY: Record<string, Record<"naive" | "recovered", Expected>> = JSON.parse(
  Deno.readTextFileSync(`${CASES}/expected.json`),
);

Deno.test("every field case is in the key, and the other way round", () => {
  const folders = [...Deno.readDirSync(CASES)].filter((entry) => entry.isDirectory);
  assertEquals(folders.map(({ name }) => name).sort(), Object.keys(KEY).sort());
  assert(folders.length >= 20);
});

for (const [id, halves] of Object.entries(KEY)) {
  for (const half of ["naive", "recovered"] as const) {
    const expected = halves[half];
    Deno.test(`field case ${id}: the ${half} resume is a ${expected.verdict}`, async () => {
      await using bench = await Bench.make(id.toLowerCase());
      await copy(`${CASES}/${id}`, bench.project, { overwrite: true });
      const path = await pathWith(["bash", "python3", "git", "sh"]);
      const { set, stderr } = await bench.runJson(
        ["rehearse", "--resume", expected.resume],
        { env: { PATH: path } },
      );
      const { grade, record } = onlyRun(set);
      assertEquals(grade.verdict, expected.verdict, `${grade.reason}\n${stderr}`);
      assertEquals(grade.reasonId, expected.reasonId ?? null, grade.reason);
      assert(record.fault.delivered, "the runner's own failure was not seen");
    });
  }
}

/** A PATH with the folders of these programs, as the test's own PATH has them. */
async function pathWith(names: readonly string[]): Promise<string> {
  const script = names.map((name) => `command -v ${name}`).join("; ");
  const { stdout } = await new Deno.Command("sh", { args: ["-c", script] }).output();
  const places = new TextDecoder().decode(stdout).trim().split("\n");
  assertEquals(places.length, names.length, `this test needs ${names.join(", ")}`);
  const folders = places.map((place) => place.slice(0, place.lastIndexOf("/")));
  return [...new Set([...folders, "/usr/bin", "/bin"])].join(":");
}

/**
 * The self-test of `evidence`.
 *
 * @module
 */
import { checkEvidence, noteStart, proveOrRedo } from "./evidence.ts";
import { expect, runSelfTest, type SelfTestResult } from "./self_testing.ts";

async function wholeIsLeftAlone(cwd: string): Promise<string> {
  const result = await proveOrRedo({
    rules: { cwd, expect: [{ glob: "*.md", count: 2 }], endsWith: "END", fresh: true },
    retries: 1,
    async run() {
      for (const name of ["a", "b"]) await Deno.writeTextFile(`${cwd}/${name}.md`, `${name} END\n`);
      return true;
    },
  });
  expect(result.isProven && result.attempts === 1, JSON.stringify(result.missing));
  return "two whole files, one attempt";
}

function hollowIsSeen(cwd: string): string {
  const rules = { cwd, expect: [{ glob: "*.md", count: 4 }], endsWith: "END", fresh: true };
  Deno.writeTextFileSync(`${cwd}/old.md`, "old END\n");
  const start = noteStart(rules);
  Deno.writeTextFileSync(`${cwd}/empty.md`, "");
  Deno.writeTextFileSync(`${cwd}/half.md`, "half");
  const { isProven, missing } = checkEvidence(rules, start);
  const found = missing.map((each) => each.path).sort().join();
  expect(!isProven && found === "*.md,empty.md,half.md,old.md", `found ${found}`);
  return "absent, empty, half-written and old files were all seen";
}

async function onlyTheMissingIsRedone(cwd: string): Promise<string> {
  let asked = "";
  const result = await proveOrRedo({
    rules: { cwd, expect: [{ glob: "d*.md", count: 2 }, { glob: "SUMMARY.md" }] },
    retries: 1,
    async run({ number, missing }) {
      asked = missing.join();
      await Deno.writeTextFile(`${cwd}/d1.md`, `by attempt ${number}`);
      await Deno.writeTextFile(`${cwd}/d2.md`, "same");
      const isThere = await Deno.stat(`${cwd}/SUMMARY.md`).then(() => true, () => false);
      if (!isThere) await Deno.writeTextFile(`${cwd}/SUMMARY.md`, number === 1 ? "" : "all");
      return true;
    },
  });
  expect(result.isProven && result.attempts === 2, JSON.stringify(result.missing));
  expect(asked === "SUMMARY.md", `asked for ${asked}`);
  const sibling = await Deno.readTextFile(`${cwd}/d1.md`);
  expect(sibling === "by attempt 1", `the sibling is now "${sibling}"`);
  return "the empty summary was redone, its siblings are as they were";
}

/** Tries `evidence` on small real files. Takes a few milliseconds. Requires `ps`. */
export function selfTestEvidence(options: { dir?: string } = {}): Promise<SelfTestResult> {
  return runSelfTest("evidence", {
    "whole and fresh files are enough": wholeIsLeftAlone,
    "hollow success is seen": hollowIsSeen,
    "only what is missing is done again": onlyTheMissingIsRedone,
  }, options);
}
